/* SPDX-License-Identifier: BSD-2-Clause */
/* exits: one instruction, one exit, nothing done about it. */
#include "bench/guest/bench.h"

#define EVENTS	     8192
#define FREE_PORT    0x9990
#define NO_SUCH_CALL 0x7fff0000

static void loop_cpuid(unsigned first, unsigned count)
{
	(void)first;
	while (count--)
		__asm__ volatile("cpuid" : : "a"(1), "c"(0) : "rbx", "rdx", "memory");
}

static void loop_vmcall(unsigned first, unsigned count)
{
	uint64_t r;

	(void)first;
	while (count--)
		__asm__ volatile("vmcall" : "=a"(r) : "a"(NO_SUCH_CALL) : "memory");
}

static void loop_vmmcall(unsigned first, unsigned count)
{
	uint64_t r;

	(void)first;
	while (count--)
		__asm__ volatile("vmmcall" : "=a"(r) : "a"(NO_SUCH_CALL) : "memory");
}

static void loop_out(unsigned first, unsigned count)
{
	(void)first;
	while (count--)
		outb(FREE_PORT, 0);
}

void bench_exit_cpuid(void)
{
	row("exit.cpuid", "", measure(loop_cpuid, nothing, EVENTS), EVENTS, "insn");
}

void bench_exit_hypercall(void)
{
	bool intel = cpuid(0, 0).ecx == 0x6c65746e; /* "ntel" */

	row("exit.hypercall", "", measure(intel ? loop_vmcall : loop_vmmcall, nothing, EVENTS),
	    EVENTS, "insn");
}

void bench_exit_pio(void)
{
	row("exit.pio", "", measure(loop_out, nothing, EVENTS), EVENTS, "insn");
}
