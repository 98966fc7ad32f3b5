/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_live: the configuration as it is now: what the boot stage read, with the VMs
 * that have been made, changed and destroyed since.
 *
 * Boot CPU, between turns.
 */
#pragma once

#include "boot/handoff.h"

void config_live_init(const struct handoff *h);

/* VM @name was destroyed on purpose: it is no longer a part of the configuration. */
void config_live_destroyed(const char *name);

/* The device tree as source, a line at a time; false with the reason before the first. */
bool config_live_show(void (*line)(void *ctx, const char *text), void *ctx, struct hv_error *err)
	__must_check;

/*
 * Leaves the device tree in variables of the firmware (hv/saved.h), from where the next
 * boot moves it to the file; false with the reason.
 */
bool config_live_save(struct hv_error *err) __must_check;

/* That file. */
const char *config_live_path(void);
