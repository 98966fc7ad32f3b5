/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * editor: the configuration console, before any VM starts.
 *
 * Commands on whatever console there is: the firmware's, a serial line, or both.
 * Changes are for this boot; "save" writes them to the ESP.
 * Boot stage only.
 */
#pragma once

#include "hv/base.h"

struct editor {
	const char *path; /* of the configuration */
	void *tree;	  /* being edited, with room (boot/edit.h) */
	size_t size;
	/* Judges the tree, and says what is wrong with it; how many VMs it would start. */
	unsigned (*check)(void *ctx);
	/* Reads the file again into the tree. */
	void (*reload)(void *ctx);
	void *ctx;
};

/* Waits @seconds for a key; true: one came. */
bool editor_wanted(uint32_t seconds);

/* Returns when the VMs shall start. */
void editor_run(const struct editor *e);
