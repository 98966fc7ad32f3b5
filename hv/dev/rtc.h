/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtc: the MC146818 real-time clock with CMOS memory (ports 0x70 and 0x71, IRQ 8).
 *
 * Time is the epoch given at rtc_init plus now_ns, plus what the guest set.
 * Alarm, periodic and update flags are computed when somebody looks; a deadline
 * exists only for an interrupt that is enabled and not yet flagged.  Called with
 * the VM's device lock held.  Pure.  Spec: MC146818A data sheet.
 */
#pragma once

#include "hv/dev/dev.h"

#define RTC_PORT       0x70
#define RTC_LEN	       2
#define RTC_IRQ	       8
#define RTC_CENTURY    0x32 /* for the FADT */
#define RTC_CMOS_BYTES 128

struct rtc {
	const struct dev_env *env;
	uint8_t index;
	uint8_t cmos[RTC_CMOS_BYTES]; /* time registers count only while the clock is stopped */
	uint64_t base_ns;	      /* clock time (ns since 1970) minus now_ns, modulo 2^64 */
	uint64_t seen_ns;	      /* clock time up to which flags have been collected */
	uint64_t seen_tick;	      /* same for the periodic divider, in 1/32768 s of now_ns */
	bool line;
};

extern const struct dev_ops rtc_ops;

/* @epoch_seconds: since 1970; RAM in bytes from 0 and from 4 GiB up, for the CMOS sizes. */
void rtc_init(struct rtc *r, const struct dev_env *env, uint64_t epoch_seconds, uint64_t ram_low,
	      uint64_t ram_high);
/* Time, alarm and memory survive; interrupt enables do not. */
void rtc_reset(struct rtc *r);

uint64_t rtc_next_deadline_ns(const struct rtc *r);
void rtc_poll(struct rtc *r);
