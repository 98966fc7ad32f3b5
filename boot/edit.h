/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edit: changes of the configuration's device tree before it is used.
 *
 * A node is named "/", "console", "control", or by a VM's name.  Values keep the
 * form that they have in a source: none is a flag, numbers are cells (two for
 * one that needs them), all else are strings.  What they mean is judged by
 * config_parse(), afterwards.
 * Boot stage and monitor (uses libfdt: boot/libc.h).  Pure (tests/host/test_edit.c).
 */
#pragma once

#include "hv/fmt.h"
#include "hv/status.h"

/* Opens the tree @dtb for changes in @fdt of @size bytes; NULL or a bad one: a new tree. */
void edit_begin(void *fdt, size_t size, const void *dtb);

/* Without room for changes; the bytes that it has now. */
size_t edit_pack(void *fdt);

/* Each: false, with the reason, and nothing has changed. */
bool edit_set(void *fdt, const char *node, const char *prop, unsigned count, char *const *values,
	      struct hv_error *err) __must_check;
bool edit_unset(void *fdt, const char *node, const char *prop, struct hv_error *err) __must_check;
bool edit_add(void *fdt, const char *vm, struct hv_error *err) __must_check;
bool edit_remove(void *fdt, const char *vm, struct hv_error *err) __must_check;

bool edit_has(const void *fdt, const char *node);

struct edit_reader {
	void (*line)(void *ctx, const char *text);
	void *ctx;
};

/* The tree from @node on (NULL: all of it) as source, a line at a time; false: there is no such node. */
bool edit_show(const void *fdt, const char *node, const struct edit_reader *r);

/*
 * The keys of a terminal that are more than one byte (arrows, Home, Alt-x) are not
 * for the line: false for each of their bytes.  *@state begins as 0; @c is -1 when
 * nothing came for a while, which ends what was begun.
 */
bool edit_key(unsigned *state, int c);
