/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/crc32.h"
#include "hv/saved.h"

static void as_others_compute_it(void **s)
{
	(void)s;
	assert_int_equal(crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32(crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	assert_int_equal(crc32(0, "", 0), 0);
}

static void names(void **s)
{
	static const char text[] = "FaultlineConfig42";
	uint16_t name[SAVED_NAME];

	(void)s;
	saved_head_name(name);
	assert_int_equal(name[15], 0);
	saved_piece_name(name, 42);
	for (size_t i = 0; i < sizeof(text); i++)
		assert_int_equal(name[i], text[i]);
}

static void any_bit_counts(void **s)
{
	uint8_t data[100];
	struct saved_head h, bad;

	(void)s;
	memset(data, 0x5a, sizeof(data));
	h = saved_head_for(data, sizeof(data));
	assert_true(saved_head_is_good(&h, sizeof(data)));
	assert_false(saved_head_is_good(&h, sizeof(data) - 1));
	assert_true(saved_matches(&h, data));
	for (unsigned bit = 0; bit < 8 * sizeof(data); bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(saved_matches(&h, data));
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (unsigned bit = 0; bit < 8 * sizeof(h); bit++) {
		bad = h;
		((uint8_t *)&bad)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(saved_head_is_good(&bad, sizeof(data)) && saved_matches(&bad, data));
	}
}

static void pieces(void **s)
{
	(void)s;
	assert_int_equal(saved_pieces(1), 1);
	assert_int_equal(saved_pieces(SAVED_PIECE), 1);
	assert_int_equal(saved_pieces(SAVED_PIECE + 1), 2);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(as_others_compute_it),
		cmocka_unit_test(names),
		cmocka_unit_test(any_bit_counts),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
