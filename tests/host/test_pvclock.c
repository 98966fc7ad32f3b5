/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "hv/pvclock.h"

#define DAY 86400ULL

/* As Linux does it (arch/x86/include/asm/pvclock.h). */
static uint64_t ns_of(const struct pvclock_vcpu_time *t, uint64_t ticks)
{
	ticks = t->tsc_shift < 0 ? ticks >> -t->tsc_shift : ticks << t->tsc_shift;
	return (uint64_t)((unsigned __int128)ticks * t->tsc_to_system_mul >> 32);
}

static void check(uint64_t khz)
{
	struct pvclock_vcpu_time t = {0};
	uint64_t ns, day = DAY * 1000000000;

	pvclock_set_rate(&t, khz);
	assert_true(t.tsc_to_system_mul >= BIT(31) - 2500);
	/* At most half a part in 10^9, and never ahead. */
	ns = ns_of(&t, khz * 1000 * DAY);
	assert_true(ns <= day && day - ns <= day / 2000000000 + 4);
	/* A short time is not lost in the shift. */
	ns = ns_of(&t, khz);
	assert_true(ns <= 1000000 && 1000000 - ns <= 4);
}

static void rates(void **s)
{
	static const uint64_t khz[] = {1, 2, 999, 32768, 999999, 1000000, 1000001, 1193182, 1999999,
				       2000000, 2000001, 2399999, 2400000, 3000001, 4000000, 4000001,
				       5000003, 7999999, 8000001};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(khz); i++)
		check(khz[i]);
	for (uint64_t k = 100000; k < 6000000; k += 777)
		check(k);
}

static void known(void **s)
{
	struct pvclock_vcpu_time t = {0};

	(void)s;
	pvclock_set_rate(&t, 1000000);
	assert_int_equal(t.tsc_shift, 1);
	assert_int_equal(t.tsc_to_system_mul, 0x80000000u);
	pvclock_set_rate(&t, 2000000);
	assert_int_equal(t.tsc_shift, 0);
	assert_int_equal(t.tsc_to_system_mul, 0x80000000u);
	pvclock_set_rate(&t, 2500000);
	assert_int_equal(t.tsc_shift, -1);
	assert_int_equal(t.tsc_to_system_mul, 3435973836u); /* 0.8 * 2^32 */
}

int main(void)
{
	const struct CMUnitTest t[] = {cmocka_unit_test(rates), cmocka_unit_test(known)};

	return cmocka_run_group_tests_name("pvclock", t, NULL, NULL);
}
