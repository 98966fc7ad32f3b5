/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <time.h>

#include "tests/host/fake_env.h"
#include "hv/dev/rtc.h"
#include "hv/dev/rtc_time.h"

#define S 1000000000ULL
/* Tuesday, 2024-12-31 23:59:58 UTC */
#define EPOCH 1735689598ULL

static unsigned rd(struct rtc *r, unsigned reg)
{
	rtc_ops.write(r, 0, 1, reg);
	return (unsigned)rtc_ops.read(r, 1, 1);
}

static void wr(struct rtc *r, unsigned reg, unsigned v)
{
	rtc_ops.write(r, 0, 1, reg);
	rtc_ops.write(r, 1, 1, v);
}

static void start(struct fake_env *e, struct rtc *r)
{
	fake_env_init(e);
	rtc_init(r, &e->env, EPOCH, 3 * GIB, 5 * GIB);
}

/* Reads the eight time registers as one number: century first, second last. */
static uint64_t whole(struct rtc *r)
{
	static const uint8_t reg[] = {0x32, 9, 8, 7, 6, 4, 2, 0};
	uint64_t v = 0;

	for (unsigned i = 0; i < sizeof(reg); i++)
		v = v << 8 | rd(r, reg[i]);
	return v;
}

static void dates_agree_with_c_library(void **s)
{
	(void)s;
	srand(1);
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t sec = ((uint64_t)rand() << 31 | (unsigned)rand()) % 18429120000ULL;
		time_t tt = (time_t)sec;
		struct tm tm;
		struct rtc_time t = rtc_time_from_seconds(sec);

		gmtime_r(&tt, &tm);
		assert_int_equal(t.year, tm.tm_year + 1900);
		assert_int_equal(t.month, tm.tm_mon + 1);
		assert_int_equal(t.day, tm.tm_mday);
		assert_int_equal(t.hour, tm.tm_hour);
		assert_int_equal(t.minute, tm.tm_min);
		assert_int_equal(t.second, tm.tm_sec);
		assert_int_equal(t.weekday, tm.tm_wday + 1);
		assert_int_equal(rtc_time_to_seconds(&t), sec);
	}
}

static void shows_time(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	assert_int_equal(whole(&r), 0x2024123103235958ULL);
	e.now = 2 * S;
	assert_int_equal(whole(&r), 0x2025010104000000ULL);
	wr(&r, 0x0b, 0x06); /* binary */
	assert_int_equal(whole(&r), 0x1419010104000000ULL);
	wr(&r, 0x0b, 0x00); /* BCD, 12 hours */
	assert_int_equal(rd(&r, 4), 0x12);
	e.now = 2 * S + 12 * 3600 * S;
	assert_int_equal(rd(&r, 4), 0x92);
	e.now += 3600 * S;
	assert_int_equal(rd(&r, 4), 0x81);
	assert_int_equal(rd(&r, 0x0d), 0x80);
	assert_int_equal(rtc_ops.read(&r, 0, 1), 0xff);
	rtc_ops.write(&r, 0, 1, 0x8d); /* NMI mask bit */
	assert_int_equal(rtc_ops.read(&r, 1, 1), 0x80);
}

static void sets_time(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	e.now = S / 2;
	wr(&r, 0x0b, 0x82);
	wr(&r, 0, 0x30);
	wr(&r, 2, 0x15);
	wr(&r, 4, 0x08);
	wr(&r, 7, 0x29);
	wr(&r, 8, 0x02);
	wr(&r, 9, 0x28);
	e.now += 10 * S;
	assert_int_equal(whole(&r), 0x2028022903081530ULL); /* stands still */
	wr(&r, 0x0b, 0x02);
	assert_int_equal(whole(&r), 0x2028022903081530ULL);
	e.now += S / 2 - 1;
	assert_int_equal(rd(&r, 0), 0x30);
	e.now += 1; /* the phase of the second was kept */
	assert_int_equal(rd(&r, 0), 0x31);
	wr(&r, 2, 0x59); /* at once, without SET */
	assert_int_equal(whole(&r), 0x2028022903085931ULL);
	/* Divider reset: the first update comes half a second after its end. */
	wr(&r, 0x0a, 0x66);
	e.now += 100 * S;
	assert_int_equal(rd(&r, 0), 0x31);
	wr(&r, 0x0a, 0x26);
	e.now += S / 2 - 1;
	assert_int_equal(rd(&r, 0), 0x31);
	e.now += 1;
	assert_int_equal(rd(&r, 0), 0x32);
	wr(&r, 0x0b, 0x00);
	wr(&r, 4, 0x92);
	assert_int_equal(rd(&r, 4), 0x92);
	wr(&r, 0x0b, 0x02);
	assert_int_equal(rd(&r, 4), 0x12);
}

static void takes_any_bytes_as_time(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	srand(2);
	for (unsigned i = 0; i < 100000; i++) {
		e.now += (unsigned)rand() % 1000000000u;
		wr(&r, (unsigned)rand() % 64, (unsigned)rand());
		rd(&r, (unsigned)rand() % 64);
		assert_true(rtc_next_deadline_ns(&r) > 0);
		rtc_poll(&r);
	}
	rtc_reset(&r);
	assert_int_equal(rtc_next_deadline_ns(&r), DEV_NO_DEADLINE);
	assert_false(e.line[8]);
}

static void update_in_progress(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	e.now = S - 245000;
	assert_int_equal(rd(&r, 0x0a), 0x26);
	e.now = S - 244000;
	assert_int_equal(rd(&r, 0x0a), 0xa6);
	e.now = S;
	assert_int_equal(rd(&r, 0x0a), 0x26);
	wr(&r, 0x0b, 0x82);
	e.now = 2 * S - 1;
	assert_int_equal(rd(&r, 0x0a), 0x26);
}

static void update_interrupt(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	assert_int_equal(rtc_next_deadline_ns(&r), DEV_NO_DEADLINE);
	wr(&r, 0x0b, 0x12);
	assert_int_equal(rtc_next_deadline_ns(&r), S);
	e.now = S - 1;
	rtc_poll(&r);
	assert_false(e.line[8]);
	e.now = S;
	rtc_poll(&r);
	assert_true(e.line[8]);
	assert_int_equal(rtc_next_deadline_ns(&r), DEV_NO_DEADLINE);
	e.now = 5 * S;
	assert_int_equal(rd(&r, 0x0c) & 0x90, 0x90);
	assert_false(e.line[8]);
	assert_int_equal(rd(&r, 0x0c) & 0x90, 0);
	assert_int_equal(rtc_next_deadline_ns(&r), 6 * S);
	/* A flag that is up already interrupts when it is enabled. */
	wr(&r, 0x0b, 0x02);
	e.now = 7 * S;
	rtc_poll(&r);
	assert_false(e.line[8]);
	wr(&r, 0x0b, 0x12);
	assert_true(e.line[8]);
}

static void periodic_interrupt(void **s)
{
	(void)s;
	for (unsigned rs = 1; rs < 16; rs++) {
		struct fake_env e;
		struct rtc r;
		unsigned hz = rs <= 2 ? 512u >> rs : 65536u >> rs;

		start(&e, &r);
		wr(&r, 0x0a, 0x20 | rs);
		wr(&r, 0x0b, 0x42);
		for (unsigned i = 0; i < hz; i++) {
			assert_true(rtc_next_deadline_ns(&r) > e.now);
			e.now = rtc_next_deadline_ns(&r);
			rtc_poll(&r);
			assert_true(e.line[8]);
			assert_int_equal(rd(&r, 0x0c) & 0xc0, 0xc0);
			assert_false(e.line[8]);
		}
		assert_true(e.now > S - 2 && e.now < S + 2);
		wr(&r, 0x0a, 0x20);
		assert_int_equal(rtc_next_deadline_ns(&r), DEV_NO_DEADLINE);
	}
}

static void alarm_interrupt(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	wr(&r, 1, 0x05);
	wr(&r, 3, 0x01);
	wr(&r, 5, 0x00);
	wr(&r, 0x0b, 0x22);
	assert_int_equal(rtc_next_deadline_ns(&r), 67 * S);
	e.now = 66 * S;
	rtc_poll(&r);
	assert_false(e.line[8]);
	e.now = 200 * S; /* late: still flagged */
	rtc_poll(&r);
	assert_true(e.line[8]);
	assert_int_equal(rd(&r, 0x0c) & 0xa0, 0xa0);
	assert_int_equal(rtc_next_deadline_ns(&r), 67 * S + 86400 * S);
	wr(&r, 5, 0xff); /* every hour */
	assert_int_equal(rtc_next_deadline_ns(&r), 67 * S + 3600 * S);
	wr(&r, 3, 0xc0); /* every minute */
	assert_int_equal(rtc_next_deadline_ns(&r), 247 * S);
	wr(&r, 1, 0xff); /* every second */
	assert_int_equal(rtc_next_deadline_ns(&r), 201 * S);
	wr(&r, 1, 0x75); /* never */
	assert_int_equal(rtc_next_deadline_ns(&r), DEV_NO_DEADLINE);
	wr(&r, 0x0b, 0x20); /* 12 hours */
	wr(&r, 1, 0x00);
	wr(&r, 3, 0x00);
	wr(&r, 5, 0x92); /* noon */
	assert_int_equal(rtc_next_deadline_ns(&r), 2 * S + 12 * 3600 * S);
}

static void cmos_memory(void **s)
{
	struct fake_env e;
	struct rtc r;

	(void)s;
	start(&e, &r);
	assert_int_equal(rd(&r, 0x15) | rd(&r, 0x16) << 8, 640);
	assert_int_equal(rd(&r, 0x17) | rd(&r, 0x18) << 8, 0xffff);
	assert_int_equal(rd(&r, 0x30) | rd(&r, 0x31) << 8, 0xffff);
	assert_int_equal(rd(&r, 0x34) | rd(&r, 0x35) << 8, (3072 - 16) * 16);
	assert_int_equal(rd(&r, 0x5b) | rd(&r, 0x5c) << 8 | rd(&r, 0x5d) << 16, 5 * 1024 * 16);
	assert_int_equal(rd(&r, 0x0f), 0);
	wr(&r, 0x0f, 0x0a);
	assert_int_equal(rd(&r, 0x0f), 0x0a);
	wr(&r, 0x7f, 0x55);
	assert_int_equal(rd(&r, 0xff), 0x55);
	wr(&r, 0x0c, 0xff);
	wr(&r, 0x0d, 0x00);
	assert_int_equal(rd(&r, 0x0d), 0x80);
	assert_false(e.line[8]);
	rtc_init(&r, &e.env, EPOCH, 9 * MIB, 0);
	assert_int_equal(rd(&r, 0x30) | rd(&r, 0x31) << 8, 8192);
	assert_int_equal(rd(&r, 0x34) | rd(&r, 0x35) << 8, 0);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(dates_agree_with_c_library),
		cmocka_unit_test(shows_time),
		cmocka_unit_test(sets_time),
		cmocka_unit_test(takes_any_bytes_as_time),
		cmocka_unit_test(update_in_progress),
		cmocka_unit_test(update_interrupt),
		cmocka_unit_test(periodic_interrupt),
		cmocka_unit_test(alarm_interrupt),
		cmocka_unit_test(cmos_memory),
	};
	return cmocka_run_group_tests_name("rtc", t, NULL, NULL);
}
