/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_env.h"
#include "hv/dev/pic.h"

struct cpu {
	struct pic p;
	bool intr;
	unsigned changes;
};

static void on_intr(void *ctx, bool level)
{
	struct cpu *c = ctx;

	assert_true(level != c->intr);
	c->intr = level;
	c->changes++;
}

static void m(struct cpu *c, unsigned off, unsigned v)
{
	pic_master_ops.write(&c->p, off, 1, v);
}

static void sl(struct cpu *c, unsigned off, unsigned v)
{
	pic_slave_ops.write(&c->p, off, 1, v);
}

static uint8_t rd(struct cpu *c, unsigned off)
{
	return (uint8_t)pic_master_ops.read(&c->p, off, 1);
}

static void start_with(struct cpu *c, unsigned icw4)
{
	memset(c, 0, sizeof(*c));
	pic_init(&c->p, on_intr, c);
	m(c, 0, 0x11);
	m(c, 1, 0x20);
	m(c, 1, 0x04);
	m(c, 1, icw4);
	sl(c, 0, 0x11);
	sl(c, 1, 0x28);
	sl(c, 1, 0x02);
	sl(c, 1, icw4 & ~0x10u);
	m(c, 1, 0);
	sl(c, 1, 0);
}

static void start(struct cpu *c)
{
	start_with(c, 0x01);
}

static void pulse(struct cpu *c, unsigned irq)
{
	pic_set_irq(&c->p, irq, true);
	pic_set_irq(&c->p, irq, false);
}

static void edge_on_both_chips(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	assert_false(c.intr);
	pulse(&c, 3);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x23);
	assert_false(c.intr);
	pulse(&c, 3);
	assert_false(c.intr); /* in service */
	pulse(&c, 1);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x21);
	m(&c, 0, 0x20);
	assert_false(c.intr);
	m(&c, 0, 0x20);
	assert_int_equal(pic_ack(&c.p), 0x23);
	m(&c, 0, 0x63);
	pulse(&c, 12);
	pulse(&c, 8);
	assert_int_equal(pic_ack(&c.p), 0x28);
	assert_false(c.intr);
	sl(&c, 0, 0x20);
	assert_false(c.intr); /* the master's input 2 is still in service */
	m(&c, 0, 0x20);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x2c);
	/* A line that stays high makes one interrupt. */
	start(&c);
	pic_set_irq(&c.p, 5, true);
	assert_int_equal(pic_ack(&c.p), 0x25);
	m(&c, 0, 0x20);
	pic_set_irq(&c.p, 5, true);
	assert_false(c.intr);
}

static void masks_and_reads(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	m(&c, 1, 0x08);
	pulse(&c, 3);
	assert_false(c.intr);
	assert_int_equal(rd(&c, 1), 0x08);
	assert_int_equal(rd(&c, 0), 0x08);
	m(&c, 1, 0);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x23);
	m(&c, 0, 0x0b);
	assert_int_equal(rd(&c, 0), 0x08);
	m(&c, 0, 0x0a);
	assert_int_equal(rd(&c, 0), 0x00);
	pic_set_irq(&c.p, 2, true);
	pic_set_irq(&c.p, 99, true);
	assert_int_equal(rd(&c, 0), 0);
	/* Unprogrammed chips are silent. */
	pic_init(&c.p, NULL, NULL);
	pic_set_irq(&c.p, 0, true);
	assert_false(pic_intr(&c.p));
}

static void level_follows_line(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	pic_elcr_ops.write(&c.p, 0, 2, 0xffff);
	assert_int_equal(pic_elcr_ops.read(&c.p, 0, 2), 0xdef8);
	pic_set_irq(&c.p, 9, true);
	assert_true(c.intr);
	pic_set_irq(&c.p, 9, false);
	m(&c, 1, 0x04); /* drop the cascade edge that stays latched */
	m(&c, 1, 0x00);
	pic_set_irq(&c.p, 9, true);
	assert_int_equal(pic_ack(&c.p), 0x29);
	sl(&c, 0, 0x20);
	m(&c, 0, 0x20);
	assert_true(c.intr); /* still asserted */
	assert_int_equal(pic_ack(&c.p), 0x29);
	pic_set_irq(&c.p, 9, false);
	sl(&c, 0, 0x20);
	m(&c, 0, 0x20);
	assert_false(c.intr);
	/* Changing to level while a line is high requests; back to edge withdraws. */
	pic_elcr_ops.write(&c.p, 0, 2, 0);
	pic_set_irq(&c.p, 5, true);
	assert_int_equal(pic_ack(&c.p), 0x25);
	m(&c, 0, 0x20);
	pic_elcr_ops.write(&c.p, 0, 1, 0x20);
	assert_true(c.intr);
	pic_elcr_ops.write(&c.p, 0, 1, 0);
	assert_false(c.intr);
}

static void spurious(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	assert_int_equal(pic_ack(&c.p), 0x27);
	m(&c, 0, 0x0b);
	assert_int_equal(rd(&c, 0), 0); /* no in-service bit */
	/* The slave withdraws its request after the master latched it. */
	pic_elcr_ops.write(&c.p, 1, 1, 0x02);
	pic_set_irq(&c.p, 9, true);
	pic_set_irq(&c.p, 9, false);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x2f);
	assert_int_equal(rd(&c, 0), 0x04);
	assert_int_equal(c.p.chip[1].isr, 0);
}

static void rotation_and_priority(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	m(&c, 0, 0xc4); /* input 4 becomes the lowest: 5 is the highest */
	pulse(&c, 0);
	pulse(&c, 5);
	assert_int_equal(pic_ack(&c.p), 0x25);
	m(&c, 0, 0xa0); /* rotate on non-specific EOI */
	pulse(&c, 5);
	assert_int_equal(pic_ack(&c.p), 0x20);
	m(&c, 0, 0xe0); /* rotate on specific EOI of 0 */
	pulse(&c, 0);
	assert_int_equal(pic_ack(&c.p), 0x25);
	m(&c, 0, 0x20);
	assert_int_equal(pic_ack(&c.p), 0x20);
}

static void auto_eoi(void **s)
{
	struct cpu c;

	(void)s;
	start_with(&c, 0x03);
	m(&c, 0, 0x80); /* rotate in automatic EOI mode */
	pulse(&c, 3);
	assert_int_equal(pic_ack(&c.p), 0x23);
	assert_int_equal(c.p.chip[0].isr, 0);
	pulse(&c, 3);
	pulse(&c, 4);
	assert_int_equal(pic_ack(&c.p), 0x24);
	m(&c, 0, 0x00);
	assert_int_equal(pic_ack(&c.p), 0x23);
	/* Two requests on a slave that completes by itself: both arrive. */
	pulse(&c, 10);
	pulse(&c, 11);
	assert_int_equal(pic_ack(&c.p), 0x2a);
	assert_int_equal(pic_ack(&c.p), 0x2b);
	assert_false(c.intr);
}

static void special_mask_and_nested(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	pulse(&c, 3);
	assert_int_equal(pic_ack(&c.p), 0x23);
	pulse(&c, 6);
	assert_false(c.intr);
	m(&c, 1, 0x08);
	m(&c, 0, 0x68); /* special mask mode: a masked level in service blocks nobody */
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x26);
	m(&c, 0, 0x20);
	assert_int_equal(c.p.chip[0].isr, 0x08);
	m(&c, 0, 0x20); /* does not reach the masked level */
	assert_int_equal(c.p.chip[0].isr, 0x08);
	m(&c, 0, 0x48);
	m(&c, 0, 0x20);
	assert_int_equal(c.p.chip[0].isr, 0);
	/* Special fully nested: a higher slave input interrupts the slave's routine. */
	start_with(&c, 0x11);
	pulse(&c, 12);
	assert_int_equal(pic_ack(&c.p), 0x2c);
	pulse(&c, 9);
	assert_true(c.intr);
	assert_int_equal(pic_ack(&c.p), 0x29);
	start(&c);
	pulse(&c, 12);
	assert_int_equal(pic_ack(&c.p), 0x2c);
	pulse(&c, 9);
	assert_false(c.intr);
}

static void poll_command(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	m(&c, 0, 0x0c);
	assert_int_equal(rd(&c, 0), 0);
	pulse(&c, 6);
	m(&c, 0, 0x0c);
	assert_int_equal(rd(&c, 0), 0x86);
	assert_int_equal(c.p.chip[0].isr, 0x40);
	assert_false(c.intr);
	assert_int_equal(rd(&c, 1), 0);
}

static void short_initializations(void **s)
{
	struct cpu c;

	(void)s;
	start(&c);
	m(&c, 0, 0x12); /* single, no ICW4 */
	m(&c, 1, 0x47);
	m(&c, 1, 0xfe);
	assert_int_equal(rd(&c, 1), 0xfe);
	pulse(&c, 0);
	assert_int_equal(pic_ack(&c.p), 0x40);
	m(&c, 0, 0x10); /* cascade, no ICW4 */
	m(&c, 1, 0x50);
	m(&c, 1, 0x04);
	m(&c, 1, 0xfd);
	assert_int_equal(rd(&c, 1), 0xfd);
	m(&c, 0, 0x13); /* single with ICW4 */
	m(&c, 1, 0x60);
	m(&c, 1, 0x02);
	assert_true(c.p.chip[0].auto_eoi);
	pic_reset(&c.p);
	assert_int_equal(rd(&c, 1), 0xff);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(edge_on_both_chips),	   cmocka_unit_test(masks_and_reads),
		cmocka_unit_test(level_follows_line),	   cmocka_unit_test(spurious),
		cmocka_unit_test(rotation_and_priority),   cmocka_unit_test(auto_eoi),
		cmocka_unit_test(special_mask_and_nested), cmocka_unit_test(poll_command),
		cmocka_unit_test(short_initializations),
	};
	return cmocka_run_group_tests_name("pic", t, NULL, NULL);
}
