/* SPDX-License-Identifier: BSD-2-Clause */
/* uart16550: the machine's serial port. */
#include "drivers/uart16550.h"

#include "hv/io.h"

enum { RBR = 0, THR = 0, DLL = 0, IER = 1, DLM = 1, FCR = 2, LCR = 3, MCR = 4, LSR = 5, SCR = 7 };

#define IER_RX	   0x01
#define LCR_8N1	   0x03
#define LCR_DLAB   0x80
#define FCR_ENABLE 0x07 /* FIFOs on, both cleared */
#define MCR_DTR_RTS_OUT2 0x0b
#define MCR_DTR_OUT2 0x09
#define LSR_DR	   0x01
#define LSR_OE	   0x02
#define LSR_THRE   0x20

#define TX_FIFO	      16
#define TX_WAIT_TURNS 1000000

static uint8_t get_reg(struct uart16550 *u, unsigned r)
{
	return u->mmio ? u->regs[r * u->stride] : inb((uint16_t)(u->port + r * u->stride));
}

static void set_reg(struct uart16550 *u, unsigned r, uint8_t v)
{
	if (u->mmio)
		u->regs[r * u->stride] = v;
	else
		outb((uint16_t)(u->port + r * u->stride), v);
}

enum hv_status uart16550_init(struct uart16550 *u, const struct config_console *c)
{
	uint32_t divisor = c->clock / 16 / (c->baud ? c->baud : 1);

	if (!divisor || divisor > 0xffff)
		return HV_RANGE;
	*u = (struct uart16550){
		.mmio = c->kind == CONSOLE_MMIO,
		.stride = c->stride,
		.port = (uint16_t)c->base,
		.regs = (volatile uint8_t *)c->base,
	};
	set_reg(u, SCR, 0x5a);
	if (get_reg(u, SCR) != 0x5a)
		return HV_NOENT;
	set_reg(u, IER, 0);
	set_reg(u, LCR, LCR_8N1 | LCR_DLAB);
	set_reg(u, DLL, (uint8_t)divisor);
	set_reg(u, DLM, (uint8_t)(divisor >> 8));
	set_reg(u, LCR, LCR_8N1);
	set_reg(u, FCR, FCR_ENABLE);
	set_reg(u, MCR, MCR_DTR_RTS_OUT2);
	return HV_OK;
}

unsigned uart16550_tx_room(struct uart16550 *u)
{
	return get_reg(u, LSR) & LSR_THRE ? TX_FIFO : 0;
}

void uart16550_put_nowait(struct uart16550 *u, uint8_t c)
{
	set_reg(u, THR, c);
}

void uart16550_put(struct uart16550 *u, char c)
{
	unsigned turns = TX_WAIT_TURNS;

	while (!uart16550_tx_room(u)) {
		if (!--turns) {
			u->dropped++;
			return;
		}
		cpu_relax();
	}
	uart16550_put_nowait(u, (uint8_t)c);
}

void uart16550_write_text(struct uart16550 *u, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			uart16550_put(u, '\r');
		uart16550_put(u, *s);
	}
}

void uart16550_rx_interrupt(struct uart16550 *u, bool on)
{
	set_reg(u, IER, on ? IER_RX : 0);
}

void uart16550_rts(struct uart16550 *u, bool on)
{
	set_reg(u, MCR, on ? MCR_DTR_RTS_OUT2 : MCR_DTR_OUT2);
}

int uart16550_get(struct uart16550 *u)
{
	uint8_t lsr = get_reg(u, LSR);

	/* Of a port that has gone all bits are set. */
	if ((lsr & LSR_OE) && lsr != 0xff)
		u->overruns++;
	return lsr & LSR_DR ? get_reg(u, RBR) : -1;
}
