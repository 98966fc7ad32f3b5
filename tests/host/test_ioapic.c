/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_apic.h"

static uint32_t ird(struct fake_apic *f, unsigned reg)
{
	ioapic_ops.write(&f->io, 0, 4, reg);
	return (uint32_t)ioapic_ops.read(&f->io, 0x10, 4);
}

static void iwr(struct fake_apic *f, unsigned reg, uint32_t v)
{
	ioapic_ops.write(&f->io, 0, 4, reg);
	ioapic_ops.write(&f->io, 0x10, 4, v);
}

static void start(struct fake_apic *f)
{
	fake_apic_init(f, 2);
	enable(&f->cpu[0]);
	enable(&f->cpu[1]);
}

/* Takes and completes the pending interrupt, which must be @v. */
static void serve(struct lapic *l, unsigned v)
{
	assert_int_equal(lapic_pending(l), v);
	lapic_ack(l, (uint8_t)v);
	xwrite(l, 0xb0, 0);
}

static void registers(void **s)
{
	struct fake_apic f;

	(void)s;
	start(&f);
	assert_int_equal(ird(&f, 1), 0x00170020);
	iwr(&f, 0, 0xffffffff);
	assert_int_equal(ird(&f, 0), 0x0f000000);
	assert_int_equal(ird(&f, 2), 0x0f000000);
	iwr(&f, 1, 0);
	assert_int_equal(ird(&f, 1), 0x00170020);
	assert_int_equal(ird(&f, 0x10), 0x00010000);
	iwr(&f, 0x3e, 0xffffffff);
	iwr(&f, 0x3f, 0xffffffff);
	assert_int_equal(ird(&f, 0x3e), 0x0001afff);
	assert_int_equal(ird(&f, 0x3f), 0xff000000);
	for (unsigned r = 0x40; r < 0x100; r++) {
		iwr(&f, r, 0xffffffff);
		assert_int_equal(ird(&f, r), 0);
	}
	assert_int_equal(ioapic_ops.read(&f.io, 0, 1), 0xff);
	assert_int_equal(ioapic_ops.read(&f.io, 0x20, 4), 0);
	/* A narrow write to the window does nothing. */
	ioapic_ops.write(&f.io, 0, 1, 0);
	ioapic_ops.write(&f.io, 0x10, 1, 0);
	assert_int_equal(ird(&f, 0), 0x0f000000);
	ioapic_set_irq(&f.io, 24, true);
	ioapic_set_irq(&f.io, ~0u, true);
}

static void edges(void **s)
{
	struct fake_apic f;

	(void)s;
	start(&f);
	iwr(&f, 0x10 + 2 * 4 + 1, 1u << 24);
	ioapic_set_irq(&f.io, 4, true); /* masked: lost */
	iwr(&f, 0x10 + 2 * 4, 0x34);
	assert_int_equal(lapic_pending(&f.cpu[1]), -1);
	ioapic_set_irq(&f.io, 4, true);
	assert_int_equal(lapic_pending(&f.cpu[1]), -1);
	ioapic_set_irq(&f.io, 4, false);
	ioapic_set_irq(&f.io, 4, true);
	assert_int_equal(f.kicks[1], 1);
	serve(&f.cpu[1], 0x34);
	assert_int_equal(f.eois, 0);
	assert_int_equal(ird(&f, 0x10 + 2 * 4), 0x34);
	assert_int_equal(f.kicks[0], 0);
}

static void levels_come_again(void **s)
{
	struct fake_apic f;
	unsigned r = 0x10 + 2 * 9;

	(void)s;
	start(&f);
	iwr(&f, r, 0x18000 | 0x59);
	ioapic_set_irq(&f.io, 9, true);
	assert_int_equal(lapic_pending(&f.cpu[0]), -1);
	iwr(&f, r, 0x8000 | 0x59); /* unmasking delivers */
	assert_int_equal(ird(&f, r), 0xc059);
	serve(&f.cpu[0], 0x59);
	assert_int_equal(f.eois, 1);
	assert_int_equal(ird(&f, r), 0xc059); /* still asserted: delivered once more */
	ioapic_set_irq(&f.io, 9, false);
	serve(&f.cpu[0], 0x59);
	assert_int_equal(ird(&f, r), 0x8059);
	assert_int_equal(lapic_pending(&f.cpu[0]), -1);
	/* Remote IRR holds back a second delivery and is not writable. */
	ioapic_set_irq(&f.io, 9, true);
	ioapic_set_irq(&f.io, 9, false);
	ioapic_set_irq(&f.io, 9, true);
	assert_int_equal(f.kicks[0], 3);
	iwr(&f, r, 0x18000 | 0x59);
	assert_int_equal(ird(&f, r), 0x1c059);
	iwr(&f, r, 0x10059); /* edge clears it */
	assert_int_equal(ird(&f, r), 0x10059);
}

static void eoi_register_and_suppression(void **s)
{
	struct fake_apic f;
	unsigned r = 0x10 + 2 * 9;

	(void)s;
	start(&f);
	xwrite(&f.cpu[0], 0xf0, 0x11ff);
	iwr(&f, r, 0x8059);
	ioapic_set_irq(&f.io, 9, true);
	ioapic_set_irq(&f.io, 9, false);
	serve(&f.cpu[0], 0x59);
	assert_int_equal(f.eois, 0);
	assert_int_equal(ird(&f, r), 0xc059);
	ioapic_ops.write(&f.io, 0x40, 4, 0x58);
	assert_int_equal(ird(&f, r), 0xc059);
	ioapic_ops.write(&f.io, 0x40, 4, 0x59);
	assert_int_equal(ird(&f, r), 0x8059);
}

static void nobody_took_it(void **s)
{
	struct fake_apic f;
	unsigned r = 0x10 + 2 * 9;

	(void)s;
	start(&f);
	iwr(&f, r + 1, 0x55u << 24);
	iwr(&f, r, 0x8059);
	ioapic_set_irq(&f.io, 9, true);
	assert_int_equal(ird(&f, r), 0x8059);
	iwr(&f, r + 1, 0);
	assert_int_equal(ird(&f, r), 0xc059);
	/* A level NMI never gets an EOI, so it must not set Remote IRR. */
	iwr(&f, 0x10, 0x8400);
	ioapic_set_irq(&f.io, 0, true);
	assert_int_equal(f.nmis[0], 1);
	assert_int_equal(ird(&f, 0x10), 0x8400);
	ioapic_reset(&f.io);
	assert_int_equal(ird(&f, r), 0x10000);
	assert_int_equal(f.io.lines, BIT(9) | BIT(0));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(registers),	     cmocka_unit_test(edges),
		cmocka_unit_test(levels_come_again), cmocka_unit_test(eoi_register_and_suppression),
		cmocka_unit_test(nobody_took_it),
	};
	return cmocka_run_group_tests_name("ioapic", t, NULL, NULL);
}
