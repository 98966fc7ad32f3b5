/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_env.h"
#include "hv/dev/pit.h"

static void out(struct pit *p, unsigned off, unsigned v)
{
	pit_ops.write(p, off, 1, v);
}

static unsigned in(struct pit *p, unsigned off)
{
	return (unsigned)pit_ops.read(p, off, 1);
}

static void start(struct fake_env *e, struct pit *p)
{
	fake_env_init(e);
	pit_init(p, &e->env);
}

static void periodic_interrupt(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	assert_int_equal(pit_next_deadline_ns(&p), DEV_NO_DEADLINE);
	out(&p, 3, 0x34);
	out(&p, 0, 0xa9);
	out(&p, 0, 0x04); /* 1193: 1 kHz */
	e.rises[0] = 0;
	for (unsigned i = 1; i <= 1000; i++) {
		uint64_t due = pit_next_deadline_ns(&p);

		assert_true(due > e.now && due - e.now < 1000500);
		e.now = due - 3;
		pit_poll(&p);
		assert_int_equal(e.rises[0], i - 1);
		e.now = due;
		pit_poll(&p);
		assert_int_equal(e.rises[0], i);
	}
	assert_true(e.now > 999000000 && e.now < 1001000000);
	e.now += 50000000; /* fifty periods late: one interrupt */
	pit_poll(&p);
	pit_poll(&p);
	assert_int_equal(e.rises[0], 1001);
	assert_true(pit_next_deadline_ns(&p) > e.now);
	pit_reset(&p);
	assert_false(e.line[0]);
	assert_int_equal(pit_next_deadline_ns(&p), DEV_NO_DEADLINE);
}

static void one_shot_interrupt(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	e.now = 12345;
	out(&p, 3, 0x30);
	out(&p, 0, 0xe8);
	out(&p, 0, 0x03);
	assert_false(e.line[0]);
	e.now = pit_next_deadline_ns(&p);
	pit_poll(&p);
	assert_true(e.line[0]);
	assert_int_equal(pit_next_deadline_ns(&p), DEV_NO_DEADLINE);
	out(&p, 3, 0x30);
	assert_false(e.line[0]);
}

static void short_periods_are_paced(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	out(&p, 3, 0x14);
	out(&p, 0, 1);
	e.rises[0] = 0;
	for (unsigned i = 0; i < 10000; i++) {
		e.now += 100;
		pit_poll(&p);
	}
	assert_true(e.rises[0] >= 49 && e.rises[0] <= 51);
}

static void channel_2_measures_time(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	pit_port_b_ops.write(&p, 0, 1, 0x01);
	out(&p, 3, 0xb0);
	out(&p, 2, 0xa9);
	out(&p, 2, 0x04);
	assert_int_equal(pit_port_b_ops.read(&p, 0, 1) & 0x2f, 0x01);
	e.now = 990000;
	assert_int_equal(pit_port_b_ops.read(&p, 0, 1) & 0x20, 0);
	e.now = 1000000;
	assert_int_equal(pit_port_b_ops.read(&p, 0, 1) & 0x20, 0x20);
	assert_int_equal(e.rises[0], 0);
	pit_port_b_ops.write(&p, 0, 1, 0xff);
	assert_int_equal(pit_port_b_ops.read(&p, 0, 1) & 0xcf, 0x0f);
	/* The refresh bit toggles. */
	uint64_t a = pit_port_b_ops.read(&p, 0, 1);

	e.now += 15085;
	assert_int_equal(a ^ pit_port_b_ops.read(&p, 0, 1), 0x10);
}

static void read_back(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	out(&p, 3, 0x34);
	out(&p, 0, 0x00);
	out(&p, 0, 0x10);
	out(&p, 3, 0x74);
	out(&p, 1, 0x00);
	out(&p, 1, 0x20);
	e.now = 84000; /* 100 ticks */
	out(&p, 3, 0xc2 | 0x04);
	e.now = 1000000;
	assert_int_equal(in(&p, 0), 0xb4);
	assert_int_equal(in(&p, 0) | in(&p, 0) << 8, 0x1000 - 100);
	assert_int_equal(in(&p, 1), 0xb4);
	assert_int_equal(in(&p, 1) | in(&p, 1) << 8, 0x2000 - 100);
	out(&p, 3, 0xe2); /* status only */
	assert_int_equal(in(&p, 0), 0xb4);
	out(&p, 3, 0xc0); /* selects nobody */
	assert_int_equal(in(&p, 3), 0xff);
}

static void wide_accesses_are_bytes(void **s)
{
	struct fake_env e;
	struct pit p;

	(void)s;
	start(&e, &p);
	pit_ops.write(&p, 0, 4, 0x14000020); /* counter 0 gets 0x20, then control */
	assert_int_equal(p.counter[0].mode, 2);
	assert_int_equal(pit_ops.read(&p, 0, 4) >> 24, 0xff);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(periodic_interrupt),
		cmocka_unit_test(one_shot_interrupt),
		cmocka_unit_test(short_periods_are_paced),
		cmocka_unit_test(channel_2_measures_time),
		cmocka_unit_test(read_back),
		cmocka_unit_test(wide_accesses_are_bytes),
	};
	return cmocka_run_group_tests_name("pit", t, NULL, NULL);
}
