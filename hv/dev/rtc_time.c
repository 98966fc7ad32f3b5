/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtc_time: days to dates and back.
 *
 * Called from: rtc.c.  Years are counted from March, which puts the leap day at
 * their end: day of year = (153 * month + 2) / 5.  Pure (tests/host/test_rtc.c).
 */
#include "hv/dev/rtc_time.h"

#define ERA_DAYS	  146097u /* 400 years */
#define DAYS_0000_TO_1970 719468u /* from 0000-03-01 */
#define LAST_YEAR	  2553u	  /* the last whole one in 2^64 ns from 1970 */
#define LAST_SECOND	  18429292799ULL

static unsigned clamp(unsigned v, unsigned lo, unsigned hi)
{
	if (v < lo)
		return lo;
	return v > hi ? hi : v;
}

struct rtc_time rtc_time_from_seconds(uint64_t epoch_seconds)
{
	uint64_t s = min_u64(epoch_seconds, LAST_SECOND);
	unsigned days = (unsigned)(s / DAY_SECONDS), rest = (unsigned)(s % DAY_SECONDS);
	unsigned z = days + DAYS_0000_TO_1970, era = z / ERA_DAYS, doe = z % ERA_DAYS;
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153; /* 0 is March */
	unsigned month = mp < 10 ? mp + 3 : mp - 9;

	return (struct rtc_time){
		.year = era * 400 + yoe + (month <= 2),
		.month = month,
		.day = doy - (153 * mp + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
		.weekday = (days + 4) % 7 + 1, /* 1970-01-01 was a Thursday */
	};
}

uint64_t rtc_time_to_seconds(const struct rtc_time *t)
{
	unsigned month = clamp(t->month, 1, 12), day = clamp(t->day, 1, 31);
	unsigned y = clamp(t->year, 1970, LAST_YEAR) - (month <= 2);
	unsigned mp = month > 2 ? month - 3 : month + 9;
	unsigned yoe = y % 400, doy = (153 * mp + 2) / 5 + day - 1;
	unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	uint64_t days = (uint64_t)(y / 400) * ERA_DAYS + doe - DAYS_0000_TO_1970;

	return days * DAY_SECONDS + clamp(t->hour, 0, 23) * 3600u + clamp(t->minute, 0, 59) * 60u +
	       clamp(t->second, 0, 59);
}
