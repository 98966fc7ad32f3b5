/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "hv/mtrr.h"

#define DEF_TYPE 0x2ff
#define PHYS	 46

static const uint32_t fixed[] = {0x250, 0x258, 0x259, 0x268, 0x269, 0x26a, 0x26b, 0x26c, 0x26d,
				 0x26e, 0x26f};

/* Each register has a place of its own, and no other MSR has one. */
static void places(void **s)
{
	uint64_t *seen[0x100] = {0};
	struct mtrr m;
	unsigned n = 0;

	(void)s;
	for (uint32_t msr = 0; msr < 0x1000; msr++) {
		uint64_t *p = mtrr_find(&m, msr);

		if (!p)
			continue;
		assert_true((msr >= 0x200 && msr <= 0x20f) || msr >= 0x250);
		assert_true((char *)p >= (char *)&m && (char *)p < (char *)(&m + 1));
		for (unsigned i = 0; i < n; i++)
			assert_ptr_not_equal(p, seen[i]);
		seen[n++] = p;
	}
	assert_int_equal(n, sizeof(m) / sizeof(uint64_t));
	assert_int_equal(n, 2 * (MTRR_CAP & 0xff) + ARRAY_SIZE(fixed) + 1);
	assert_ptr_equal(mtrr_find(&m, 0x200), &m.base[0]);
	assert_ptr_equal(mtrr_find(&m, 0x20f), &m.mask[7]);
	assert_null(mtrr_find(&m, 0x210));
	assert_null(mtrr_find(&m, 0xc0000200));
	for (unsigned i = 0; i < ARRAY_SIZE(fixed); i++)
		assert_ptr_equal(mtrr_find(&m, fixed[i]), &m.fixed[i]);
}

static void power_up(void **s)
{
	struct mtrr m;

	(void)s;
	memset(&m, 0xff, sizeof(m));
	mtrr_power_up(&m);
	for (uint32_t msr = 0x200; msr <= DEF_TYPE; msr++)
		if (mtrr_find(&m, msr))
			assert_int_equal(*mtrr_find(&m, msr), msr == DEF_TYPE ? 0x806 : 0);
}

static bool type_ok(uint8_t t)
{
	return t == 0 || t == 1 || t == 4 || t == 5 || t == 6;
}

static void default_type(void **s)
{
	(void)s;
	for (unsigned t = 0; t < 256; t++)
		assert_int_equal(mtrr_valid(DEF_TYPE, 0xc00 | t, PHYS), type_ok((uint8_t)t));
	for (unsigned i = 8; i < 64; i++)
		assert_int_equal(mtrr_valid(DEF_TYPE, BIT64(i), PHYS), i == 10 || i == 11);
}

static void variable(void **s)
{
	(void)s;
	for (unsigned t = 0; t < 256; t++)
		assert_int_equal(mtrr_valid(0x206, 0x80000000 | t, PHYS), type_ok((uint8_t)t));
	for (unsigned i = 8; i < 64; i++)
		assert_int_equal(mtrr_valid(0x20e, BIT64(i), PHYS), i >= 12 && i < PHYS);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(mtrr_valid(0x20f, BIT64(i), PHYS), i >= 11 && i < PHYS);
}

static void fixed_ranges(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(fixed); i++) {
		assert_true(mtrr_valid(fixed[i], 0x0606050504040100, PHYS));
		for (unsigned shift = 0; shift < 64; shift += 8)
			for (unsigned t = 0; t < 256; t++)
				assert_int_equal(mtrr_valid(fixed[i], (uint64_t)t << shift, PHYS),
						 type_ok((uint8_t)t));
	}
}

static void pat(void **s)
{
	(void)s;
	assert_true(mtrr_pat_valid(0x0007040600070406));
	for (unsigned shift = 0; shift < 64; shift += 8)
		for (unsigned t = 0; t < 256; t++)
			assert_int_equal(mtrr_pat_valid((uint64_t)t << shift),
					 t == 7 || type_ok((uint8_t)t));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(places),   cmocka_unit_test(power_up),	    cmocka_unit_test(default_type),
		cmocka_unit_test(variable), cmocka_unit_test(fixed_ranges), cmocka_unit_test(pat),
	};
	return cmocka_run_group_tests_name("mtrr", t, NULL, NULL);
}
