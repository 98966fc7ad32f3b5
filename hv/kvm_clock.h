/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kvm_clock: the KVM paravirtual clock, written into guest memory.
 *
 * Our TSC is constant and the same on all vCPUs of a VM, so the page is written
 * once when the guest registers it, with the "stable" flag.
 * Spec: Linux Documentation/virt/kvm/x86/msr (MSR_KVM_SYSTEM_TIME_NEW and others).
 */
#pragma once

#include "hv/vcpu.h"

/* False when @msr is none of ours, or the value is refused. */
bool kvm_clock_read(struct vcpu *v, uint32_t msr, uint64_t *val) __must_check;
bool kvm_clock_write(struct vcpu *v, uint32_t msr, uint64_t val) __must_check;
