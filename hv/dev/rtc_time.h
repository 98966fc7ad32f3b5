/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtc_time: civil time for the real-time clock.  Proleptic Gregorian, UTC,
 * years 1970 to 2553; out-of-range fields are brought into range, so any bytes
 * a guest leaves in the clock's registers name some time.  Pure.
 */
#pragma once

#include "hv/base.h"

#define DAY_SECONDS 86400ULL

struct rtc_time {
	unsigned year, month, day; /* month and day from 1 */
	unsigned hour, minute, second;
	unsigned weekday; /* 1 is Sunday; derived, ignored on the way back */
};

struct rtc_time rtc_time_from_seconds(uint64_t epoch_seconds);
uint64_t rtc_time_to_seconds(const struct rtc_time *t);
