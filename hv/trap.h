/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trap: exceptions and interrupts that hit the hypervisor itself.
 *
 * An exception in root mode is our bug and ends in the panic, except where a
 * guarded access (trap_try_rdmsr) said that it may fault.  Interrupts set
 * flags and return; all work happens in the run loop.
 * Spec: SDM 3A 6.
 */
#pragma once

#include "hv/base.h"

/* Interrupt stacks: NMI, double fault, machine check. */
enum { TRAP_IST_NMI = 1, TRAP_IST_DF, TRAP_IST_MC, TRAP_IST_COUNT = TRAP_IST_MC };

struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

/* Fills the IDT; boot CPU, once. */
void trap_init(void);
void trap_load_idt(void);

/* Called by hv/trap_entry.S. */
void trap_dispatch(struct trap_frame *f);

/* RDMSR and WRMSR that report a #GP as false. */
bool trap_try_rdmsr(uint32_t msr, uint64_t *value);
bool trap_try_wrmsr(uint32_t msr, uint64_t value);
