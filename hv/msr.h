/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msr: which MSRs a guest has, and what they do.
 *
 * The pass-through list feeds both vendors' bitmaps; every other MSR exits and
 * is answered here, or is unknown: #GP(0), registers untouched.
 * On the vCPU's CPU, between exits.
 * Spec: SDM 4; APM 2 appendix A; Linux Documentation/virt/kvm/x86/msr.
 */
#pragma once

#include "hv/vcpu.h"

/* Calls @fn for each MSR that the guest reads and writes without an exit. */
void msr_for_each_passthrough(void (*fn)(uint32_t msr));

/* False: #GP(0). */
bool msr_read(struct vcpu *v, uint32_t msr, uint64_t *val) __must_check;
bool msr_write(struct vcpu *v, uint32_t msr, uint64_t val) __must_check;
