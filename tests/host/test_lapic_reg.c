/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_apic.h"

static bool rmsr(struct lapic *l, unsigned reg, uint64_t *v)
{
	*v = 0;
	return lapic_msr_read(l, 0x800 + reg, v);
}

static bool wmsr(struct lapic *l, unsigned reg, uint64_t v)
{
	return lapic_msr_write(l, 0x800 + reg, v);
}

static void xapic_reset_values(void **s)
{
	static const struct {
		unsigned off;
		uint32_t v;
	} want[] = {
		{0x20, 1 << 24},  {0x30, 0x01050014}, {0x80, 0},	  {0x90, 0},
		{0xa0, 0},	  {0xd0, 0},	      {0xe0, 0xffffffff}, {0xf0, 0xff},
		{0x280, 0},	  {0x300, 0},	      {0x310, 0},	  {0x320, 0x10000},
		{0x330, 0x10000}, {0x340, 0x10000},   {0x350, 0x10000},	  {0x360, 0x10000},
		{0x370, 0x10000}, {0x380, 0},	      {0x390, 0},	  {0x3e0, 0},
	};
	struct fake_apic f;

	(void)s;
	fake_apic_init(&f, 2);
	for (unsigned i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(xread(&f.cpu[1], want[i].off), want[i].v);
	assert_int_equal(f.cpu[1].esr_pending, 0);
}

static void xapic_access_rules(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	enable(l);
	lapic_ops.write(l, 0x80, 1, 0x55);
	lapic_ops.write(l, 0x80, 2, 0x55);
	lapic_ops.write(l, 0x80, 8, 0x55);
	lapic_ops.write(l, 0x84, 4, 0x55);
	lapic_ops.write(l, 0xff8, 8, 0x55);
	assert_int_equal(xread(l, 0x80), 0);
	assert_int_equal(lapic_ops.read(l, 0xf0, 1), 0);
	assert_int_equal(lapic_ops.read(l, 0xf0, 8), 0);
	assert_int_equal(lapic_ops.read(l, 0xf4, 4), 0);
	assert_int_equal(lapic_ops.read(l, 0x400, 4), 0);
	/* Read-only registers stay as they are without an error; holes are errors. */
	for (unsigned off = 0; off < 0x1000; off += 16)
		if (off != 0x300 && off != 0x380 && (off < 0x320 || off > 0x370))
			xwrite(l, off, 0xffffffff);
	assert_int_equal(xread(l, 0x20), 0);
	assert_int_equal(xread(l, 0x30), 0x01050014);
	assert_int_equal(xread(l, 0xa0), 0xff);
	assert_int_equal(xread(l, 0xd0), 0xff000000);
	assert_int_equal(xread(l, 0xe0), 0xffffffff);
	assert_int_equal(xread(l, 0xf0), 0x13ff);
	assert_int_equal(xread(l, 0x310), 0xff000000);
	assert_int_equal(xread(l, 0x3e0), 0x0b);
	xwrite(l, 0x280, 0);
	assert_int_equal(xread(l, 0x280), 0x80);
	assert_int_equal(xread(l, 0x2f0), 0); /* CMCI: not with six LVT entries */
	assert_int_equal(xread(l, 0x3f0), 0);
	xwrite(l, 0x280, 0);
	assert_int_equal(xread(l, 0x280), 0x80);
}

static void lvt_writable_bits(void **s)
{
	static const uint32_t mask[] = {0x700ff, 0x107ff, 0x107ff, 0x1a7ff, 0x1a7ff, 0x100ff};
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];
	uint64_t v;

	(void)s;
	fake_apic_init(&f, 1);
	enable(l);
	for (unsigned i = 0; i < 6; i++) {
		xwrite(l, 0x320 + i * 16, 0xffffffff);
		assert_int_equal(xread(l, 0x320 + i * 16), mask[i]);
		xwrite(l, 0x320 + i * 16, 0);
		assert_int_equal(xread(l, 0x320 + i * 16), 0);
	}
	to_x2apic(l);
	for (unsigned i = 0; i < 6; i++) {
		for (unsigned bit = 0; bit < 64; bit++) {
			bool ok = bit < 32 && (mask[i] | BIT(12) | BIT(14)) >> bit & 1;

			assert_int_equal(wmsr(l, 0x32 + i, BIT64(bit)), ok);
		}
		assert_true(wmsr(l, 0x32 + i, mask[i]));
		assert_true(rmsr(l, 0x32 + i, &v));
		assert_int_equal(v, mask[i]);
	}
}

static void x2apic_which_registers_exist(void **s)
{
	static const uint8_t readable[] = {0x02, 0x03, 0x08, 0x0a, 0x0d, 0x0f, 0x28, 0x30, 0x32,
					   0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3e};
	static const uint8_t writable[] = {0x08, 0x0b, 0x0f, 0x28, 0x32, 0x33,
					   0x34, 0x35, 0x36, 0x37, 0x38, 0x3e};
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];
	uint64_t v;

	(void)s;
	fake_apic_init(&f, 1);
	for (unsigned r = 0; r < 0x40; r++) {
		assert_false(rmsr(l, r, &v)); /* not in xAPIC mode */
		assert_false(wmsr(l, r, 0));
	}
	to_x2apic(l);
	for (unsigned r = 0; r < 0x40; r++) {
		bool rd = memchr(readable, (int)r, sizeof(readable)) || (r >= 0x10 && r < 0x28);
		bool wr = memchr(writable, (int)r, sizeof(writable));

		assert_int_equal(rmsr(l, r, &v), rd);
		if (r == 0x30 || r == 0x3f)
			continue;
		assert_int_equal(wmsr(l, r, 0), wr);
		assert_false(wmsr(l, r, BIT64(32)));
	}
	assert_false(lapic_msr_read(l, 0x7ff, &v));
	assert_false(lapic_msr_read(l, 0x840, &v));
	assert_false(lapic_msr_write(l, 0x840, 0));
	assert_int_equal(l->esr_pending, 0);
}

static void x2apic_reserved_bits(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];

	(void)s;
	fake_apic_init(&f, 1);
	to_x2apic(l);
	assert_false(wmsr(l, 0x0b, 1));
	assert_false(wmsr(l, 0x28, 1));
	assert_false(wmsr(l, 0x08, 0x100));
	assert_true(wmsr(l, 0x08, 0xff));
	assert_false(wmsr(l, 0x3e, 0x04));
	assert_false(wmsr(l, 0x0f, 0x400));
	assert_true(wmsr(l, 0x0f, 0x13ff));
	assert_false(wmsr(l, 0x3f, 0x100));
	for (unsigned bit = 0; bit < 64; bit++) {
		bool reserved = bit == 13 || bit == 16 || bit == 17 || (bit >= 20 && bit < 32);

		assert_int_equal(wmsr(l, 0x30, BIT64(bit) | 0x40), !reserved);
	}
}

static void ids_and_ldr(void **s)
{
	struct fake_apic f;
	uint64_t v;

	(void)s;
	fake_apic_init(&f, 20);
	to_x2apic(&f.cpu[19]);
	assert_true(rmsr(&f.cpu[19], 0x02, &v));
	assert_int_equal(v, 19);
	assert_true(rmsr(&f.cpu[19], 0x0d, &v));
	assert_int_equal(v, 0x00010008);
}

static void sends_ipis(void **s)
{
	struct fake_apic f;
	struct lapic *l = &f.cpu[0];
	uint64_t v;

	(void)s;
	fake_apic_init(&f, 3);
	for (unsigned i = 0; i < 3; i++)
		enable(&f.cpu[i]);
	xwrite(l, 0x310, 2u << 24);
	xwrite(l, 0x300, 0x4045);
	assert_true(irr(&f.cpu[2], 0x45));
	assert_int_equal(xread(l, 0x300), 0x4045);
	xwrite(l, 0x310, 0xffu << 24);
	xwrite(l, 0x300, 0x4046);
	for (unsigned i = 0; i < 3; i++)
		assert_true(irr(&f.cpu[i], 0x46));
	xwrite(l, 0x300, 0xc4500); /* INIT to all but self, then SIPI */
	xwrite(l, 0x300, 0xc8500); /* level de-assert does nothing */
	xwrite(l, 0x300, 0xc4608);
	assert_int_equal(f.inits[0], 0);
	assert_int_equal(f.inits[1] * f.inits[2], 1);
	assert_int_equal(f.sipis[1] * f.sipis[2], 1);
	assert_int_equal(f.vector, 8);
	xwrite(l, 0x300, 0x44447); /* shorthand self takes fixed delivery only */
	assert_int_equal(f.nmis[0], 0);
	xwrite(l, 0x300, 0x44047);
	assert_true(irr(l, 0x47));
	xwrite(l, 0x300, 0xc0748); /* ExtINT cannot be sent */
	to_x2apic(l);
	assert_true(wmsr(l, 0x30, 1ULL << 32 | 0x1049));
	assert_true(irr(&f.cpu[1], 0x49));
	assert_true(rmsr(l, 0x30, &v));
	assert_int_equal(v, 1ULL << 32 | 0x49);
	assert_true(wmsr(l, 0x30, 0xffULL << 32 | 0x4a)); /* ID 255, not a broadcast */
	assert_false(irr(&f.cpu[1], 0x4a));
	assert_true(wmsr(l, 0x30, 0xffffffffULL << 32 | 0x4b));
	assert_true(irr(&f.cpu[1], 0x4b) && irr(l, 0x4b));
	assert_true(wmsr(l, 0x3f, 0x4c));
	assert_true(irr(l, 0x4c) && !irr(&f.cpu[1], 0x4c));
	assert_false(rmsr(l, 0x3f, &v));
	assert_true(wmsr(l, 0x3f, 0x0c));
	assert_true(wmsr(l, 0x28, 0));
	assert_true(rmsr(l, 0x28, &v));
	assert_int_equal(v, 0x20);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(xapic_reset_values),
		cmocka_unit_test(xapic_access_rules),
		cmocka_unit_test(lvt_writable_bits),
		cmocka_unit_test(x2apic_which_registers_exist),
		cmocka_unit_test(x2apic_reserved_bits),
		cmocka_unit_test(ids_and_ldr),
		cmocka_unit_test(sends_ipis),
	};
	return cmocka_run_group_tests_name("lapic_reg", t, NULL, NULL);
}
