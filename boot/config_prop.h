/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_prop: typed, range-checked reading of device-tree properties by table.
 *
 * Boot stage (uses libfdt).  Pure (tests/host/test_config.c).  The tree has
 * passed fdt_check_full(), so libfdt's own readers stay inside it; contents of
 * properties are checked here.
 */
#pragma once

#include "boot/config.h"

#define CONFIG_NODE_PATH  128
#define CONFIG_QUOTE_SIZE 44

struct config_node {
	const void *dtb;
	int offset;
	char path[CONFIG_NODE_PATH]; /* fit to print; "" is the root */
	const struct config_sink *sink;
};

struct config_prop {
	const struct config_node *node;
	const char *name;
	const uint8_t *data;
	uint32_t len;
	struct hv_error *err; /* told what is wrong when a reader returns false */
};

struct config_field;

/* Writes to @out only what is good; false with the reason in @p->err otherwise. */
typedef bool (*config_reader)(const struct config_prop *p, const struct config_field *f, void *out);

/* One property that a node may have; terminated by an entry without name. */
struct config_field {
	const char *name;
	config_reader read;   /* NULL: known, but read elsewhere or without meaning here */
	size_t offset, size;  /* of the member in the structure that is filled */
	uint64_t min, max;    /* of a number */
	const char *const *words; /* of a choice: the words, in the order of its enum, then NULL */
};

#define CONFIG_MEMBER(type, m) .offset = offsetof(type, m), .size = sizeof(((type *)0)->m)

enum config_status { CONFIG_OKAY, CONFIG_DISABLED, CONFIG_BAD };

/* Makes @n the node at @offset below @parent. */
void config_node_child(struct config_node *n, const struct config_node *parent, int offset);

/* The node's name with what a terminal should not see replaced. */
void config_node_name(const struct config_node *n, char *buf, size_t size);

/* The status property: "okay" or absent, "disabled", or bad with the reason in @err. */
enum config_status config_node_status(const struct config_node *n, struct hv_error *err);

/* One warning about @n: its path, then the text. */
void config_warn(const struct config_node *n, const char *f, ...) __printf(2, 3);

/* Sets @err to the node's path and the text. */
void config_node_bad(const struct config_node *n, struct hv_error *err, const char *f, ...)
	__printf(3, 4);

/* Sets @p->err to path, property and the text; returns false. */
bool config_prop_bad(const struct config_prop *p, const char *f, ...) __printf(2, 3);

/* False when the node has no such property. */
bool config_prop_find(const struct config_node *n, const char *name, struct hv_error *err,
		      struct config_prop *p);

/*
 * Reads all properties of @n by the table, an unknown one is a warning.  A bad
 * value ends it with false and the reason in @err; without @err it is a warning
 * and leaves the member as it was.
 */
bool config_read(const struct config_node *n, const struct config_field *table, void *out,
		 struct hv_error *err) __must_check;

/* The readers.  A number has one or two cells. */
bool config_get_number(const struct config_prop *p, uint64_t *v) __must_check;
bool config_get_in_range(const struct config_prop *p, const struct config_field *f, uint64_t *v)
	__must_check;
bool config_get_string(const struct config_prop *p, const char **s) __must_check;
bool config_read_number(const struct config_prop *p, const struct config_field *f, void *out);
bool config_read_address(const struct config_prop *p, const struct config_field *f, void *out);
bool config_read_choice(const struct config_prop *p, const struct config_field *f, void *out);
bool config_read_string(const struct config_prop *p, const struct config_field *f, void *out);
bool config_read_path(const struct config_prop *p, const struct config_field *f, void *out);
bool config_read_flag(const struct config_prop *p, const struct config_field *f, void *out);

/* Stores @v in the field's member. */
void config_store(const struct config_field *f, void *out, uint64_t v);

/* @len bytes at @s, shortened and fit to print, in a buffer of CONFIG_QUOTE_SIZE. */
const char *config_quote(char *buf, const void *s, size_t len);

/* Of a path property: NULL when it is good, else what is allowed. */
const char *config_path_fault(const char *path);
