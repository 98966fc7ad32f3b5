/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fpu: extended state stays with its CPU while others run on the same host CPU. */
#include "tests/guest/guest.h"

#define ROUNDS 300

static volatile uint32_t mixed;
static bool have_avx;

/* Loads a pattern, spins so that others get the host CPU, looks again. */
static void churn(unsigned cpu)
{
	uint64_t seen[4];

	if (cpuid(1, 0).ecx & BIT(26)) {
		write_cr4(read_cr4() | CR4_OSXSAVE);
		xsetbv(have_avx ? 7 : 3);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t pattern = (uint64_t)cpu << 32 | i;

		__asm__ volatile("movq %0, %%xmm3\n pinsrq $1, %0, %%xmm3" : : "r"(pattern));
		if (have_avx)
			__asm__ volatile("vinsertf128 $1, %%xmm3, %%ymm3, %%ymm3" : :);
		for (volatile int k = 0; k < 3000; k++)
			;
		if (have_avx) {
			__asm__ volatile("vmovdqu %%ymm3, %0" : "=m"(seen));
		} else {
			__asm__ volatile("movdqu %%xmm3, %0" : "=m"(seen));
			seen[2] = seen[3] = pattern;
		}
		for (int k = 0; k < 4; k++)
			if (seen[k] != pattern)
				__atomic_add_fetch(&mixed, 1, __ATOMIC_SEQ_CST);
	}
}

static void test_debug_registers(void)
{
	uint64_t v;

	__asm__ volatile("mov %0, %%db0" : : "r"(0x123456UL));
	delay_us(20000);
	__asm__ volatile("mov %%db0, %0" : "=r"(v));
	is(v, 0x123456, "fpu: a debug register stays too");
	__asm__ volatile("mov %0, %%db0" : : "r"(0UL));
}

void test_fpu(void)
{
	unsigned cpus = cpu_count();

	have_avx = (cpuid(1, 0).ecx & BIT(28)) && (cpuid(1, 0).ecx & BIT(26));
	for (unsigned i = 1; i < cpus && smp_started(); i++)
		smp_run(i, churn);
	churn(0);
	for (unsigned i = 1; i < cpus && smp_started(); i++)
		smp_wait(i);
	is(mixed, 0, "fpu: vector registers are each CPU's own");
	test_debug_registers();
}
