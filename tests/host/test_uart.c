/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_env.h"
#include "hv/dev/uart.h"

#define LINE UART_IRQ

struct port {
	struct fake_env e;
	struct uart u;
	uint8_t out[64];
	unsigned n;
};

static void take(void *ctx, uint8_t byte)
{
	struct port *p = ctx;

	p->out[p->n++ % sizeof(p->out)] = byte;
}

static void start(struct port *p)
{
	memset(p, 0, sizeof(*p));
	fake_env_init(&p->e);
	uart_init(&p->u, &p->e.env, UART_IRQ, take, p);
}

static uint8_t in(struct port *p, unsigned off)
{
	return (uint8_t)uart_ops.read(&p->u, off, 1);
}

static void out(struct port *p, unsigned off, unsigned val)
{
	uart_ops.write(&p->u, off, 1, val);
}

static void transmits_and_keeps_registers(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	out(&p, 0, 'A');
	assert_int_equal(p.n, 1);
	assert_int_equal(p.out[0], 'A');
	assert_int_equal(in(&p, 5), 0x60);
	out(&p, 3, 0x83);
	out(&p, 0, 0x34);
	out(&p, 1, 0x12);
	assert_int_equal(in(&p, 0), 0x34);
	assert_int_equal(in(&p, 1), 0x12);
	out(&p, 3, 0x03);
	assert_int_equal(in(&p, 1), 0);
	assert_int_equal(p.n, 1);
	out(&p, 7, 0xa5);
	assert_int_equal(in(&p, 7), 0xa5);
	out(&p, 1, 0xff);
	assert_int_equal(in(&p, 1), 0x0f);
	out(&p, 4, 0xff);
	assert_int_equal(in(&p, 4), 0x1f);
	/* LSR and MSR ignore writes. */
	out(&p, 4, 0);
	in(&p, 6);
	out(&p, 5, 0xff);
	out(&p, 6, 0xff);
	assert_int_equal(in(&p, 5), 0x60);
	assert_int_equal(in(&p, 6), 0xb0);
}

static void thre_interrupt_ends_by_reading_iir(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	out(&p, 1, 0x02);
	assert_false(p.e.line[LINE]); /* OUT2 gates it */
	out(&p, 4, 0x08);
	assert_true(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0x02);
	assert_false(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0x01);
	out(&p, 0, 'x');
	assert_true(p.e.line[LINE]);
	out(&p, 1, 0x00);
	assert_false(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0x01);
	out(&p, 1, 0x02);
	assert_true(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0x02);
	/* Writing IER again without an edge of ETBEI requests nothing. */
	out(&p, 1, 0x02);
	assert_false(p.e.line[LINE]);
}

static void receives_without_fifo(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	assert_int_equal(uart_rx_room(&p.u), 1);
	assert_true(uart_rx(&p.u, 'a'));
	assert_false(uart_rx(&p.u, 'b'));
	assert_false(p.e.line[LINE]);
	out(&p, 4, 0x08);
	out(&p, 1, 0x01);
	assert_true(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0x04);
	assert_true(p.e.line[LINE]); /* reading IIR does not end this one */
	assert_int_equal(in(&p, 5), 0x61);
	assert_int_equal(in(&p, 0), 'a');
	assert_false(p.e.line[LINE]);
	assert_int_equal(in(&p, 5), 0x60);
	assert_int_equal(in(&p, 0), 0);
}

static void receives_with_fifo_and_triggers(void **s)
{
	static const uint8_t level[] = {1, 4, 8, 14};
	struct port p;

	(void)s;
	for (unsigned t = 0; t < 4; t++) {
		start(&p);
		out(&p, 4, 0x08);
		out(&p, 1, 0x01);
		out(&p, 2, t << 6 | 1);
		for (unsigned i = 1; i <= 16; i++) {
			assert_int_equal(uart_rx_room(&p.u), 17 - i);
			assert_true(uart_rx(&p.u, (uint8_t)i));
			assert_true(p.e.line[LINE]);
			assert_int_equal(in(&p, 2), i >= level[t] ? 0xc4 : 0xcc);
		}
		assert_false(uart_rx(&p.u, 17));
		for (unsigned i = 1; i <= 16; i++)
			assert_int_equal(in(&p, 0), i);
		assert_false(p.e.line[LINE]);
		assert_int_equal(p.e.rises[LINE], 1);
	}
	/* Clearing or turning off the FIFO drops what it held. */
	assert_true(uart_rx(&p.u, 1));
	out(&p, 2, 0x03);
	assert_int_equal(in(&p, 5), 0x60);
	assert_true(uart_rx(&p.u, 1));
	out(&p, 2, 0x00);
	assert_int_equal(in(&p, 5), 0x60);
	assert_int_equal(in(&p, 2), 0x01);
}

static void loopback(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	out(&p, 2, 0x01);
	in(&p, 6);
	out(&p, 4, 0x10);
	assert_int_equal(in(&p, 6) & 0xf0, 0);
	out(&p, 4, 0x1a);
	assert_int_equal(in(&p, 6), 0x99); /* RTS, OUT2 -> CTS, DCD and their deltas */
	assert_int_equal(in(&p, 6), 0x90);
	out(&p, 4, 0x1e);
	assert_int_equal(in(&p, 6), 0xd0); /* RI rising is no delta */
	out(&p, 4, 0x1a);
	assert_int_equal(in(&p, 6), 0x94);
	assert_int_equal(uart_rx_room(&p.u), 0);
	assert_false(uart_rx(&p.u, 1));
	for (unsigned i = 0; i < 17; i++)
		out(&p, 0, i);
	assert_int_equal(p.n, 0);
	assert_int_equal(in(&p, 5), 0x63); /* overrun, cleared by this read */
	assert_int_equal(in(&p, 5), 0x61);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(in(&p, 0), i);
}

static void interrupts_rank_by_priority(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	out(&p, 2, 0x01);
	out(&p, 4, 0x18);
	for (unsigned i = 0; i < 17; i++)
		out(&p, 0, i);
	out(&p, 1, 0x0f);
	assert_true(p.e.line[LINE]);
	assert_int_equal(in(&p, 2), 0xc6);
	in(&p, 5);
	assert_int_equal(in(&p, 2), 0xc4);
	out(&p, 2, 0x03);
	assert_int_equal(in(&p, 2), 0xc2);
	assert_int_equal(in(&p, 2), 0xc0);
	in(&p, 6);
	assert_int_equal(in(&p, 2), 0xc1);
	assert_false(p.e.line[LINE]);
	uart_reset(&p.u);
	assert_int_equal(in(&p, 2), 0x01);
	assert_int_equal(in(&p, 4), 0);
}

static void wide_accesses_are_bytes(void **s)
{
	struct port p;

	(void)s;
	start(&p);
	uart_ops.write(&p.u, 3, 2, 0x0b03);
	assert_int_equal(in(&p, 3), 0x03);
	assert_int_equal(in(&p, 4), 0x0b);
	assert_int_equal(uart_ops.read(&p.u, 3, 4), 0xb0600b03);
	assert_int_equal(uart_ops.read(&p.u, 0, 8) >> 24, 0x00b0600b03);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(transmits_and_keeps_registers),
		cmocka_unit_test(thre_interrupt_ends_by_reading_iir),
		cmocka_unit_test(receives_without_fifo),
		cmocka_unit_test(receives_with_fifo_and_triggers),
		cmocka_unit_test(loopback),
		cmocka_unit_test(interrupts_rank_by_priority),
		cmocka_unit_test(wide_accesses_are_bytes),
	};
	return cmocka_run_group_tests_name("uart", t, NULL, NULL);
}
