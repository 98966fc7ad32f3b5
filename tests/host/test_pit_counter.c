/* SPDX-License-Identifier: BSD-2-Clause */
/* pit_counter: the modes, by walking tick for tick, and the ways to read and write. */
#include "tests/host/fake_env.h"
#include "hv/dev/pit_counter.h"

static uint16_t rd16(struct pit_counter *c, uint64_t now)
{
	uint8_t low = pit_counter_read(c, now);

	return (uint16_t)(low | pit_counter_read(c, now) << 8);
}

static void wr16(struct pit_counter *c, unsigned v, uint64_t now)
{
	pit_counter_write(c, (uint8_t)v, now);
	pit_counter_write(c, (uint8_t)(v >> 8), now);
}

static void set_mode(struct pit_counter *c, unsigned mode, uint64_t now)
{
	pit_counter_control(c, (uint8_t)(0x30 | mode << 1), now);
}

static uint16_t value_at(struct pit_counter *c, uint64_t now)
{
	pit_counter_latch_count(c, now);
	return rd16(c, now);
}

/* Each rise of OUT while walking from @from to @to is reported once, at its tick. */
static unsigned count_edges(struct pit_counter *c, uint64_t from, uint64_t to)
{
	bool out = pit_counter_out(c, from);
	unsigned n = 0;

	for (uint64_t t = from + 1; t <= to; t++) {
		bool now = pit_counter_out(c, t), rose = now && !out;

		assert_int_equal(pit_counter_take_edge(c, t), rose);
		n += rose;
		out = now;
	}
	return n;
}

static void mode_0(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, true);
	set_mode(&c, 0, 5);
	assert_false(pit_counter_out(&c, 5));
	pit_counter_write(&c, 10, 6);
	assert_false(pit_counter_out(&c, 100)); /* waits for the second byte */
	pit_counter_write(&c, 0, 100);
	assert_int_equal(value_at(&c, 100), 10);
	assert_int_equal(value_at(&c, 107), 3);
	assert_int_equal(count_edges(&c, 107, 200), 1);
	assert_true(pit_counter_out(&c, 200));
	assert_int_equal(value_at(&c, 111), 0xffff);
	/* A new count starts over. */
	wr16(&c, 20, 300);
	assert_false(pit_counter_out(&c, 319));
	assert_true(pit_counter_out(&c, 320));
}

static void mode_0_gate(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, false);
	set_mode(&c, 0, 0);
	wr16(&c, 50, 0);
	assert_int_equal(value_at(&c, 1000), 50);
	pit_counter_set_gate(&c, true, 1000);
	assert_int_equal(value_at(&c, 1020), 30);
	pit_counter_set_gate(&c, false, 1020);
	assert_int_equal(value_at(&c, 2000), 30);
	assert_false(pit_counter_take_edge(&c, 2000));
	pit_counter_set_gate(&c, true, 2000);
	assert_int_equal(count_edges(&c, 2000, 2029), 0);
	assert_int_equal(count_edges(&c, 2029, 2100), 1);
}

static void mode_1(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, false);
	set_mode(&c, 1, 0);
	wr16(&c, 10, 0);
	assert_true(pit_counter_out(&c, 100));
	pit_counter_set_gate(&c, true, 100);
	assert_false(pit_counter_out(&c, 100));
	assert_false(pit_counter_out(&c, 109));
	assert_true(pit_counter_out(&c, 110));
	assert_true(pit_counter_take_edge(&c, 110));
	pit_counter_set_gate(&c, false, 120);
	pit_counter_set_gate(&c, true, 130);
	pit_counter_set_gate(&c, false, 133);
	pit_counter_set_gate(&c, true, 135); /* retriggered */
	assert_int_equal(count_edges(&c, 135, 144), 0);
	assert_int_equal(count_edges(&c, 144, 300), 1);
	wr16(&c, 99, 300); /* waits for the next trigger */
	assert_true(pit_counter_out(&c, 301));
}

static void mode_2(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, true);
	set_mode(&c, 2, 0);
	assert_true(pit_counter_out(&c, 0));
	wr16(&c, 10, 0);
	assert_int_equal(count_edges(&c, 0, 100), 10);
	assert_int_equal(value_at(&c, 100), 10);
	assert_int_equal(value_at(&c, 109), 1);
	assert_int_equal(value_at(&c, 110), 10);
	/* A new count waits for the end of the period. */
	assert_true(pit_counter_take_edge(&c, 110));
	wr16(&c, 4, 112);
	pit_counter_latch_status(&c, 112);
	assert_int_equal(pit_counter_read(&c, 112), 0xf4);
	assert_int_equal(value_at(&c, 115), 5);
	assert_int_equal(value_at(&c, 121), 3);
	assert_true(pit_counter_take_edge(&c, 121));
	assert_int_equal(count_edges(&c, 121, 140), 5);
	/* Many periods unserved are one edge. */
	assert_true(pit_counter_take_edge(&c, 100000));
	assert_false(pit_counter_take_edge(&c, 100000));
	/* Gate low stops with OUT high; rising starts over. */
	pit_counter_set_gate(&c, false, 100003);
	assert_true(pit_counter_out(&c, 100003));
	assert_false(pit_counter_take_edge(&c, 200000));
	pit_counter_set_gate(&c, true, 200001);
	assert_int_equal(value_at(&c, 200001), 4);
}

static void mode_3(void **s)
{
	(void)s;
	for (unsigned n = 2; n < 12; n++) {
		struct pit_counter c;
		unsigned high = 0;

		pit_counter_reset(&c, true);
		set_mode(&c, 7, 0); /* mode bit 2 is "don't care" */
		wr16(&c, n, 0);
		assert_int_equal(count_edges(&c, 0, 10 * n), 10);
		for (unsigned t = 0; t < n; t++) {
			high += pit_counter_out(&c, 10 * n + t);
			assert_true(value_at(&c, 10 * n + t) <= n);
			assert_int_equal(value_at(&c, 10 * n + t) & 1, 0);
		}
		assert_int_equal(high, (n + 1) / 2);
	}
}

static void modes_4_and_5(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, true);
	set_mode(&c, 4, 0);
	assert_true(pit_counter_out(&c, 0));
	wr16(&c, 10, 0);
	assert_true(pit_counter_out(&c, 9));
	assert_false(pit_counter_out(&c, 10));
	assert_int_equal(count_edges(&c, 9, 1000), 1);
	pit_counter_reset(&c, false);
	set_mode(&c, 5, 0);
	wr16(&c, 10, 0);
	assert_int_equal(count_edges(&c, 0, 100), 0);
	pit_counter_set_gate(&c, true, 100);
	assert_int_equal(count_edges(&c, 100, 1000), 1);
}

static void bcd_and_extremes(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, true);
	pit_counter_control(&c, 0x31, 0);
	wr16(&c, 0x1234, 0);
	assert_int_equal(value_at(&c, 34), 0x1200);
	assert_int_equal(value_at(&c, 1235), 0x9999);
	wr16(&c, 0, 2000);
	assert_int_equal(value_at(&c, 2001), 0x9999);
	assert_false(pit_counter_out(&c, 11999));
	assert_true(pit_counter_out(&c, 12000));
	/* No count and no digit, however wrong, may break the arithmetic. */
	for (unsigned word = 0x10; word < 0x40; word++) {
		for (unsigned raw = 0; raw < 0x10000; raw += 0x111) {
			pit_counter_control(&c, (uint8_t)word, 20000);
			wr16(&c, raw, 20000);
			assert_true(c.next >= 1 && c.next <= 65536);
			value_at(&c, 20001);
			pit_counter_out(&c, 1ULL << 50);
			pit_counter_take_edge(&c, 1ULL << 50);
			value_at(&c, 1ULL << 50);
		}
	}
}

static void reading_and_latching(void **s)
{
	struct pit_counter c;

	(void)s;
	pit_counter_reset(&c, true);
	set_mode(&c, 2, 0);
	wr16(&c, 0x1234, 0);
	assert_int_equal(pit_counter_read(&c, 0), 0x34);
	assert_int_equal(pit_counter_read(&c, 0), 0x12);
	pit_counter_control(&c, 0x00, 1); /* latch */
	pit_counter_latch_count(&c, 2);	  /* ignored */
	assert_int_equal(rd16(&c, 100), 0x1233);
	assert_int_equal(rd16(&c, 0x34), 0x1200);
	/* Status comes before the count when both are latched. */
	pit_counter_latch_count(&c, 4);
	pit_counter_latch_status(&c, 4);
	assert_int_equal(pit_counter_read(&c, 9), 0xb4);
	assert_int_equal(rd16(&c, 9), 0x1230);
	pit_counter_control(&c, 0x14, 10); /* low byte only */
	pit_counter_write(&c, 0x20, 10);
	assert_int_equal(pit_counter_read(&c, 11), 0x1f);
	assert_int_equal(pit_counter_read(&c, 12), 0x1e);
	pit_counter_control(&c, 0x24, 20); /* high byte only */
	pit_counter_write(&c, 0x02, 20);
	assert_int_equal(pit_counter_read(&c, 21), 0x01);
	pit_counter_latch_count(&c, 20 + 0x180);
	assert_int_equal(pit_counter_read(&c, 20 + 0x1ff), 0x00);
	assert_int_equal(pit_counter_read(&c, 20), 0x02);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(mode_0),	    cmocka_unit_test(mode_0_gate),
		cmocka_unit_test(mode_1),	    cmocka_unit_test(mode_2),
		cmocka_unit_test(mode_3),	    cmocka_unit_test(modes_4_and_5),
		cmocka_unit_test(bcd_and_extremes), cmocka_unit_test(reading_and_latching),
	};
	return cmocka_run_group_tests_name("pit_counter", t, NULL, NULL);
}
