/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uart16550: the machine's serial port, by port or MMIO.
 *
 * Owns no state beyond the struct.  The caller serializes; usable in any
 * context including panic, as every wait is bounded.
 * Spec: PC16550D data sheet; ACPI SPCR table.
 */
#pragma once

#include "hv/base.h"
#include "hv/config.h"
#include "hv/status.h"

struct uart16550 {
	bool mmio;
	uint32_t stride;
	uint16_t port;
	volatile uint8_t *regs; /* when mmio */
	uint32_t dropped;	/* bytes given up after the bounded wait */
	uint32_t overruns;	/* how often received bytes were lost (LSR.OE) */
};

/*
 * Programs 8N1 at the configured baud rate with FIFOs on.  For CONSOLE_MMIO,
 * base must already be mapped at the address given.  HV_NOENT when the scratch
 * register does not hold a value, HV_RANGE when the divisor does not fit.
 */
enum hv_status uart16550_init(struct uart16550 *u, const struct config_console *c) __must_check;

/* Sends one byte, waiting a bounded time for room. */
void uart16550_put(struct uart16550 *u, char c);

/* Sends text, with a carriage return before each newline. */
void uart16550_write_text(struct uart16550 *u, const char *s);

/* Room for how many bytes right now: 0 or a FIFO's 16. */
unsigned uart16550_tx_room(struct uart16550 *u);

/* Sends without waiting; call after uart16550_tx_room said there is room. */
void uart16550_put_nowait(struct uart16550 *u, uint8_t c);

/* Interrupts for received bytes, on or off. */
void uart16550_rx_interrupt(struct uart16550 *u, bool on);

/* Whether the other side may send. */
void uart16550_rts(struct uart16550 *u, bool on);

/* The next received byte, or -1. */
int uart16550_get(struct uart16550 *u);
