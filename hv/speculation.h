/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speculation: keeps what one VM left in predictors, buffers and the L1 cache
 * from the next, where the CPU says that it leaks.
 *
 * On the CPU itself, interrupts off.
 * Spec: SDM 3A appendix "speculative execution side channels"; AMD 64 Indirect
 * Branch Control; CPUID 7 EDX, IA32_ARCH_CAPABILITIES.
 */
#pragma once

#include "hv/cpu.h"

/* Boot CPU: finds out what is needed, and logs it. */
void speculation_init(void);

/* A vCPU of another VM than the last one takes this CPU. */
void speculation_switch_vm(void);

extern bool speculation_need_verw;

/* Last before every VM entry. */
static inline void speculation_before_entry(void)
{
	static const uint16_t selector = SEL_DATA;

	if (speculation_need_verw)
		__asm__ volatile("verw %0" : : "m"(selector) : "cc");
}
