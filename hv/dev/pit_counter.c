/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pit_counter: 8254 counting modes.
 *
 * Called from: pit.c, under the VM's device lock.
 * Invariants: count and next are 1 to 65536, and at least 2 in modes 2 and 3,
 * where 1 is illegal; edge lies after every edge that was reported.
 * The one tick between a write and its load is left out.  Pure
 * (tests/host/test_pit_counter.c).  Spec: Intel 82C54 data sheet, "Mode definitions".
 */
#include "hv/dev/pit_counter.h"

#define WORD_BCD(w)    ((w)&1)
#define WORD_MODE(w)   ((w) >> 1 & 7)
#define WORD_ACCESS(w) ((w) >> 4 & 3)

#define ACCESS_LATCH 0
#define ACCESS_LOW   1
#define ACCESS_HIGH  2
#define ACCESS_BOTH  3

#define STATUS_OUT  BIT(7)
#define STATUS_NULL BIT(6)

static bool periodic(const struct pit_counter *c)
{
	return c->mode == 2 || c->mode == 3;
}

static bool gate_triggered(const struct pit_counter *c)
{
	return c->mode == 1 || c->mode == 5;
}

static uint32_t modulus(const struct pit_counter *c)
{
	return c->bcd ? 10000 : 65536;
}

/* The count that @raw stands for; digits above 9 count as they weigh. */
static uint32_t decode(const struct pit_counter *c, uint16_t raw)
{
	uint32_t n = raw;

	if (c->bcd)
		n = ((n >> 12) * 1000u + (n >> 8 & 15) * 100u + (n >> 4 & 15) * 10u + (n & 15)) %
		    10000u;
	if (n == 0)
		n = modulus(c);
	return n == 1 && periodic(c) ? 2 : n;
}

static uint16_t encode(const struct pit_counter *c, uint32_t n)
{
	n %= modulus(c);
	if (!c->bcd)
		return (uint16_t)n;
	return (uint16_t)(n / 1000 << 12 | n / 100 % 10 << 8 | n / 10 % 10 << 4 | n % 10);
}

/* Ticks that the running count has seen. */
static uint64_t elapsed(const struct pit_counter *c, uint64_t now)
{
	return c->running ? now - c->start : c->held;
}

/* Modes 2 and 3 load a new count when the period ends. */
static void settle(struct pit_counter *c, uint64_t now)
{
	uint64_t end;

	if (!periodic(c) || !c->running || !c->null_count)
		return;
	end = c->start + c->count;
	if (now < end)
		return;
	c->start = end;
	c->count = c->next;
	c->null_count = false;
}

/* The first rising edge of OUT after tick @after, were counting to go on undisturbed. */
static uint64_t edge_after(const struct pit_counter *c, uint64_t after)
{
	uint64_t end = c->start + c->count;

	if (!c->loaded || !c->running)
		return PIT_NEVER;
	if (c->mode >= 4) /* the strobe is low for one tick */
		end++;
	if (after < end)
		return end;
	return periodic(c) ? end + ((after - end) / c->count + 1) * c->count : PIT_NEVER;
}

static void begin(struct pit_counter *c, uint64_t now)
{
	c->count = c->next;
	c->start = now;
	c->held = 0;
	c->null_count = false;
	c->running = true;
	c->edge = edge_after(c, now);
}

static void stop(struct pit_counter *c, uint64_t now)
{
	c->held = elapsed(c, now);
	c->running = false;
	c->edge = PIT_NEVER;
}

void pit_counter_reset(struct pit_counter *c, bool gate)
{
	*c = (struct pit_counter){.access = ACCESS_BOTH,
				  .gate = gate,
				  .count = 65536,
				  .next = 65536,
				  .edge = PIT_NEVER};
}

void pit_counter_control(struct pit_counter *c, uint8_t word, uint64_t now)
{
	if (WORD_ACCESS(word) == ACCESS_LATCH) {
		pit_counter_latch_count(c, now);
		return;
	}
	pit_counter_reset(c, c->gate);
	c->access = WORD_ACCESS(word);
	c->bcd = WORD_BCD(word);
	c->mode = WORD_MODE(word);
	if (c->mode > 5) /* its highest bit is "don't care" in modes 2 and 3 */
		c->mode -= 4;
	c->null_count = true;
}

static void load(struct pit_counter *c, uint16_t raw, uint64_t now)
{
	bool first = !c->loaded;

	settle(c, now);
	c->next = decode(c, raw);
	c->loaded = true;
	c->null_count = true;
	if (gate_triggered(c))
		return;
	if (periodic(c) && !first && c->running) {
		/* From here on settle() finds the end of the period that runs now. */
		c->start = now - elapsed(c, now) % c->count;
		return;
	}
	if (c->gate) {
		begin(c, now);
		return;
	}
	c->count = c->next;
	c->held = 0;
	c->null_count = false;
	c->running = false;
	c->edge = PIT_NEVER;
}

void pit_counter_write(struct pit_counter *c, uint8_t val, uint64_t now)
{
	switch (c->access) {
	case ACCESS_LOW:
		load(c, val, now);
		break;
	case ACCESS_HIGH:
		load(c, (uint16_t)(val << 8), now);
		break;
	default:
		if (c->write_high) {
			load(c, (uint16_t)(val << 8 | c->low), now);
		} else {
			c->low = val;
			/* Mode 0 stops between the bytes, and OUT goes low. */
			if (c->mode == 0) {
				stop(c, now);
				c->held = 0;
			}
		}
		c->write_high = !c->write_high;
		break;
	}
}

/* Mode 3 counts down by two, once for each half of the period. */
static uint32_t square_wave_value(const struct pit_counter *c, uint64_t t)
{
	uint32_t x = (uint32_t)(t % c->count), high = (c->count + 1) / 2;

	return (c->count & ~1u) - 2 * (x < high ? x : x - high);
}

static uint16_t value(struct pit_counter *c, uint64_t now)
{
	uint64_t t = elapsed(c, now);

	switch (c->mode) {
	case 2:
		return encode(c, c->count - (uint32_t)(t % c->count));
	case 3:
		return encode(c, square_wave_value(c, t));
	default: /* counts on below 0 */
		return encode(c, c->count + modulus(c) - (uint32_t)(t % modulus(c)));
	}
}

bool pit_counter_out(struct pit_counter *c, uint64_t now)
{
	uint64_t t;

	settle(c, now);
	t = elapsed(c, now);
	switch (c->mode) {
	case 0:
		return c->loaded && t >= c->count;
	case 1:
		return !c->running || t >= c->count;
	case 2:
		return !c->running || t % c->count != c->count - 1;
	case 3:
		return !c->running || t % c->count < (c->count + 1) / 2;
	default:
		return !c->running || t != c->count;
	}
}

void pit_counter_latch_count(struct pit_counter *c, uint64_t now)
{
	if (c->latch_left) /* a second latch before the read is ignored */
		return;
	settle(c, now);
	c->latch = value(c, now);
	c->latch_left = c->access == ACCESS_BOTH ? 2 : 1;
}

void pit_counter_latch_status(struct pit_counter *c, uint64_t now)
{
	bool out = pit_counter_out(c, now);

	if (c->status_latched)
		return;
	c->status = (uint8_t)((unsigned)c->access << 4 | (unsigned)c->mode << 1 | c->bcd);
	if (out)
		c->status |= STATUS_OUT;
	if (c->null_count)
		c->status |= STATUS_NULL;
	c->status_latched = true;
}

uint8_t pit_counter_read(struct pit_counter *c, uint64_t now)
{
	uint16_t v;
	bool high;

	if (c->status_latched) {
		c->status_latched = false;
		return c->status;
	}
	settle(c, now);
	v = c->latch_left ? c->latch : value(c, now);
	high = c->access == ACCESS_HIGH || (c->access == ACCESS_BOTH && c->read_high);
	if (c->access == ACCESS_BOTH)
		c->read_high = !c->read_high;
	if (c->latch_left)
		c->latch_left--;
	return (uint8_t)(high ? v >> 8 : v);
}

void pit_counter_set_gate(struct pit_counter *c, bool gate, uint64_t now)
{
	bool was = c->gate;

	settle(c, now);
	c->gate = gate;
	if (!c->loaded || gate == was)
		return;
	if (gate_triggered(c)) {
		if (gate)
			begin(c, now);
	} else if (!gate) {
		stop(c, now);
	} else if (periodic(c)) {
		begin(c, now);
	} else {
		c->running = true;
		c->start = now - c->held;
		c->edge = edge_after(c, now);
	}
}

bool pit_counter_take_edge(struct pit_counter *c, uint64_t now)
{
	settle(c, now);
	if (now < c->edge)
		return false;
	c->edge = edge_after(c, now);
	return true;
}
