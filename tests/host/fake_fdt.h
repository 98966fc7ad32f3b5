/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_fdt: device trees made by libfdt's sequential writer, parsed, with the warnings kept. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <libfdt.h>

#include "boot/config.h"

#define BE32(x) (uint8_t)((uint32_t)(x) >> 24), (uint8_t)((x) >> 16), (uint8_t)((x) >> 8), (uint8_t)(x)
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define CELL(x)	     BYTES(BE32(x))
#define CELLS2(h, l) BYTES(BE32(h), BE32(l))
#define TEXT(s)	     s, sizeof(s)
#define FLAG	     "", 0

struct fake_fdt {
	uint8_t blob[16384] __aligned(8);
	struct hv_config c;
	enum hv_status st;
	struct hv_error err;
	unsigned warnings;
	char warned[8192]; /* all warnings, a line each */
};

static inline void fake_fdt_prop(struct fake_fdt *t, const char *name, const void *data, size_t len)
{
	assert_int_equal(fdt_property(t->blob, name, data, (int)len), 0);
}

static inline void fake_fdt_node(struct fake_fdt *t, const char *name)
{
	assert_int_equal(fdt_begin_node(t->blob, name), 0);
}

static inline void fake_fdt_end(struct fake_fdt *t)
{
	assert_int_equal(fdt_end_node(t->blob), 0);
}

/* The root is open afterwards. */
static inline void fake_fdt_begin(struct fake_fdt *t)
{
	memset(t, 0, sizeof(*t));
	assert_int_equal(fdt_create(t->blob, sizeof(t->blob)), 0);
	assert_int_equal(fdt_finish_reservemap(t->blob), 0);
	fake_fdt_node(t, "");
	fake_fdt_prop(t, "compatible", TEXT("faultline,config-1"));
}

static inline void fake_fdt_warn(void *ctx, const char *text)
{
	struct fake_fdt *t = ctx;
	size_t n = strlen(t->warned);

	t->warnings++;
	assert_null(strchr(text, '\n'));
	snprintf(t->warned + n, sizeof(t->warned) - n, "%s\n", text);
}

static inline void fake_fdt_parse(struct fake_fdt *t, const void *blob, size_t len)
{
	config_defaults(&t->c);
	t->err.text[0] = 0;
	t->st = config_parse(blob, len, &t->c, &(struct config_sink){fake_fdt_warn, t}, &t->err);
}

/* Ends the root and parses the tree. */
static inline void fake_fdt_finish(struct fake_fdt *t)
{
	fake_fdt_end(t);
	assert_int_equal(fdt_finish(t->blob), 0);
	fake_fdt_parse(t, t->blob, fdt_totalsize(t->blob));
}

/* Ends the node of the only VM, and all around it. */
static inline struct config_vm *fake_fdt_end_vm(struct fake_fdt *t)
{
	fake_fdt_end(t);
	fake_fdt_end(t);
	fake_fdt_finish(t);
	assert_int_equal(t->st, HV_OK);
	assert_int_equal(t->c.vm_count, 1);
	return &t->c.vm[0];
}

static inline void assert_contains(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	print_error("\"%s\" does not have \"%s\"\n", text, part);
	fail();
}
