/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "hv/xcr0.h"

#define ALL (XCR0_X87 | XCR0_SSE | XCR0_AVX | XCR0_AVX512)

static void mask(void **s)
{
	(void)s;
	assert_int_equal(xcr0_guest_mask(~0ULL), ALL);
	assert_int_equal(xcr0_guest_mask(3), 3);
	assert_int_equal(xcr0_guest_mask(7 | BIT(3) | BIT(9)), 7); /* MPX, PKRU */
	for (unsigned i = 5; i <= 7; i++)
		assert_int_equal(xcr0_guest_mask(ALL & ~BIT64(i)), 7);
}

/* All values of the bits we know, and each other bit. */
static void values(void **s)
{
	static const uint64_t good[] = {1, 3, 7, 0xe7};

	(void)s;
	for (uint64_t v = 0; v < 256; v++) {
		bool want = false;

		for (unsigned i = 0; i < ARRAY_SIZE(good); i++)
			want |= v == good[i];
		assert_int_equal(xcr0_valid(v, ALL), want);
		assert_int_equal(xcr0_valid(v, 7), want && v != 0xe7);
		assert_int_equal(xcr0_valid(v, 3), want && v <= 3);
	}
	for (unsigned i = 8; i < 64; i++)
		assert_false(xcr0_valid(7 | BIT64(i), ALL));
}

int main(void)
{
	const struct CMUnitTest t[] = {cmocka_unit_test(mask), cmocka_unit_test(values)};

	return cmocka_run_group_tests_name("xcr0", t, NULL, NULL);
}
