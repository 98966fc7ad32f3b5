/* SPDX-License-Identifier: BSD-2-Clause */
/* memory: the memory that the rows work on, idling, and the hypercalls. */
#include "bench/guest/bench.h"

#define TIMER_VECTOR   0x70
#define APIC_LVT_TIMER 0x320
#define APIC_INITIAL   0x380
#define APIC_DIVIDE    0x3e0
#define IDLE_TICKS     10000000u

char *arena(void)
{
	static char *base;

	if (!base)
		base = (char *)align_up((uint64_t)fresh_pages(ARENA_PAGES + 512), 2 * MIB);
	return base;
}

void touch_pages(unsigned first, unsigned count)
{
	char *p = arena() + (uint64_t)first * PAGE_SIZE;

	for (; count--; p += PAGE_SIZE)
		*(volatile uint64_t *)p = 1;
}

void touch_spans(unsigned first, unsigned count)
{
	char *p = arena() + first * 2 * MIB;

	for (; count--; p += 2 * MIB)
		*(volatile uint64_t *)p = 1;
}

static volatile uint64_t idle_end;

static void halt_until_end(unsigned cpu)
{
	(void)cpu;
	apic_write(APIC_DIVIDE, 0xb);
	apic_write(APIC_LVT_TIMER, TIMER_VECTOR);
	while (now_us() < idle_end) {
		apic_write(APIC_INITIAL, IDLE_TICKS);
		irq_enable_and_halt();
	}
	apic_write(APIC_INITIAL, 0);
}

void idle(unsigned ms)
{
	unsigned cpus = cpu_count();

	idle_end = now_us() + ms * 1000ULL;
	for (unsigned i = 1; i < cpus; i++)
		smp_run(i, halt_until_end);
	halt_until_end(0);
	for (unsigned i = 1; i < cpus; i++)
		smp_wait(i);
}

int64_t hypercall(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	static int intel = -1;
	uint64_t r = nr;

	if (intel < 0)
		intel = cpuid(0, 0).ecx == 0x6c65746e; /* "ntel" */
	if (intel)
		__asm__ volatile("vmcall"
				 : "+a"(r), "+b"(a), "+c"(b), "+d"(c), "+S"(d)
				 :
				 : "memory");
	else
		__asm__ volatile("vmmcall"
				 : "+a"(r), "+b"(a), "+c"(b), "+d"(c), "+S"(d)
				 :
				 : "memory");
	return (int64_t)r;
}
