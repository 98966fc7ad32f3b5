/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uart: the guest's 16550A serial port (COM1: ports 0x3f8-0x3ff, IRQ 4).
 *
 * Bytes take no time: a transmitted byte is out before the write returns, and
 * the receiver's character time-out is due as soon as the FIFO holds anything
 * below its trigger level.  Called with the VM's device lock held.  Pure.
 * Spec: National PC16550D data sheet.
 */
#pragma once

#include "hv/dev/dev.h"

#define UART_PORT 0x3f8
#define UART_LEN  8
#define UART_IRQ  4
#define UART_FIFO 16

struct uart {
	const struct dev_env *env;
	unsigned gsi;
	void (*tx)(void *ctx, uint8_t byte);
	void *tx_ctx;

	uint8_t ier, fcr, lcr, mcr, msr, scr, dll, dlm;
	uint8_t lsr_errors; /* OE, cleared by reading LSR */
	bool thre_pending;  /* THR became empty and IIR has not said so yet */
	bool line;	    /* what the interrupt line was last driven to */
	uint8_t rx[UART_FIFO];
	uint8_t rx_head, rx_count;
};

extern const struct dev_ops uart_ops;

void uart_init(struct uart *u, const struct dev_env *env, unsigned gsi,
	       void (*tx)(void *ctx, uint8_t byte), void *tx_ctx);
void uart_reset(struct uart *u);

/* A byte from outside; false when there is no room, and the caller keeps it. */
bool uart_rx(struct uart *u, uint8_t byte);
/* How many bytes uart_rx would take now. */
unsigned uart_rx_room(const struct uart *u);
