/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings: a VM's configuration as SETTING=VALUE words.
 *
 * The names and limits are those of docs/configuration.md.  Boot CPU.
 */
#pragma once

#include "hv/monitor/out.h"
#include "hv/vm.h"

enum settings_which {
	SETTINGS_ALL,
	SETTINGS_LIVE, /* what a VM that exists can be given */
};

/* A configuration of its own with the defaults; false: @name cannot be one. */
bool settings_begin(struct config_vm *c, const char *name, struct hv_error *err) __must_check;

/* Applies the words in order; false at the first that is wrong, with the reason. */
bool settings_apply(struct config_vm *c, unsigned count, char **words, enum settings_which which,
		    struct hv_error *err) __must_check;

/* Whether the whole makes sense: images that are loaded, CPUs that exist. */
bool settings_check(const struct config_vm *c, struct hv_error *err) __must_check;
bool settings_has_cpu(const struct config_vm *c);

/* The @index-th of their names with its '=', or NULL beyond the last; for completion. */
const char *settings_name(unsigned index, enum settings_which which);

void settings_show(struct out *o, const struct config_vm *c);
