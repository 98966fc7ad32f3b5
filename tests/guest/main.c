/* SPDX-License-Identifier: BSD-2-Clause */
/* main: the test guest's order of tests. */
#include "tests/guest/guest.h"

void guest_main(uint32_t magic, uint32_t info);

static unsigned number(const char *s)
{
	unsigned n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (unsigned)(*s - '0');
	return n;
}

void guest_main(uint32_t magic, uint32_t info)
{
	const char *seconds = guest_asked_for(info, "memory=");

	load_default_idt();
	if (guest_asked_for(info, "noise"))
		make_noise();
	if (guest_asked_for(info, "halt")) {
		guest_printf("halt: begins\n");
		for (;;)
			__asm__ volatile("sti; hlt");
	}
	guest_printf("TAP version 13\n");
	is(magic, 0x2badb002, "multiboot: magic");
	ok(info && (*(uint32_t *)(uint64_t)info & 1), "multiboot: memory sizes");
	apic_enable();
	if (seconds)
		test_memory(number(seconds));
	test_exits();
	test_exceptions();
	test_demand();
	test_ports();
	test_mmio();
	test_legacy_irq();
	test_timers(); /* from here on in x2APIC mode */
	test_msr();
	test_smp();
	test_fpu();
	test_clock();
	test_init();
	guest_end();
}
