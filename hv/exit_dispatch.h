/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit_dispatch: from an exit's class to its handler, one exit_*.c per kind.
 *
 * Handlers run on the vCPU's CPU right after the exit, interrupts off.  They
 * change vcpu->regs, raise exceptions or request a state change of the VM, and
 * return; they never wait.
 */
#pragma once

#include "hv/exit.h"
#include "hv/vcpu.h"

void exit_dispatch(struct vcpu *v, const struct hv_exit *e);

/* Length of the exiting instruction: the CPU's word or our decoding; 0: enter again. */
unsigned exit_insn_len(struct vcpu *v, const struct hv_exit *e);

/* The handlers. */
void exit_npf(struct vcpu *v, const struct hv_exit *e);
void exit_io(struct vcpu *v, const struct hv_exit *e);
void exit_cpuid(struct vcpu *v, const struct hv_exit *e);
void exit_rdmsr(struct vcpu *v, const struct hv_exit *e);
void exit_wrmsr(struct vcpu *v, const struct hv_exit *e);
void exit_cr(struct vcpu *v, const struct hv_exit *e);
void exit_xsetbv(struct vcpu *v, const struct hv_exit *e);
void exit_hlt(struct vcpu *v, const struct hv_exit *e);
void exit_invd(struct vcpu *v, const struct hv_exit *e);
void exit_hypercall(struct vcpu *v, const struct hv_exit *e);
void exit_undefined(struct vcpu *v, const struct hv_exit *e);
void exit_general(struct vcpu *v, const struct hv_exit *e);
void exit_exception(struct vcpu *v, const struct hv_exit *e);
void exit_interrupted(struct vcpu *v, const struct hv_exit *e);
void exit_nothing(struct vcpu *v, const struct hv_exit *e);
void exit_triple_fault(struct vcpu *v, const struct hv_exit *e);
void exit_misconfig(struct vcpu *v, const struct hv_exit *e);
void exit_entry_failed(struct vcpu *v, const struct hv_exit *e);
void exit_unknown(struct vcpu *v, const struct hv_exit *e);
