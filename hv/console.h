/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * console: the one serial line, shared by the log and the VMs' consoles.
 *
 * Output goes to a transmit ring that is drained as far as the UART has room;
 * nobody waits for the line, and what does not fit is counted and reported.
 * The log is always shown.  Of the VMs the focused one is shown as it writes;
 * each VM's last output is kept and repeated when the focus reaches it.  The
 * escape key moves the focus to the next VM, doubled it is sent to the guest.
 * Any CPU, not NMI.  Takes the console lock.
 */
#pragma once

#include "hv/base.h"
#include "hv/config.h"

/* Finds and programs the UART.  Without one the ring still records. */
void console_init(const struct config_console *c);

/* Boot CPU, once interrupts work: receives by interrupt from now on. */
void console_use_interrupt(void);
/* In that interrupt: takes what has arrived; console_poll() acts on it. */
void console_rx_interrupt(void);

void console_log_write(const char *s, size_t n, bool show);

/* Lock-free, waits for the line; only from the panic. */
void console_panic_write(const char *s);

/* VM @index (0 to CONFIG_MAX_VMS - 1) joins or leaves the focus ring. */
void console_attach(unsigned index, const char *name);
void console_detach(unsigned index);

/* A byte that VM @index wrote to its serial port. */
void console_guest_put(unsigned index, uint8_t c);

/*
 * Moves bytes between line and rings; boot CPU, periodically.  Input for VM i
 * is handed to deliver(i, byte), which returns false when the guest's receive
 * FIFO is full: the byte stays queued.
 */
void console_poll(bool (*deliver)(unsigned index, uint8_t c));

/* True while output or input waits, so that the poller should not sleep long. */
bool console_busy(void);

/* Waits (bounded) until everything written so far is on the line. */
void console_flush(void);
