/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "hv/fmt.h"

#define SAME(...)                                                      \
	do {                                                           \
		char a[128], b[128];                                   \
		int n = snprintf(a, sizeof(a), __VA_ARGS__);           \
		assert_int_equal(hv_snprintf(b, sizeof(b), __VA_ARGS__), n); \
		assert_string_equal(a, b);                             \
	} while (0)

static void agrees_with_c_library(void **s)
{
	(void)s;
	SAME("plain %% text");
	SAME("%d %d %d", 0, -1, 2147483647);
	SAME("%5d|%-5d|%05d|%05d", 42, 42, 42, -42);
	SAME("%lld %llu", -9223372036854775807LL - 1, 18446744073709551615ULL);
	SAME("%x %X %08x %016llx", 0xabcdu, 0xabcdu, 0x12u, 0xfeedULL);
	SAME("%s|%10s|%-10s|%.3s|%c", "abc", "abc", "abc", "abcdef", 'z');
	SAME("%zu %lu", (size_t)7, 8UL);
	SAME("%.*s", 2, "abcdef");
}

static void never_writes_past_the_end(void **s)
{
	char b[8] = "xxxxxxx";

	(void)s;
	assert_int_equal(hv_snprintf(b, 4, "%s", "abcdef"), 6);
	assert_string_equal(b, "abc");
	assert_int_equal(b[4], 'x');
	assert_int_equal(hv_snprintf(NULL, 0, "%d", 123), 3);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(agrees_with_c_library),
		cmocka_unit_test(never_writes_past_the_end),
	};
	return cmocka_run_group_tests_name("fmt", t, NULL, NULL);
}
