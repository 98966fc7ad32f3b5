/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reset: reset control register, 8042 and port 0x92.
 *
 * Called from: exit path, under the VM's device lock.  The keyboard controller
 * is absent as a keyboard but harmless: always ready, never with data except
 * the output port it was asked for.  A20 is always open; its bits only read
 * back.  Pure (tests/host/test_small_dev.c).
 */
#include "hv/dev/reset.h"

#define RST_CPU	     BIT(2)
#define RST_CNT_MASK 0x0e

#define KBD_STATUS_OBF BIT(0)
#define KBD_READ_P2    0xd0
#define KBD_WRITE_P2   0xd1
#define P2_RESET_N     BIT(0) /* low resets */
#define P2_A20	       BIT(1)

#define SYSCTL_RESET BIT(0)
#define SYSCTL_A20   BIT(1)

uint8_t reset_cf9_read(const struct reset_dev *r)
{
	return r->rst_cnt;
}

void reset_cf9_write(struct reset_dev *r, uint8_t val)
{
	r->rst_cnt = val & RST_CNT_MASK;
	if (val & RST_CPU)
		r->reset(r->ctx);
}

static uint64_t cf8_read(void *dev, uint64_t off, unsigned size)
{
	return off == 1 && size == 1 ? reset_cf9_read(dev) : ~0ULL;
}

static void cf8_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	if (off == 1 && size == 1)
		reset_cf9_write(dev, (uint8_t)val);
}

static uint64_t kbd_data_read(void *dev, uint64_t off, unsigned size)
{
	struct reset_dev *r = dev;
	uint8_t v = r->out_full ? r->out_port : 0;

	(void)off;
	(void)size;
	r->out_full = false;
	return v;
}

static void kbd_data_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct reset_dev *r = dev;

	(void)off;
	(void)size;
	if (!r->expect_p2)
		return;
	r->expect_p2 = false;
	r->out_port = (uint8_t)val | P2_RESET_N;
	if (!(val & P2_RESET_N))
		r->reset(r->ctx);
}

static uint64_t kbd_command_read(void *dev, uint64_t off, unsigned size)
{
	struct reset_dev *r = dev;

	(void)off;
	(void)size;
	return r->out_full ? KBD_STATUS_OBF : 0;
}

static void kbd_command_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct reset_dev *r = dev;
	uint8_t cmd = (uint8_t)val;

	(void)off;
	(void)size;
	r->expect_p2 = cmd == KBD_WRITE_P2;
	if (cmd == KBD_READ_P2)
		r->out_full = true;
	/* 0xf0-0xff pulse the output lines whose bit is 0; line 0 is reset. */
	if ((cmd & 0xf1) == 0xf0)
		r->reset(r->ctx);
}

static uint64_t sysctl_read(void *dev, uint64_t off, unsigned size)
{
	const struct reset_dev *r = dev;

	(void)off;
	(void)size;
	return r->sysctl;
}

static void sysctl_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct reset_dev *r = dev;

	(void)off;
	(void)size;
	r->sysctl = val & SYSCTL_A20;
	if (val & SYSCTL_RESET)
		r->reset(r->ctx);
}

const struct dev_ops reset_cf8_ops = {.read = cf8_read, .write = cf8_write};
const struct dev_ops reset_kbd_data_ops = {.read = kbd_data_read, .write = kbd_data_write};
const struct dev_ops reset_kbd_command_ops = {.read = kbd_command_read, .write = kbd_command_write};
const struct dev_ops reset_sysctl_ops = {.read = sysctl_read, .write = sysctl_write};

void reset_dev_init(struct reset_dev *r, void (*reset)(void *ctx), void *ctx)
{
	*r = (struct reset_dev){.reset = reset, .ctx = ctx};
	reset_dev_reset(r);
}

void reset_dev_reset(struct reset_dev *r)
{
	r->rst_cnt = 0;
	r->sysctl = SYSCTL_A20;
	r->out_port = P2_RESET_N | P2_A20;
	r->out_full = false;
	r->expect_p2 = false;
}
