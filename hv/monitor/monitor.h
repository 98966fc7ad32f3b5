/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monitor: who is served by commands: the person at the console, and the program
 * at the second serial line (docs/console.md has its protocol).
 * Boot CPU, between turns, but for monitor_event().
 */
#pragma once

#include "hv/config.h"

/* The program's line; none without one. */
void monitor_init(const struct config_console *control);

/* As console_use_interrupt() and console_rx_interrupt(), for the program's line. */
void monitor_use_interrupt(void);
void monitor_rx_interrupt(void);

void monitor_poll(void);
/* Something waits: poll again soon. */
bool monitor_busy(void);

/* Something has happened to a VM that a program may want to know; any CPU. */
void monitor_event(const char *what, const char *vm, const char *text);
