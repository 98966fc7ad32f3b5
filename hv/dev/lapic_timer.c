/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic_timer: one-shot, periodic and TSC-deadline timer of a local APIC.
 *
 * Called from: the CPU that runs the vCPU.  Locks: none.
 * Periods that went by unserved are coalesced into one interrupt.  However short
 * the guest makes its period, the timer fires no more often than MIN_FIRE_NS,
 * so that a guest cannot keep its CPU busy with exits alone.  The count itself
 * runs at full rate.  Pure (tests/host/test_lapic_timer.c).
 * Spec: SDM 3A 11.5.4.
 */
#include "hv/dev/lapic_internal.h"

#define MIN_FIRE_NS 20000ULL
#define NEVER	    DEV_NO_DEADLINE
/* Later than this is never: some 292 years. */
#define HORIZON_NS (1ULL << 63)

static uint64_t now_ns(const struct lapic *l)
{
	return l->env->now_ns(l->env->ctx);
}

static unsigned mode(const struct lapic *l)
{
	return LVT_TIMER_MODE(l->lvt[LVT_TIMER]);
}

static bool counts(const struct lapic *l)
{
	return mode(l) == LVT_TIMER_ONE_SHOT || mode(l) == LVT_TIMER_PERIODIC;
}

/* Divide configuration bits 3, 1 and 0: 2, 4, ... 128, and 7 for 1. */
static unsigned divide_shift(const struct lapic *l)
{
	unsigned code = (l->divide & 3) | (l->divide >> 1 & 4);

	return (code + 1) & 7;
}

/* At most 2^32 << 7. */
static uint64_t period_ns(const struct lapic *l)
{
	return (uint64_t)l->initial_count << divide_shift(l);
}

void lapic_timer_reset(struct lapic *l)
{
	l->initial_count = 0;
	l->divide = 0;
	l->expiry_ns = NEVER;
	l->fired_ns = 0;
	l->tsc_deadline = 0;
}

uint32_t lapic_timer_read_current(const struct lapic *l)
{
	uint64_t now = now_ns(l), left;

	if (!counts(l) || l->expiry_ns == NEVER)
		return 0;
	if (now < l->expiry_ns)
		left = l->expiry_ns - now;
	else if (mode(l) == LVT_TIMER_PERIODIC)
		left = period_ns(l) - (now - l->expiry_ns) % period_ns(l);
	else
		return 0;
	/* Rounded up: 0 is read only once the count has run out. */
	return (uint32_t)((left + BIT64(divide_shift(l)) - 1) >> divide_shift(l));
}

/* Moves on past an expiry at or before @now. */
static void next_period(struct lapic *l, uint64_t now)
{
	uint64_t period = period_ns(l);

	if (mode(l) == LVT_TIMER_PERIODIC)
		l->expiry_ns += ((now - l->expiry_ns) / period + 1) * period;
	else
		l->expiry_ns = NEVER;
}

static uint64_t count_deadline(const struct lapic *l)
{
	uint64_t paced = l->fired_ns ? l->fired_ns + MIN_FIRE_NS : 0;

	if (!counts(l) || l->expiry_ns == NEVER)
		return NEVER;
	return mode(l) == LVT_TIMER_PERIODIC ? max_u64(l->expiry_ns, paced) : l->expiry_ns;
}

static uint64_t tsc_deadline_ns(const struct lapic *l)
{
	uint64_t tsc = l->env->guest_tsc(l->env->ctx), now = now_ns(l), wait;

	if (!l->tsc_deadline)
		return NEVER;
	if (l->tsc_deadline <= tsc)
		return now;
	wait = mul_div(l->tsc_deadline - tsc, 1000000, l->env->tsc_khz);
	/* One more nanosecond, for the quotient rounds down. */
	return wait < HORIZON_NS ? now + wait + 1 : NEVER;
}

uint64_t lapic_next_deadline_ns(const struct lapic *l)
{
	if (l->lvt[LVT_TIMER] & LVT_MASKED)
		return NEVER;
	return mode(l) == LVT_TIMER_TSC_DEADLINE ? tsc_deadline_ns(l) : count_deadline(l);
}

static bool expired(struct lapic *l)
{
	uint64_t now = now_ns(l);

	if (mode(l) == LVT_TIMER_TSC_DEADLINE) {
		if (!l->tsc_deadline || l->env->guest_tsc(l->env->ctx) < l->tsc_deadline)
			return false;
		l->tsc_deadline = 0;
		return true;
	}
	if (count_deadline(l) > now)
		return false;
	next_period(l, now);
	l->fired_ns = now;
	return true;
}

bool lapic_timer_poll(struct lapic *l)
{
	uint32_t lvt = l->lvt[LVT_TIMER];

	if (!expired(l) || lvt & LVT_MASKED)
		return false;
	return lapic_accept(l, LVT_VECTOR(lvt), false);
}

void lapic_timer_write_lvt(struct lapic *l, uint32_t val)
{
	bool was_tsc = mode(l) == LVT_TIMER_TSC_DEADLINE;

	/* What ran out before this write belongs to the old vector and mask. */
	lapic_timer_poll(l);
	l->lvt[LVT_TIMER] = val;
	if (was_tsc != (mode(l) == LVT_TIMER_TSC_DEADLINE)) {
		l->expiry_ns = NEVER;
		l->initial_count = 0;
		l->tsc_deadline = 0;
	}
}

void lapic_timer_write_initial(struct lapic *l, uint32_t val)
{
	if (!counts(l))
		return;
	lapic_timer_poll(l);
	l->initial_count = val;
	l->expiry_ns = val ? now_ns(l) + period_ns(l) : NEVER;
}

/* The count that is left goes on at the new rate. */
void lapic_timer_write_divide(struct lapic *l, uint32_t val)
{
	uint32_t left;

	lapic_timer_poll(l);
	left = lapic_timer_read_current(l);
	l->divide = val & 0x0b;
	if (l->expiry_ns != NEVER)
		l->expiry_ns = now_ns(l) + ((uint64_t)left << divide_shift(l));
}

uint64_t lapic_tsc_deadline_read(const struct lapic *l)
{
	return mode(l) == LVT_TIMER_TSC_DEADLINE ? l->tsc_deadline : 0;
}

void lapic_tsc_deadline_write(struct lapic *l, uint64_t val)
{
	if (mode(l) == LVT_TIMER_TSC_DEADLINE)
		l->tsc_deadline = val;
}
