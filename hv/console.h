/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * console: the one serial line for people, shared by log, monitor and VMs.
 *
 * Each has a screen, which keeps what went to it; the one in focus is shown as
 * it is written, and its last lines are repeated when the focus comes to it.
 * The log is shown always.  What is typed goes to the screen in focus; the
 * escape key is a prefix for commands of the console itself (hv/monitor/mux.h).
 * Any CPU, not NMI, but where it says boot CPU.  Takes the console lock.
 */
#pragma once

#include "hv/base.h"
#include "hv/config.h"
#include "hv/status.h"

/* Screens: VM 0 to CONFIG_MAX_VMS - 1, then these. */
enum { CONSOLE_LOG = CONFIG_MAX_VMS, CONSOLE_MONITOR, CONSOLE_SCREENS };

/* Programs the UART, if it is there.  Without one the screens still record. */
enum hv_status console_init(const struct config_console *c);

/* Boot CPU, once interrupts work: receives by interrupt from now on. */
void console_use_interrupt(void);
/* In that interrupt: takes what has arrived; console_poll() acts on it. */
void console_rx_interrupt(void);

void console_log_write(const char *s, size_t n, bool show);

/* Lock-free, waits for the line; only from the panic. */
void console_panic_write(const char *s);

/* VM @index joins or leaves those that can have the focus; its screen stays. */
void console_attach(unsigned index, const char *name);
void console_detach(unsigned index);
/* Its screen goes as well. */
void console_forget(unsigned index);

/* A byte that VM @index wrote to its serial port. */
void console_guest_put(unsigned index, uint8_t c);

/* Types to VM @index; how many of the bytes found room. */
size_t console_type(unsigned index, const char *s, size_t n);

/* Shows screen @s, if there is such a one. */
void console_focus(unsigned s);

/*
 * What screen @s has kept, from byte *at on (or the oldest that is left): at most
 * @size bytes to @buf, *at moves behind them.  0: no more.
 */
size_t console_copy(unsigned s, uint64_t *at, char *buf, size_t size);

/* ---- the monitor's side; boot CPU ------------------------------------------------- */

void console_monitor_write(const char *s, size_t n);
/* The next byte typed to the monitor; false: there is none. */
bool console_monitor_read(uint8_t *c);
/* Drops what was typed up to a @c and that; false: there is none, all stays. */
bool console_monitor_skip_to(uint8_t c);
/* Something else has been written over the monitor's line since the last call. */
bool console_monitor_disturbed(void);

/* ---- boot CPU, periodically --------------------------------------------------------- */

/*
 * Moves bytes between line and screens.  Input for VM i is handed to
 * deliver(i, byte), which returns false when the guest's receive FIFO is full.
 */
void console_poll(bool (*deliver)(unsigned index, uint8_t c));

/* True while output or input waits, so that the poller should not sleep long. */
bool console_busy(void);

/* Waits (bounded) until everything written so far is on the line. */
void console_flush(void);
