/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_apic.h"

static uint64_t all(unsigned n)
{
	return BIT64(n) - 1;
}

static void physical(void **s)
{
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 4);
	assert_int_equal(apic_bus_match(&f.bus, 2, false), BIT64(2));
	assert_int_equal(apic_bus_match(&f.bus, 9, false), 0);
	assert_int_equal(apic_bus_match(&f.bus, apic_bus_dest8(0xff), false), all(4));
	assert_int_equal(apic_bus_match(&f.bus, 0xff, false), 0); /* a 32-bit ID */
	to_x2apic(&f.cpu[2]);
	assert_int_equal(apic_bus_match(&f.bus, 2, false), BIT64(2));
	assert_int_equal(apic_bus_match(&f.bus, APIC_BROADCAST, false), all(4));
	/* A disabled APIC hears nothing. */
	assert_true(lapic_base_write(&f.cpu[2], LAPIC_BASE));
	assert_int_equal(apic_bus_match(&f.bus, APIC_BROADCAST, false), 0xb);
}

static void logical_flat_and_cluster(void **s)
{
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 4);
	for (unsigned i = 0; i < 4; i++)
		xwrite(&f.cpu[i], 0xd0, 1u << (24 + i));
	assert_int_equal(apic_bus_match(&f.bus, 0x05, true), 0x5);
	assert_int_equal(apic_bus_match(&f.bus, 0xf0, true), 0);
	assert_int_equal(apic_bus_match(&f.bus, APIC_BROADCAST, true), 0xf);
	assert_int_equal(apic_bus_match(&f.bus, 0x105, true), 0);
	for (unsigned i = 0; i < 4; i++) {
		xwrite(&f.cpu[i], 0xe0, 0x0fffffff);
		xwrite(&f.cpu[i], 0xd0, (i / 2) << 28 | 1u << (24 + i % 2));
	}
	assert_int_equal(apic_bus_match(&f.bus, 0x03, true), 0x3);
	assert_int_equal(apic_bus_match(&f.bus, 0x12, true), 0x8);
	assert_int_equal(apic_bus_match(&f.bus, 0x2f, true), 0);
	xwrite(&f.cpu[0], 0xe0, 0x5fffffff); /* neither model */
	assert_int_equal(apic_bus_match(&f.bus, 0x03, true), 0x2);
}

static void logical_x2apic(void **s)
{
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 20);
	for (unsigned i = 0; i < 20; i++)
		to_x2apic(&f.cpu[i]);
	assert_int_equal(apic_bus_match(&f.bus, 0x00000003, true), 0x3);
	assert_int_equal(apic_bus_match(&f.bus, 0x0001000a, true), BIT64(17) | BIT64(19));
	assert_int_equal(apic_bus_match(&f.bus, 0x00020001, true), 0);
	assert_int_equal(apic_bus_match(&f.bus, APIC_BROADCAST, true), all(20));
}

static void lowest_priority_rotates(void **s)
{
	struct fake_apic f;
	struct apic_msg m = {.dest = APIC_BROADCAST, .mode = APIC_LOWEST, .vector = 0x40};

	(void)s;
	fake_apic_init(&f, 4);
	assert_false(apic_bus_deliver(&f.bus, &m));
	enable(&f.cpu[1]);
	enable(&f.cpu[3]);
	for (unsigned i = 0; i < 8; i++) {
		m.vector = (uint8_t)(0x40 + i);
		assert_true(apic_bus_deliver(&f.bus, &m));
	}
	assert_int_equal(f.kicks[1], 4);
	assert_int_equal(f.kicks[3], 4);
	assert_int_equal(f.kicks[0] + f.kicks[2], 0);
}

static void modes_reach_the_hypervisor(void **s)
{
	struct fake_apic f;
	struct apic_msg m = {.dest = 1, .vector = 0x9a};

	(void)s;
	fake_apic_init(&f, 3);
	m.mode = APIC_NMI;
	assert_true(apic_bus_deliver(&f.bus, &m));
	m.mode = APIC_INIT;
	assert_true(apic_bus_deliver(&f.bus, &m));
	m.mode = APIC_SIPI;
	assert_true(apic_bus_deliver(&f.bus, &m));
	assert_int_equal(f.nmis[1] * f.inits[1] * f.sipis[1], 1);
	assert_int_equal(f.vector, 0x9a);
	m.mode = APIC_SMI;
	assert_false(apic_bus_deliver(&f.bus, &m));
	m.mode = APIC_EXTINT;
	assert_false(apic_bus_deliver(&f.bus, &m));
	m.mode = 3;
	assert_false(apic_bus_deliver(&f.bus, &m));
	m.mode = APIC_FIXED;
	assert_false(apic_bus_deliver(&f.bus, &m)); /* software-disabled */
	enable(&f.cpu[1]);
	assert_true(apic_bus_deliver(&f.bus, &m));
	assert_true(apic_bus_deliver(&f.bus, &m));
	assert_int_equal(f.kicks[1], 1); /* pending already */
}

static void shorthands(void **s)
{
	struct fake_apic f;
	struct apic_msg m = {.dest = 0x77, .vector = 0x50};

	(void)s;
	fake_apic_init(&f, 3);
	for (unsigned i = 0; i < 3; i++)
		enable(&f.cpu[i]);
	apic_bus_ipi(&f.bus, 1, &m, APIC_SELF);
	assert_true(!irr(&f.cpu[0], 0x50) && irr(&f.cpu[1], 0x50) && !irr(&f.cpu[2], 0x50));
	m.vector = 0x51;
	apic_bus_ipi(&f.bus, 1, &m, APIC_ALL_BUT_SELF);
	assert_true(irr(&f.cpu[0], 0x51) && !irr(&f.cpu[1], 0x51) && irr(&f.cpu[2], 0x51));
	m.vector = 0x52;
	apic_bus_ipi(&f.bus, 1, &m, APIC_ALL);
	assert_true(irr(&f.cpu[0], 0x52) && irr(&f.cpu[1], 0x52) && irr(&f.cpu[2], 0x52));
	m.mode = APIC_INIT;
	apic_bus_ipi(&f.bus, 1, &m, APIC_ALL_BUT_SELF);
	apic_bus_ipi(&f.bus, 1, &m, APIC_SELF);
	assert_int_equal(f.inits[0] * f.inits[2], 1);
	assert_int_equal(f.inits[1], 0);
}

static void msi(void **s)
{
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 3);
	for (unsigned i = 0; i < 3; i++)
		enable(&f.cpu[i]);
	assert_false(apic_bus_msi(&f.bus, 0xfed00000, 0x41));
	assert_false(apic_bus_msi(&f.bus, 0x1fee00000, 0x41));
	assert_true(apic_bus_msi(&f.bus, 0xfee02000, 0x41));
	assert_true(irr(&f.cpu[2], 0x41) && !irr(&f.cpu[0], 0x41));
	assert_true(apic_bus_msi(&f.bus, 0xfee00000, 0x8042)); /* level, not asserted */
	assert_false(irr(&f.cpu[0], 0x42));
	assert_true(apic_bus_msi(&f.bus, 0xfee00000, 0xc042));
	assert_true(irr(&f.cpu[0], 0x42) && irr(&f.cpu[0], 0x42));
	assert_int_equal(f.cpu[0].tmr[2], BIT(2));
	assert_true(apic_bus_msi(&f.bus, 0xfeeff000, 0x43));
	assert_true(irr(&f.cpu[0], 0x43) && irr(&f.cpu[1], 0x43) && irr(&f.cpu[2], 0x43));
	/* Logical with redirection hint: one of two. */
	xwrite(&f.cpu[0], 0xd0, 1u << 24);
	xwrite(&f.cpu[1], 0xd0, 1u << 25);
	assert_true(apic_bus_msi(&f.bus, 0xfee0300c, 0x44));
	assert_int_equal(irr(&f.cpu[0], 0x44) + irr(&f.cpu[1], 0x44), 1);
	assert_true(apic_bus_msi(&f.bus, 0xfee03004, 0x45));
	assert_int_equal(irr(&f.cpu[0], 0x45) + irr(&f.cpu[1], 0x45), 2);
}

static void takes_64(void **s)
{
	static struct lapic l[APIC_BUS_CPUS + 1];
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 0);
	for (unsigned i = 0; i < APIC_BUS_CPUS; i++) {
		lapic_init(&l[i], &f.bus, &f.env, i, i);
		assert_true(apic_bus_add(&f.bus, &l[i]));
	}
	assert_false(apic_bus_add(&f.bus, &l[64]));
	assert_int_equal(apic_bus_match(&f.bus, APIC_BROADCAST, false), ~0ULL);
	assert_int_equal(apic_bus_match(&f.bus, 63, false), BIT64(63));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(physical),
		cmocka_unit_test(logical_flat_and_cluster),
		cmocka_unit_test(logical_x2apic),
		cmocka_unit_test(lowest_priority_rotates),
		cmocka_unit_test(modes_reach_the_hypervisor),
		cmocka_unit_test(shorthands),
		cmocka_unit_test(msi),
		cmocka_unit_test(takes_64),
	};
	return cmocka_run_group_tests_name("apic_bus", t, NULL, NULL);
}
