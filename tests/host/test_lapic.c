/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_apic.h"

static void accepts_and_ranks(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	assert_false(lapic_accept(l, 0x40, false)); /* software-disabled */
	enable(l);
	assert_true(lapic_accept(l, 0x40, false));
	assert_false(lapic_accept(l, 0x40, false));
	assert_true(lapic_accept(l, 0x51, false));
	assert_true(lapic_accept(l, 0x5f, false));
	assert_int_equal(lapic_pending(l), 0x5f);
	lapic_ack(l, 0x5f);
	assert_int_equal(lapic_ppr(l), 0x50);
	assert_int_equal(lapic_pending(l), -1); /* 0x51 is of the same class */
	assert_true(lapic_accept(l, 0x60, false));
	assert_int_equal(lapic_pending(l), 0x60);
	lapic_ack(l, 0x60);
	lapic_eoi(l);
	assert_int_equal(lapic_ppr(l), 0x50);
	lapic_eoi(l);
	assert_int_equal(lapic_pending(l), 0x51);
	lapic_ack(l, 0x51);
	lapic_eoi(l);
	lapic_ack(l, 0x40);
	lapic_eoi(l);
	lapic_eoi(l); /* nothing in service: harmless */
	assert_int_equal(lapic_pending(l), -1);
}

static void tpr_and_cr8(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	enable(l);
	lapic_accept(l, 0x45, false);
	xwrite(l, 0x80, 0x40);
	assert_int_equal(lapic_pending(l), -1);
	xwrite(l, 0x80, 0x3f);
	assert_int_equal(lapic_pending(l), 0x45);
	assert_int_equal(xread(l, 0xa0), 0x3f);
	assert_int_equal(lapic_cr8_read(l), 3);
	lapic_cr8_write(l, 0xff4);
	assert_int_equal(xread(l, 0x80), 0x40);
	assert_int_equal(lapic_pending(l), -1);
	lapic_ack(l, 0x45);
	xwrite(l, 0x80, 0x45);
	assert_int_equal(xread(l, 0xa0), 0x45); /* equal classes: TPR with its sub-class */
}

static void level_vectors_broadcast_eoi(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	enable(l);
	assert_true(lapic_accept(l, 0x80, true));
	assert_int_equal(xread(l, 0x1c0), 1);
	assert_int_equal(xread(l, 0x240), 1);
	lapic_ack(l, 0x80);
	assert_int_equal(xread(l, 0x140), 1);
	assert_int_equal(xread(l, 0x240), 0);
	xwrite(l, 0xb0, 0);
	assert_int_equal(f.eois, 1);
	assert_int_equal(f.vector, 0x80);
	assert_true(lapic_accept(l, 0x80, false));
	assert_int_equal(xread(l, 0x1c0), 0);
	lapic_ack(l, 0x80);
	xwrite(l, 0xb0, 0);
	assert_int_equal(f.eois, 1);
}

static void illegal_vectors_are_errors(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 2);
	enable(l);
	xwrite(l, 0x370, 0x70);
	assert_true(lapic_accept(l, 0x0f, false)); /* the error interrupt is what is new */
	assert_int_equal(lapic_pending(l), 0x70);
	assert_false(lapic_accept(l, 0x00, false));
	assert_int_equal(xread(l, 0x280), 0);
	xwrite(l, 0x280, 0);
	assert_int_equal(xread(l, 0x280), 0x40);
	xwrite(l, 0x280, 0);
	assert_int_equal(xread(l, 0x280), 0);
	xwrite(l, 0x300, 0x0000e);
	xwrite(l, 0x280, 0xffffffff);
	assert_int_equal(xread(l, 0x280), 0x20);
	/* An illegal vector in the error LVT ends there. */
	lapic_ack(l, 0x70);
	xwrite(l, 0x370, 0x05);
	assert_false(lapic_accept(l, 0x02, false));
	assert_false(irr(l, 5));
}

static void base_msr_modes(void **s)
{
	const uint64_t off = LAPIC_BASE, on = off | LAPIC_BASE_ENABLE, x2 = on | LAPIC_BASE_EXTD;
	struct fake_apic f;
	struct lapic *l = &f.cpu[1];

	(void)s;
	fake_apic_init(&f, 2);
	assert_int_equal(lapic_base_read(&f.cpu[0]), 0xfee00900);
	assert_int_equal(lapic_base_read(l), 0xfee00800);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (bit != 8 && bit != 10 && bit != 11)
			assert_false(lapic_base_write(l, on ^ BIT64(bit)));
	}
	assert_false(lapic_base_write(l, off | LAPIC_BASE_EXTD));
	assert_true(lapic_base_write(l, on | LAPIC_BASE_BSP));
	assert_int_equal(lapic_base_read(l), on); /* nobody becomes the BSP */
	assert_true(lapic_base_write(l, off));
	assert_false(lapic_base_write(l, x2));
	assert_true(lapic_base_write(l, on));
	enable(l);
	xwrite(l, 0xd0, 0x80000000);
	lapic_accept(l, 0x40, false);
	assert_true(lapic_base_write(l, x2));
	assert_int_equal(l->ldr, 0x00000002);
	assert_true(irr(l, 0x40)); /* requests survive the switch */
	assert_int_equal(xread(l, 0x20), 0xffffffff);
	xwrite(l, 0x80, 0x55);
	assert_int_equal(l->tpr, 0);
	assert_true(lapic_base_write(l, x2));
	assert_false(lapic_base_write(l, on));
	lapic_reset_init(l);
	assert_int_equal(lapic_base_read(l), x2);
	assert_int_equal(l->ldr, 2);
	assert_false(irr(l, 0x40));
	assert_true(lapic_base_write(l, off));
	assert_int_equal(lapic_pending(l), -1);
	assert_true(lapic_accepts_extint(l));
	assert_true(lapic_accepts_nmi(l));
	lapic_power_up(l);
	assert_int_equal(lapic_base_read(l), on);
}

static void virtual_wire(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	assert_false(lapic_accepts_extint(l));
	assert_false(lapic_accepts_nmi(l));
	lapic_virtual_wire(l);
	assert_true(lapic_accepts_extint(l));
	assert_true(lapic_accepts_nmi(l));
	assert_int_equal(xread(l, 0x350), 0x700);
	assert_int_equal(xread(l, 0x360), 0x400);
	xwrite(l, 0x350, 0x10700);
	assert_false(lapic_accepts_extint(l));
	xwrite(l, 0x350, 0x731);
	xwrite(l, 0xf0, 0xff); /* software disable masks the whole LVT */
	assert_false(lapic_accepts_extint(l));
	assert_int_equal(xread(l, 0x350), 0x10731);
	assert_int_equal(xread(l, 0x360), 0x10400);
	xwrite(l, 0x350, 0x700);
	assert_int_equal(xread(l, 0x350), 0x10700);
}

static void disabled_keeps_requests_quiet(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	enable(l);
	lapic_accept(l, 0x40, false);
	xwrite(l, 0xf0, 0xff);
	assert_int_equal(lapic_pending(l), -1);
	enable(l);
	assert_int_equal(lapic_pending(l), 0x40);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(accepts_and_ranks),
		cmocka_unit_test(tpr_and_cr8),
		cmocka_unit_test(level_vectors_broadcast_eoi),
		cmocka_unit_test(illegal_vectors_are_errors),
		cmocka_unit_test(base_msr_modes),
		cmocka_unit_test(virtual_wire),
		cmocka_unit_test(disabled_keeps_requests_quiet),
	};
	return cmocka_run_group_tests_name("lapic", t, NULL, NULL);
}
