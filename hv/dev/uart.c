/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uart: 16550A register model.
 *
 * Called from: exit path and the console, under the VM's device lock.
 * Invariant: line equals (any enabled source pending) && MCR.OUT2, which gates
 * the interrupt on a PC.  Pure (tests/host/test_uart.c).
 * Spec: National PC16550D data sheet, section 8.
 */
#include "hv/dev/bytes.h"
#include "hv/dev/uart.h"

enum { RBR_THR, IER, IIR_FCR, LCR, MCR, LSR, MSR, SCR };

#define IER_ERBFI BIT(0) /* received data */
#define IER_ETBEI BIT(1) /* transmitter holding register empty */
#define IER_ELSI  BIT(2) /* receiver line status */
#define IER_EDSSI BIT(3) /* modem status */
#define IER_ALL	  0x0f

#define IIR_NONE	0x01
#define IIR_MODEM	0x00
#define IIR_THRE	0x02
#define IIR_RX_DATA	0x04
#define IIR_LINE_STATUS 0x06
#define IIR_TIMEOUT	0x0c
#define IIR_FIFOS	0xc0

#define FCR_ENABLE   BIT(0)
#define FCR_RX_RESET BIT(1)

#define LCR_DLAB BIT(7)

#define MCR_DTR	 BIT(0)
#define MCR_RTS	 BIT(1)
#define MCR_OUT1 BIT(2)
#define MCR_OUT2 BIT(3)
#define MCR_LOOP BIT(4)
#define MCR_ALL	 0x1f

#define LSR_DR	 BIT(0)
#define LSR_OE	 BIT(1)
#define LSR_THRE BIT(5)
#define LSR_TEMT BIT(6)

#define MSR_DELTAS 0x0f
#define MSR_TERI   BIT(2)
#define MSR_CTS	   BIT(4)
#define MSR_DSR	   BIT(5)
#define MSR_RI	   BIT(6)
#define MSR_DCD	   BIT(7)

static unsigned rx_size(const struct uart *u)
{
	return u->fcr & FCR_ENABLE ? UART_FIFO : 1;
}

static unsigned rx_trigger(const struct uart *u)
{
	static const uint8_t level[] = {1, 4, 8, 14};

	return u->fcr & FCR_ENABLE ? level[u->fcr >> 6] : 1;
}

/* The highest enabled source, as IIR bits 3:0 name it. */
static uint8_t pending_source(const struct uart *u)
{
	if (u->ier & IER_ELSI && u->lsr_errors)
		return IIR_LINE_STATUS;
	if (u->ier & IER_ERBFI && u->rx_count >= rx_trigger(u))
		return IIR_RX_DATA;
	if (u->ier & IER_ERBFI && u->rx_count)
		return IIR_TIMEOUT;
	if (u->ier & IER_ETBEI && u->thre_pending)
		return IIR_THRE;
	if (u->ier & IER_EDSSI && u->msr & MSR_DELTAS)
		return IIR_MODEM;
	return IIR_NONE;
}

static void update_line(struct uart *u)
{
	bool line = pending_source(u) != IIR_NONE && u->mcr & MCR_OUT2;

	if (line == u->line)
		return;
	u->line = line;
	u->env->set_irq(u->env->ctx, u->gsi, line);
}

/* Modem inputs: a cable with everything asserted, or MCR's outputs in loopback. */
static uint8_t modem_inputs(const struct uart *u)
{
	uint8_t m = 0;

	if (!(u->mcr & MCR_LOOP))
		return MSR_CTS | MSR_DSR | MSR_DCD;
	if (u->mcr & MCR_RTS)
		m |= MSR_CTS;
	if (u->mcr & MCR_DTR)
		m |= MSR_DSR;
	if (u->mcr & MCR_OUT1)
		m |= MSR_RI;
	if (u->mcr & MCR_OUT2)
		m |= MSR_DCD;
	return m;
}

static void update_modem(struct uart *u)
{
	uint8_t old = u->msr & 0xf0, now = modem_inputs(u);
	uint8_t delta = (uint8_t)((old ^ now) >> 4);

	/* TERI reports only the trailing edge of RI. */
	if (now & MSR_RI)
		delta &= (uint8_t)~MSR_TERI;
	u->msr = (uint8_t)(now | (u->msr & MSR_DELTAS) | delta);
}

static void rx_clear(struct uart *u)
{
	u->rx_head = 0;
	u->rx_count = 0;
}

static void rx_push(struct uart *u, uint8_t byte)
{
	if (u->rx_count < rx_size(u)) {
		u->rx[(u->rx_head + u->rx_count) % UART_FIFO] = byte;
		u->rx_count++;
		return;
	}
	/* The FIFO keeps what it has; a lone RBR is overwritten. */
	u->lsr_errors |= LSR_OE;
	if (!(u->fcr & FCR_ENABLE))
		u->rx[u->rx_head] = byte;
}

static uint8_t rx_pop(struct uart *u)
{
	uint8_t byte = u->rx[u->rx_head];

	if (!u->rx_count)
		return 0;
	u->rx_head = (uint8_t)((u->rx_head + 1) % UART_FIFO);
	u->rx_count--;
	return byte;
}

static uint8_t read_iir(struct uart *u)
{
	uint8_t source = pending_source(u);

	if (source == IIR_THRE)
		u->thre_pending = false;
	return source | (u->fcr & FCR_ENABLE ? IIR_FIFOS : 0);
}

static uint8_t read_lsr(struct uart *u)
{
	uint8_t v = LSR_THRE | LSR_TEMT | u->lsr_errors;

	if (u->rx_count)
		v |= LSR_DR;
	u->lsr_errors = 0;
	return v;
}

static uint8_t read_msr(struct uart *u)
{
	uint8_t v = u->msr;

	u->msr &= (uint8_t)~MSR_DELTAS;
	return v;
}

static uint8_t read_reg(struct uart *u, unsigned off)
{
	bool dlab = u->lcr & LCR_DLAB;

	switch (off) {
	case RBR_THR:
		return dlab ? u->dll : rx_pop(u);
	case IER:
		return dlab ? u->dlm : u->ier;
	case IIR_FCR:
		return read_iir(u);
	case LCR:
		return u->lcr;
	case MCR:
		return u->mcr;
	case LSR:
		return read_lsr(u);
	case MSR:
		return read_msr(u);
	case SCR:
		return u->scr;
	default:
		return 0xff;
	}
}

static void write_thr(struct uart *u, uint8_t val)
{
	if (u->mcr & MCR_LOOP)
		rx_push(u, val);
	else
		u->tx(u->tx_ctx, val);
	u->thre_pending = true;
}

static void write_ier(struct uart *u, uint8_t val)
{
	/* Enabling the source while THR is empty, as it always is, requests at once. */
	if (~u->ier & val & IER_ETBEI)
		u->thre_pending = true;
	u->ier = val & IER_ALL;
}

static void write_fcr(struct uart *u, uint8_t val)
{
	bool toggled = (u->fcr ^ val) & FCR_ENABLE;

	if (toggled || val & FCR_RX_RESET)
		rx_clear(u);
	/* The other bits are not programmed unless FIFOs are enabled. */
	u->fcr = val & FCR_ENABLE ? val & (0xc0 | FCR_ENABLE) : 0;
}

static void write_reg(struct uart *u, unsigned off, uint8_t val)
{
	bool dlab = u->lcr & LCR_DLAB;

	switch (off) {
	case RBR_THR:
		if (dlab)
			u->dll = val;
		else
			write_thr(u, val);
		break;
	case IER:
		if (dlab)
			u->dlm = val;
		else
			write_ier(u, val);
		break;
	case IIR_FCR:
		write_fcr(u, val);
		break;
	case LCR:
		u->lcr = val;
		break;
	case MCR:
		u->mcr = val & MCR_ALL;
		update_modem(u);
		break;
	case SCR:
		u->scr = val;
		break;
	default: /* LSR and MSR are read-only */
		break;
	}
}

static uint8_t read_byte(void *dev, unsigned off)
{
	struct uart *u = dev;
	uint8_t v = read_reg(u, off);

	update_line(u);
	return v;
}

static void write_byte(void *dev, unsigned off, uint8_t val)
{
	struct uart *u = dev;

	write_reg(u, off, val);
	update_line(u);
}

static uint64_t uart_read(void *dev, uint64_t off, unsigned size)
{
	return dev_read_bytes(dev, off, size, read_byte);
}

static void uart_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	dev_write_bytes(dev, off, size, val, write_byte);
}

const struct dev_ops uart_ops = {.read = uart_read, .write = uart_write};

void uart_init(struct uart *u, const struct dev_env *env, unsigned gsi,
	       void (*tx)(void *ctx, uint8_t byte), void *tx_ctx)
{
	*u = (struct uart){.env = env, .gsi = gsi, .tx = tx, .tx_ctx = tx_ctx};
	uart_reset(u);
}

void uart_reset(struct uart *u)
{
	u->ier = u->fcr = u->lcr = u->mcr = u->scr = 0;
	u->dlm = 0;
	u->dll = 1; /* 115200 baud, what firmware leaves behind */
	u->lsr_errors = 0;
	u->thre_pending = false;
	u->msr = modem_inputs(u);
	rx_clear(u);
	update_line(u);
}

unsigned uart_rx_room(const struct uart *u)
{
	/* In loopback the receiver is cut off from the outside. */
	return u->mcr & MCR_LOOP ? 0 : rx_size(u) - u->rx_count;
}

bool uart_rx(struct uart *u, uint8_t byte)
{
	if (!uart_rx_room(u))
		return false;
	rx_push(u, byte);
	update_line(u);
	return true;
}
