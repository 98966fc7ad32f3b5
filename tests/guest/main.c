/* SPDX-License-Identifier: BSD-2-Clause */
/* main: the test guest's order of tests. */
#include "tests/guest/guest.h"

void guest_main(uint32_t magic, uint32_t info);

uintptr_t __stack_chk_guard = 0x1234;

void guest_main(uint32_t magic, uint32_t info)
{
	load_default_idt();
	guest_printf("TAP version 13\n");
	is(magic, 0x2badb002, "multiboot: magic");
	ok(info && (*(uint32_t *)(uint64_t)info & 1), "multiboot: memory sizes");
	apic_enable();
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
