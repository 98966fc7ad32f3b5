/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/histogram.h"

static void each_value_has_its_bucket(void **s)
{
	(void)s;
	assert_int_equal(histogram_bucket(0), 0);
	assert_int_equal(histogram_bucket(1), 0);
	for (unsigned k = 1; k < HISTOGRAM_BUCKETS; k++) {
		assert_int_equal(histogram_bucket(BIT64(k)), k);
		assert_int_equal(histogram_bucket(BIT64(k) - 1), k - 1);
		assert_int_equal(histogram_least(k), BIT64(k));
	}
	assert_int_equal(histogram_least(0), 0);
	assert_int_equal(histogram_bucket(BIT64(HISTOGRAM_BUCKETS)), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket(~0ULL), HISTOGRAM_BUCKETS - 1);
}

static void nothing_has_no_percentile(void **s)
{
	struct histogram h = { 0 };

	(void)s;
	assert_int_equal(histogram_count(&h), 0);
	assert_int_equal(histogram_percentile(&h, 50), 0);
	assert_int_equal(histogram_percentile(&h, 100), 0);
}

static void one_is_all_of_them(void **s)
{
	static const uint64_t values[] = { 0, 1, 2, 300, 0xffffffff, BIT64(40), ~0ULL };

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct histogram h = { 0 };

		histogram_add(&h, values[i]);
		assert_int_equal(histogram_count(&h), 1);
		for (unsigned p = 1; p <= 100; p++)
			assert_true(histogram_percentile(&h, p) == values[i]);
	}
}

static void percentiles_are_of_the_right_bucket(void **s)
{
	struct histogram h = { 0 };

	(void)s;
	for (unsigned i = 0; i < 98; i++)
		histogram_add(&h, 300);
	histogram_add(&h, 5000);
	histogram_add(&h, 100000);
	assert_int_equal(histogram_bucket(histogram_percentile(&h, 50)), histogram_bucket(300));
	assert_int_equal(histogram_bucket(histogram_percentile(&h, 98)), histogram_bucket(300));
	assert_int_equal(histogram_bucket(histogram_percentile(&h, 99)), histogram_bucket(5000));
	assert_int_equal(histogram_percentile(&h, 100), 100000);
	assert_int_equal(h.max, 100000);
}

/* In a bucket that is full of all its values they are exact. */
static void a_bucket_is_spread_evenly(void **s)
{
	struct histogram h = { 0 };

	(void)s;
	for (uint64_t v = 1024; v < 2048; v++)
		histogram_add(&h, v);
	for (unsigned p = 1; p <= 100; p++) {
		uint64_t want = 1024 + 1024 * p / 100, got = histogram_percentile(&h, p);

		assert_true(got + 2 >= want && got <= want + 1);
	}
	for (unsigned p = 1; p < 100; p++)
		assert_true(histogram_percentile(&h, p) <= histogram_percentile(&h, p + 1));
}

static void merged_is_as_counted_together(void **s)
{
	struct histogram a = { 0 }, b = { 0 }, all = { 0 }, sum = { 0 };

	(void)s;
	for (uint64_t v = 1; v < BIT64(50); v = v * 3 + 1) {
		histogram_add(v & 2 ? &a : &b, v);
		histogram_add(&all, v);
	}
	histogram_merge(&sum, &a);
	histogram_merge(&sum, &b);
	assert_memory_equal(&sum, &all, sizeof(all));
	assert_int_equal(histogram_count(&sum), histogram_count(&a) + histogram_count(&b));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(each_value_has_its_bucket),
		cmocka_unit_test(nothing_has_no_percentile),
		cmocka_unit_test(one_is_all_of_them),
		cmocka_unit_test(percentiles_are_of_the_right_bucket),
		cmocka_unit_test(a_bucket_is_spread_evenly),
		cmocka_unit_test(merged_is_as_counted_together),
	};

	return cmocka_run_group_tests_name("histogram", t, NULL, NULL);
}
