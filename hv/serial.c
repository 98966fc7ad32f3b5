/* SPDX-License-Identifier: BSD-2-Clause */
/* serial: a serial line with what waits to be sent and what has arrived. */
#include "hv/serial.h"

#include "mm/paging.h"

#define RX_BURST  256
#define RX_HOLD	  (SERIAL_RX * 3 / 4)
#define RX_RESUME (SERIAL_RX / 4)

enum hv_status serial_init(struct serial *s, const struct config_console *c)
{
	struct config_console found = *c;
	enum hv_status st;

	if (c->kind == CONSOLE_NONE)
		return HV_OK;
	if (c->kind == CONSOLE_MMIO) {
		found.base = (uint64_t)paging_map_device(HPA(c->base), 8ULL * c->stride);
		if (!found.base)
			return HV_NOMEM;
	}
	st = uart16550_init(&s->uart, &found);
	s->present = !st;
	return st;
}

void serial_use_interrupt(struct serial *s)
{
	if (s->present)
		uart16550_rx_interrupt(&s->uart, true);
}

void serial_drain(struct serial *s)
{
	unsigned room;

	if (!s->present)
		s->tx_tail = s->tx_head;
	while (s->tx_tail != s->tx_head && (room = uart16550_tx_room(&s->uart)))
		for (; room && s->tx_tail != s->tx_head; room--)
			uart16550_put_nowait(&s->uart, s->tx[s->tx_tail++ % SERIAL_TX]);
}

void serial_put(struct serial *s, uint8_t c)
{
	if (s->tx_head - s->tx_tail == SERIAL_TX)
		s->tx_lost++;
	else
		s->tx[s->tx_head++ % SERIAL_TX] = c;
}

static void hold(struct serial *s, bool on)
{
	if (s->holding == on)
		return;
	s->holding = on;
	uart16550_rts(&s->uart, !on);
}

void serial_take(struct serial *s)
{
	/* Bounded: a port that has gone reads as data without end. */
	for (int i = 0; i < RX_BURST && s->present && s->rx_head - s->rx_tail < SERIAL_RX; i++) {
		int c = uart16550_get(&s->uart);

		if (c < 0)
			break;
		s->rx[s->rx_head++ % SERIAL_RX] = (uint8_t)c;
	}
	if (s->rx_head - s->rx_tail >= RX_HOLD)
		hold(s, true);
}

bool serial_peek(const struct serial *s, uint8_t *c)
{
	if (s->rx_tail == s->rx_head)
		return false;
	*c = s->rx[s->rx_tail % SERIAL_RX];
	return true;
}

void serial_skip(struct serial *s)
{
	s->rx_tail++;
	if (s->rx_head - s->rx_tail <= RX_RESUME)
		hold(s, false);
}
