/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pit: ports, time base and interrupt of the 8254.
 *
 * Called from: exit path and timer, under the VM's device lock.
 * However short a period the guest programs, IRQ 0 rises no more often than
 * every MIN_FIRE_NS, so that exits alone cannot keep a CPU busy.
 * Pure (tests/host/test_pit.c).
 */
#include "hv/dev/bytes.h"
#include "hv/dev/pit.h"

#define NS_PER_S    1000000000ULL
#define MIN_FIRE_NS 20000ULL

#define CONTROL		    3
#define SELECT_READ_BACK    3
#define READ_BACK_NO_COUNT  BIT(5)
#define READ_BACK_NO_STATUS BIT(4)

#define PORT_B_GATE2	BIT(0)
#define PORT_B_WRITABLE 0x0f
#define PORT_B_REFRESH	BIT(4)
#define PORT_B_OUT2	BIT(5)
/* The refresh bit toggles at the rate at which counter 1 refreshed DRAM. */
#define REFRESH_NS 15085

static uint64_t ticks(const struct pit *p)
{
	return mul_div(p->env->now_ns(p->env->ctx), PIT_HZ, NS_PER_S);
}

static void drive(struct pit *p, bool level)
{
	if (level == p->line)
		return;
	p->line = level;
	p->env->set_irq(p->env->ctx, PIT_IRQ, level);
}

uint64_t pit_next_deadline_ns(const struct pit *p)
{
	uint64_t edge = p->counter[0].edge;
	uint64_t paced = p->fired_ns ? p->fired_ns + MIN_FIRE_NS : 0;

	if (edge == PIT_NEVER)
		return DEV_NO_DEADLINE;
	/* One more nanosecond, for the tick count rounds down. */
	return max_u64(mul_div(edge, NS_PER_S, PIT_HZ) + 1, paced);
}

void pit_poll(struct pit *p)
{
	uint64_t now = p->env->now_ns(p->env->ctx), tick = ticks(p);

	if (now >= pit_next_deadline_ns(p) && pit_counter_take_edge(&p->counter[0], tick)) {
		p->fired_ns = now;
		/* OUT was low before it rose, however short. */
		drive(p, false);
		drive(p, true);
	}
}

/* After software touched counter 0: its output may have changed at once. */
static void follow_output(struct pit *p)
{
	drive(p, pit_counter_out(&p->counter[0], ticks(p)));
}

static void read_back(struct pit *p, uint8_t word)
{
	uint64_t now = ticks(p);

	for (unsigned i = 0; i < 3; i++) {
		if (!(word & BIT(i + 1)))
			continue;
		if (!(word & READ_BACK_NO_COUNT))
			pit_counter_latch_count(&p->counter[i], now);
		if (!(word & READ_BACK_NO_STATUS))
			pit_counter_latch_status(&p->counter[i], now);
	}
}

static uint8_t read_byte(void *dev, unsigned off)
{
	struct pit *p = dev;

	pit_poll(p);
	return off < CONTROL ? pit_counter_read(&p->counter[off], ticks(p)) : 0xff;
}

static void write_byte(void *dev, unsigned off, uint8_t val)
{
	struct pit *p = dev;
	unsigned select = off == CONTROL ? val >> 6 : off;

	pit_poll(p);
	if (select == SELECT_READ_BACK) {
		read_back(p, val);
		return;
	}
	if (off == CONTROL)
		pit_counter_control(&p->counter[select], val, ticks(p));
	else if (off < CONTROL)
		pit_counter_write(&p->counter[off], val, ticks(p));
	if (select == 0)
		follow_output(p);
}

static uint64_t pit_read(void *dev, uint64_t off, unsigned size)
{
	return dev_read_bytes(dev, off, size, read_byte);
}

static void pit_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	dev_write_bytes(dev, off, size, val, write_byte);
}

static uint64_t port_b_read(void *dev, uint64_t off, unsigned size)
{
	struct pit *p = dev;
	uint64_t v = p->port_b;

	(void)off;
	(void)size;
	if (p->env->now_ns(p->env->ctx) / REFRESH_NS & 1)
		v |= PORT_B_REFRESH;
	if (pit_counter_out(&p->counter[2], ticks(p)))
		v |= PORT_B_OUT2;
	return v;
}

static void port_b_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct pit *p = dev;

	(void)off;
	(void)size;
	p->port_b = val & PORT_B_WRITABLE;
	pit_counter_set_gate(&p->counter[2], val & PORT_B_GATE2, ticks(p));
}

const struct dev_ops pit_ops = {.read = pit_read, .write = pit_write};
const struct dev_ops pit_port_b_ops = {.read = port_b_read, .write = port_b_write};

void pit_init(struct pit *p, const struct dev_env *env)
{
	*p = (struct pit){.env = env};
	pit_reset(p);
}

void pit_reset(struct pit *p)
{
	for (unsigned i = 0; i < 3; i++)
		pit_counter_reset(&p->counter[i], i != 2);
	p->port_b = 0;
	p->fired_ns = 0;
	drive(p, false);
}
