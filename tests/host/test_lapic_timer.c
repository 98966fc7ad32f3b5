/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_apic.h"

#define START 1000000

static struct lapic *start(struct fake_apic *f, uint32_t lvt)
{
	fake_apic_init(f, 1);
	f->e.now = START;
	enable(&f->cpu[0]);
	xwrite(&f->cpu[0], 0x3e0, 0x0b); /* divide by 1 */
	xwrite(&f->cpu[0], 0x320, lvt);
	return &f->cpu[0];
}

/* Takes the timer's interrupt if there is one. */
static bool take(struct lapic *l)
{
	int v = lapic_pending(l);

	if (v < 0)
		return false;
	assert_int_equal(v, 0x50);
	lapic_ack(l, 0x50);
	lapic_eoi(l);
	return true;
}

static void one_shot(void **s)
{
	struct fake_apic f;
	struct lapic *l = start(&f, 0x50);

	(void)s;
	assert_int_equal(lapic_next_deadline_ns(l), DEV_NO_DEADLINE);
	xwrite(l, 0x380, 5000);
	assert_int_equal(lapic_next_deadline_ns(l), START + 5000);
	f.e.now += 4999;
	assert_int_equal(xread(l, 0x390), 1);
	assert_false(lapic_timer_poll(l));
	f.e.now += 1;
	assert_int_equal(xread(l, 0x390), 0);
	assert_true(lapic_timer_poll(l));
	assert_false(lapic_timer_poll(l));
	assert_true(take(l));
	assert_int_equal(lapic_next_deadline_ns(l), DEV_NO_DEADLINE);
	assert_int_equal(xread(l, 0x380), 5000);
	xwrite(l, 0x380, 5000);
	xwrite(l, 0x380, 0); /* stops */
	assert_int_equal(lapic_next_deadline_ns(l), DEV_NO_DEADLINE);
}

static void divider(void **s)
{
	static const struct {
		uint32_t code, by;
	} d[] = {{0, 2}, {1, 4}, {2, 8}, {3, 16}, {8, 32}, {9, 64}, {10, 128}, {11, 1}};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(d); i++) {
		struct fake_apic f;
		struct lapic *l = start(&f, 0x50);

		xwrite(l, 0x3e0, d[i].code);
		assert_int_equal(xread(l, 0x3e0), d[i].code);
		xwrite(l, 0x380, 0xffffffff);
		assert_int_equal(xread(l, 0x390), 0xffffffff);
		assert_int_equal(lapic_next_deadline_ns(l), START + 0xffffffffULL * d[i].by);
		f.e.now += 1000 * d[i].by;
		assert_int_equal(xread(l, 0x390), 0xffffffff - 1000);
		/* The rest goes on at the new rate. */
		xwrite(l, 0x3e0, 0x0b);
		assert_int_equal(xread(l, 0x390), 0xffffffff - 1000);
		f.e.now += 1000;
		assert_int_equal(xread(l, 0x390), 0xffffffff - 2000);
	}
}

static void periodic_coalesces(void **s)
{
	struct fake_apic f;
	struct lapic *l = start(&f, 0x20050);

	(void)s;
	xwrite(l, 0x380, 1000000);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(lapic_next_deadline_ns(l), START + i * 1000000);
		f.e.now = START + i * 1000000;
		assert_true(lapic_timer_poll(l));
		assert_true(take(l));
	}
	f.e.now += 5500000;
	assert_int_equal(xread(l, 0x390), 500000);
	assert_true(lapic_timer_poll(l));
	assert_false(lapic_timer_poll(l));
	assert_true(take(l));
	assert_int_equal(lapic_next_deadline_ns(l), START + 9 * 1000000);
}

static void short_periods_are_paced(void **s)
{
	struct fake_apic f;
	struct lapic *l = start(&f, 0x20050);
	unsigned fired = 0;

	(void)s;
	xwrite(l, 0x380, 1);
	for (unsigned i = 0; i < 1000000; i += 100) {
		f.e.now += 100;
		fired += lapic_timer_poll(l);
		take(l);
		assert_true(lapic_next_deadline_ns(l) > f.e.now || !fired);
	}
	assert_true(fired >= 49 && fired <= 51);
}

static void masked_timer_runs_silently(void **s)
{
	struct fake_apic f;
	struct lapic *l = start(&f, 0x10050);

	(void)s;
	xwrite(l, 0x380, 1000);
	assert_int_equal(lapic_next_deadline_ns(l), DEV_NO_DEADLINE);
	f.e.now += 400;
	assert_int_equal(xread(l, 0x390), 600);
	f.e.now += 1000;
	xwrite(l, 0x320, 0x50); /* what ran out while masked is gone */
	assert_false(lapic_timer_poll(l));
	assert_false(take(l));
	/* Vector 0 is an error, not an interrupt. */
	xwrite(l, 0x320, 0x00);
	xwrite(l, 0x380, 1000);
	f.e.now += 1000;
	assert_false(lapic_timer_poll(l));
	xwrite(l, 0x280, 0);
	assert_int_equal(xread(l, 0x280), 0x40);
}

static void tsc_deadline(void **s)
{
	struct fake_apic f;
	struct lapic *l = start(&f, 0x50);
	uint64_t tsc = START * 2 + 1000;

	(void)s;
	lapic_tsc_deadline_write(l, tsc + 1); /* not in this mode */
	assert_int_equal(lapic_tsc_deadline_read(l), 0);
	xwrite(l, 0x380, 5000);
	xwrite(l, 0x320, 0x40050);
	assert_int_equal(xread(l, 0x380), 0);
	xwrite(l, 0x380, 5000); /* ignored */
	assert_int_equal(xread(l, 0x390), 0);
	assert_int_equal(lapic_next_deadline_ns(l), DEV_NO_DEADLINE);
	lapic_tsc_deadline_write(l, tsc + 2000);
	assert_int_equal(lapic_tsc_deadline_read(l), tsc + 2000);
	assert_int_equal(lapic_next_deadline_ns(l), START + 1000 + 1);
	f.e.now += 999;
	assert_false(lapic_timer_poll(l));
	f.e.now += 1;
	assert_true(lapic_timer_poll(l));
	assert_int_equal(lapic_tsc_deadline_read(l), 0);
	assert_true(take(l));
	lapic_tsc_deadline_write(l, 1); /* long gone: at once */
	assert_int_equal(lapic_next_deadline_ns(l), f.e.now);
	assert_true(lapic_timer_poll(l));
	assert_true(take(l));
	lapic_tsc_deadline_write(l, ~0ULL); /* some 292 years: later than any clock reaches */
	assert_true(lapic_next_deadline_ns(l) > 1ULL << 62);
	lapic_tsc_deadline_write(l, 0);
	assert_false(lapic_timer_poll(l));
	lapic_tsc_deadline_write(l, tsc + 100000);
	xwrite(l, 0x320, 0x50); /* leaving the mode disarms */
	xwrite(l, 0x320, 0x40050);
	assert_int_equal(lapic_tsc_deadline_read(l), 0);
	xwrite(l, 0x320, 0x60050); /* reserved mode: silence */
	xwrite(l, 0x380, 10);
	lapic_tsc_deadline_write(l, 1);
	f.e.now += 1000000;
	assert_false(lapic_timer_poll(l));
}

static void deadline_fires_in_time(void **s)
{
	static const uint32_t khz[] = {1, 999983, 2000000, 3579545, 4294967295u};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(khz); i++) {
		struct fake_apic f;
		struct lapic *l = start(&f, 0x40050);

		f.env.tsc_khz = khz[i];
		for (uint64_t d = 1; d < 1ULL << 60; d *= 3) {
			uint64_t at;

			lapic_tsc_deadline_write(l, fake_tsc(&f) + d);
			at = lapic_next_deadline_ns(l);
			assert_true(at > f.e.now);
			if (khz[i] != TSC_KHZ)
				continue;
			f.e.now = at;
			assert_true(lapic_timer_poll(l));
			assert_true(take(l));
		}
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(one_shot),
		cmocka_unit_test(divider),
		cmocka_unit_test(periodic_coalesces),
		cmocka_unit_test(short_periods_are_paced),
		cmocka_unit_test(masked_timer_runs_silently),
		cmocka_unit_test(tsc_deadline),
		cmocka_unit_test(deadline_fires_in_time),
	};
	return cmocka_run_group_tests_name("lapic_timer", t, NULL, NULL);
}
