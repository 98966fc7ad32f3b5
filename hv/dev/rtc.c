/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtc: MC146818 registers, time and interrupts.
 *
 * Called from: exit path and timer, under the VM's device lock.
 * Invariant: line equals REG_C.IRQF, which equals (REG_C & REG_B & 0x70) != 0.
 * While the clock is stopped (SET, or divider in reset) the time registers are
 * plain memory; when it starts again they are the time.  A write to a time
 * register while it runs takes effect at once.  Pure (tests/host/test_rtc.c).
 * Spec: MC146818A data sheet.
 */
#include "hv/dev/bytes.h"
#include "hv/dev/rtc.h"
#include "hv/dev/rtc_time.h"

enum {
	SECONDS,
	SECONDS_ALARM,
	MINUTES,
	MINUTES_ALARM,
	HOURS,
	HOURS_ALARM,
	WEEKDAY,
	DAY,
	MONTH,
	YEAR,
	REG_A,
	REG_B,
	REG_C,
	REG_D
};

#define A_UIP	 BIT(7)
#define A_DV(a)	 ((a) >> 4 & 7)
#define A_RS(a)	 ((a)&15)
#define A_RESET	 0x26 /* 32768 Hz time base, 1024 Hz periodic rate */
#define DV_RESET 6    /* 6 and 7 hold the divider in reset */

#define B_SET BIT(7)
#define B_PIE BIT(6)
#define B_AIE BIT(5)
#define B_UIE BIT(4)
#define B_DM  BIT(2) /* binary */
#define B_24H BIT(1)

#define C_IRQF BIT(7)
#define C_PF   BIT(6)
#define C_AF   BIT(5)
#define C_UF   BIT(4)
#define C_ALL  (C_PF | C_AF | C_UF)

#define D_VRT BIT(7)

#define HOUR_PM 0x80
#define ANY	0xc0 /* alarm bytes from here up match everything */

#define NS_PER_S 1000000000ULL
#define TICK_HZ	 32768
/* UIP warns 244 us before the update. */
#define UIP_NS 244141ULL

static uint64_t now_ns(const struct rtc *r)
{
	return r->env->now_ns(r->env->ctx);
}

static uint64_t clock_ns(const struct rtc *r)
{
	return r->base_ns + now_ns(r);
}

static uint64_t ticks(const struct rtc *r)
{
	return mul_div(now_ns(r), TICK_HZ, NS_PER_S);
}

static bool running(const struct rtc *r)
{
	return !(r->cmos[REG_B] & B_SET) && A_DV(r->cmos[REG_A]) < DV_RESET;
}

/* Periodic rate as ticks per period, 0 for none: 1 and 2 are the slower 256 and 128 Hz. */
static uint64_t period_ticks(const struct rtc *r)
{
	unsigned rs = A_RS(r->cmos[REG_A]);

	if (rs == 0)
		return 0;
	return rs <= 2 ? BIT64(rs + 6) : BIT64(rs - 1);
}

static uint8_t encode(const struct rtc *r, unsigned v)
{
	return (uint8_t)(r->cmos[REG_B] & B_DM ? v : v / 10 << 4 | v % 10);
}

static unsigned decode(const struct rtc *r, uint8_t v)
{
	return r->cmos[REG_B] & B_DM ? v : (v >> 4) * 10u + (v & 15);
}

static uint8_t encode_hour(const struct rtc *r, unsigned hour)
{
	unsigned h = hour % 12 ? hour % 12 : 12;

	if (r->cmos[REG_B] & B_24H)
		return encode(r, hour);
	return encode(r, h) | (hour >= 12 ? HOUR_PM : 0);
}

static unsigned decode_hour(const struct rtc *r, uint8_t v)
{
	if (r->cmos[REG_B] & B_24H)
		return decode(r, v);
	return decode(r, v & 0x7f) % 12 + (v & HOUR_PM ? 12 : 0);
}

/* Puts the time into the registers in the format that REG_B asks for. */
static void show_time(struct rtc *r, uint64_t ns)
{
	struct rtc_time t = rtc_time_from_seconds(ns / NS_PER_S);

	r->cmos[SECONDS] = encode(r, t.second);
	r->cmos[MINUTES] = encode(r, t.minute);
	r->cmos[HOURS] = encode_hour(r, t.hour);
	r->cmos[WEEKDAY] = encode(r, t.weekday);
	r->cmos[DAY] = encode(r, t.day);
	r->cmos[MONTH] = encode(r, t.month);
	r->cmos[YEAR] = encode(r, t.year % 100);
	r->cmos[RTC_CENTURY] = encode(r, t.year / 100);
}

/* Makes the registers the time, @fraction nanoseconds into their second. */
static void take_time(struct rtc *r, uint64_t fraction)
{
	struct rtc_time t = {
		.second = decode(r, r->cmos[SECONDS]),
		.minute = decode(r, r->cmos[MINUTES]),
		.hour = decode_hour(r, r->cmos[HOURS]),
		.day = decode(r, r->cmos[DAY]),
		.month = decode(r, r->cmos[MONTH]),
		.year = decode(r, r->cmos[RTC_CENTURY]) * 100 + decode(r, r->cmos[YEAR]) % 100,
	};

	r->base_ns = rtc_time_to_seconds(&t) * NS_PER_S + fraction - now_ns(r);
	r->seen_ns = clock_ns(r);
}

static bool alarm_byte_matches(uint8_t alarm, unsigned want, unsigned v)
{
	return alarm >= ANY || want == v;
}

static bool alarm_byte_possible(uint8_t alarm, unsigned want, unsigned limit)
{
	return alarm >= ANY || want < limit;
}

/*
 * The first second after @after that the alarm matches.  Skips whole hours and
 * minutes that do not match, so this takes a few hundred steps at most.
 */
static uint64_t next_alarm(const struct rtc *r, uint64_t after)
{
	uint8_t ha = r->cmos[HOURS_ALARM], ma = r->cmos[MINUTES_ALARM], sa = r->cmos[SECONDS_ALARM];
	unsigned h = decode_hour(r, ha), m = decode(r, ma), s = decode(r, sa);
	uint64_t t = after + 1;

	if (!alarm_byte_possible(ha, h, 24) || !alarm_byte_possible(ma, m, 60) ||
	    !alarm_byte_possible(sa, s, 60))
		return DEV_NO_DEADLINE;
	while (t <= after + DAY_SECONDS) {
		unsigned of_day = (unsigned)(t % DAY_SECONDS);

		if (!alarm_byte_matches(ha, h, of_day / 3600))
			t += 3600 - of_day % 3600;
		else if (!alarm_byte_matches(ma, m, of_day / 60 % 60))
			t += 60 - of_day % 60;
		else if (!alarm_byte_matches(sa, s, of_day % 60))
			t++;
		else
			return t;
	}
	return DEV_NO_DEADLINE;
}

static void update_line(struct rtc *r)
{
	bool line = r->cmos[REG_C] & r->cmos[REG_B] & C_ALL;

	r->cmos[REG_C] = (uint8_t)((r->cmos[REG_C] & C_ALL) | (line ? C_IRQF : 0));
	if (line == r->line)
		return;
	r->line = line;
	r->env->set_irq(r->env->ctx, RTC_IRQ, line);
}

/* Sets the flags of everything that happened since the last look. */
void rtc_poll(struct rtc *r)
{
	uint64_t clock = clock_ns(r), tick = ticks(r), period = period_ticks(r);

	if (period && tick / period != r->seen_tick / period)
		r->cmos[REG_C] |= C_PF;
	r->seen_tick = tick;
	if (running(r) && clock / NS_PER_S != r->seen_ns / NS_PER_S) {
		r->cmos[REG_C] |= C_UF;
		if (next_alarm(r, r->seen_ns / NS_PER_S) <= clock / NS_PER_S)
			r->cmos[REG_C] |= C_AF;
	}
	r->seen_ns = clock;
	update_line(r);
}

/* now_ns at which the clock shows @second of the epoch. */
static uint64_t when(const struct rtc *r, uint64_t second)
{
	return second == DEV_NO_DEADLINE ? second : second * NS_PER_S - r->base_ns;
}

uint64_t rtc_next_deadline_ns(const struct rtc *r)
{
	uint8_t want = r->cmos[REG_B] & C_ALL & (uint8_t)~r->cmos[REG_C];
	uint64_t due = DEV_NO_DEADLINE, period = period_ticks(r), second = r->seen_ns / NS_PER_S;

	/* One more nanosecond, for the tick count rounds down. */
	if (want & C_PF && period)
		due = mul_div((r->seen_tick / period + 1) * period, NS_PER_S, TICK_HZ) + 1;
	if (want & C_UF && running(r))
		due = min_u64(due, when(r, second + 1));
	if (want & C_AF && running(r))
		due = min_u64(due, when(r, next_alarm(r, second)));
	return due;
}

static bool is_time(unsigned reg)
{
	return reg == RTC_CENTURY ||
	       (reg <= YEAR && reg != SECONDS_ALARM && reg != MINUTES_ALARM && reg != HOURS_ALARM);
}

static uint8_t read_reg(struct rtc *r, unsigned reg)
{
	uint8_t v;

	if (is_time(reg) && running(r))
		show_time(r, clock_ns(r));
	v = r->cmos[reg];
	if (reg == REG_A && running(r) && clock_ns(r) % NS_PER_S >= NS_PER_S - UIP_NS)
		v |= A_UIP;
	if (reg == REG_C) {
		r->cmos[REG_C] = 0;
		update_line(r);
	}
	return v;
}

/* REG_A and REG_B: the clock may stop, or start from what the registers hold. */
static void write_control(struct rtc *r, unsigned reg, uint8_t val)
{
	bool ran = running(r), was_reset = A_DV(r->cmos[REG_A]) >= DV_RESET;
	uint64_t fraction = clock_ns(r) % NS_PER_S;

	if (ran)
		show_time(r, clock_ns(r));
	if (reg == REG_A)
		r->cmos[REG_A] = val & (uint8_t)~A_UIP;
	else
		r->cmos[REG_B] = val & B_SET ? val & (uint8_t)~B_UIE : val;
	/* Out of reset the first update comes half a second later. */
	if (!ran && running(r))
		take_time(r, was_reset ? NS_PER_S / 2 : fraction);
	update_line(r);
}

static void write_reg(struct rtc *r, unsigned reg, uint8_t val)
{
	bool live = is_time(reg) && running(r);
	uint64_t clock = clock_ns(r);

	if (reg == REG_A || reg == REG_B) {
		write_control(r, reg, val);
		return;
	}
	if (reg == REG_C || reg == REG_D)
		return;
	if (live)
		show_time(r, clock);
	r->cmos[reg] = val;
	if (live && reg != WEEKDAY) /* the weekday follows from the date */
		take_time(r, clock % NS_PER_S);
}

static uint8_t read_byte(void *dev, unsigned off)
{
	struct rtc *r = dev;

	if (off == 0) /* the index is write-only */
		return 0xff;
	rtc_poll(r);
	return read_reg(r, r->index);
}

static void write_byte(void *dev, unsigned off, uint8_t val)
{
	struct rtc *r = dev;

	if (off == 0) {
		r->index = val & (RTC_CMOS_BYTES - 1); /* bit 7 would mask NMI */
		return;
	}
	rtc_poll(r);
	write_reg(r, r->index, val);
}

static uint64_t rtc_read(void *dev, uint64_t off, unsigned size)
{
	return dev_read_bytes(dev, off, size, read_byte);
}

static void rtc_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	dev_write_bytes(dev, off, size, val, write_byte);
}

const struct dev_ops rtc_ops = {.read = rtc_read, .write = rtc_write};

static void put_le(struct rtc *r, unsigned reg, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		r->cmos[reg + i] = (uint8_t)(v >> (i * 8));
}

/* The sizes that a PC BIOS leaves in CMOS: KiB from 1 MiB, 64 KiB units from 16 MiB and 4 GiB. */
static void put_sizes(struct rtc *r, uint64_t ram_low, uint64_t ram_high)
{
	uint64_t above_1m = ram_low > MIB ? (ram_low - MIB) / KIB : 0;
	uint64_t above_16m = ram_low > 16 * MIB ? (ram_low - 16 * MIB) / (64 * KIB) : 0;

	put_le(r, 0x15, 2, 640);
	put_le(r, 0x17, 2, min_u64(above_1m, 0xffff));
	put_le(r, 0x30, 2, min_u64(above_1m, 0xffff));
	put_le(r, 0x34, 2, min_u64(above_16m, 0xffff));
	put_le(r, 0x5b, 3, min_u64(ram_high / (64 * KIB), 0xffffff));
}

void rtc_init(struct rtc *r, const struct dev_env *env, uint64_t epoch_seconds, uint64_t ram_low,
	      uint64_t ram_high)
{
	*r = (struct rtc){.env = env};
	r->cmos[REG_A] = A_RESET;
	r->cmos[REG_B] = B_24H;
	r->cmos[REG_D] = D_VRT;
	put_sizes(r, ram_low, ram_high);
	r->base_ns = epoch_seconds * NS_PER_S - now_ns(r);
	r->seen_ns = clock_ns(r);
	r->seen_tick = ticks(r);
}

void rtc_reset(struct rtc *r)
{
	r->index = 0;
	r->cmos[REG_B] &= (uint8_t) ~(B_PIE | B_AIE | B_UIE);
	r->cmos[REG_C] = 0;
	update_line(r);
}
