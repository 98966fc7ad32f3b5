/* SPDX-License-Identifier: BSD-2-Clause */
/* main: the test guest's order of tests. */
#include "tests/guest/guest.h"

void guest_main(uint32_t magic, uint32_t info);

uintptr_t __stack_chk_guard = 0x1234;

/* Multiboot information: flags at 0, command line at 16. */
static bool asked_for(uint32_t info, const char *word)
{
	const uint32_t *mbi = (const uint32_t *)(uint64_t)info;
	const char *s = (const char *)(uint64_t)mbi[4];
	size_t n = strlen(word);

	for (; (mbi[0] & BIT(2)) && *s; s++)
		if (!memcmp(s, word, n))
			return true;
	return false;
}

void guest_main(uint32_t magic, uint32_t info)
{
	load_default_idt();
	if (asked_for(info, "noise"))
		make_noise();
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
