/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial: a serial line with what waits to be sent and what has arrived.
 *
 * Nobody waits for the line: what does not fit the transmit ring is counted.
 * Received bytes are taken out of the UART while there is room for them; beyond
 * that they stay where they are and RTS is dropped, so that a sender with flow
 * control waits.  What the UART lost all the same is counted.
 * The caller serializes sending.  serial_take() on the boot CPU only, in the
 * UART's interrupt or not; serial_next() likewise, not in the interrupt.
 */
#pragma once

#include "drivers/uart16550.h"

#define SERIAL_TX (128 * KIB)
#define SERIAL_RX (16 * KIB)

struct serial {
	struct uart16550 uart;
	bool present;
	bool holding; /* RTS is dropped */
	uint64_t tx_head, tx_tail, tx_lost;
	uint32_t rx_head, rx_tail;
	uint8_t tx[SERIAL_TX];
	uint8_t rx[SERIAL_RX];
};

/* Finds and programs the UART.  Without one it swallows what is sent. */
enum hv_status serial_init(struct serial *s, const struct config_console *c);

/* Once interrupts work. */
void serial_use_interrupt(struct serial *s);

void serial_put(struct serial *s, uint8_t c);
/* Sends what the UART takes without waiting. */
void serial_drain(struct serial *s);

void serial_take(struct serial *s);
/* The next byte that has arrived, without taking it: false, there is none. */
bool serial_peek(const struct serial *s, uint8_t *c);
void serial_skip(struct serial *s);

static inline bool serial_busy(const struct serial *s)
{
	return READ_ONCE(s->tx_head) != READ_ONCE(s->tx_tail) || s->rx_head != s->rx_tail;
}
