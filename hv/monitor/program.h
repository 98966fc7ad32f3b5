/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program: the second serial line, where programs ask.
 *
 * A request is one JSON object on a line, {"id": ..., "command": "vm list"}; its
 * reply is one as well, {"id": ..., "reply": {...}}.  Events come between
 * replies: {"event": "vm-stopped", "vm": ..., "text": ...}.  Nothing that a guest
 * writes gets here but as an escaped string of a reply.
 * Boot CPU, between turns, but for program_event().
 */
#pragma once

#include "hv/config.h"

void program_init(const struct config_console *c);
void program_use_interrupt(void);
void program_rx_interrupt(void);
void program_poll(void);
bool program_busy(void);
/* Any CPU; kept until the line is free, the oldest are lost first. */
void program_event(const char *what, const char *vm, const char *text);
