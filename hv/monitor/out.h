/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * out: what a command answers, once for people and once for programs.
 *
 * A command says what it knows by the functions below; as text each member is a
 * line "key: value" and each table has a heading and aligned columns, as JSON
 * all of it is one object on one line.  Values from guests or users are escaped:
 * in JSON as the standard asks, in text so that no control byte and nothing
 * beyond ASCII reaches the terminal.
 *
 *	out_begin(&o, put, ctx, OUT_JSON);
 *	out_str(&o, "name", "%s", vm->config->name);
 *	out_table(&o, "vcpus", columns, ARRAY_SIZE(columns));
 *	for (...) {
 *		out_row(&o);
 *		out_u64(&o, "vcpu", i);
 *		out_str(&o, "state", "%s", state);
 *		out_row_end(&o);
 *	}
 *	out_table_end(&o);
 *	out_end(&o);
 *
 * Nothing is buffered: it may all be longer than any buffer.  Not to be used by
 * two at once.  A formatted string of 1280 bytes or more is cut, and ends in dots.
 * Pure (tests/host/test_out.c).
 */
#pragma once

#include "hv/base.h"

enum out_format { OUT_TEXT, OUT_JSON };

struct out_column {
	const char *key;
	int width; /* of the text, at least the key's; negative: to the right, as numbers are */
};

struct out {
	void (*put)(void *ctx, const char *s, size_t n);
	void *ctx;
	enum out_format format;
	bool failed;
	bool first; /* nothing yet at this level of the JSON object */
	unsigned depth;
	const struct out_column *column; /* of the open table */
	unsigned column_count, cell;
};

void out_begin(struct out *o, void (*put)(void *ctx, const char *s, size_t n), void *ctx,
	       enum out_format format);
/* Closes the JSON object and its line; text ends with a newline in any case. */
void out_end(struct out *o);

/*
 * A member, or the next cell of a row, whose column has this key.  Cells that are
 * passed over stay empty; a key that no column further on has is in JSON only.
 */
void out_str(struct out *o, const char *key, const char *f, ...) __printf(3, 4);
void out_u64(struct out *o, const char *key, uint64_t v);
void out_hex(struct out *o, const char *key, uint64_t v); /* in JSON the string "0x..." */
void out_bool(struct out *o, const char *key, bool v);	   /* yes or no in text */
/* An array of numbers in JSON, for people nothing. */
void out_u64s(struct out *o, const char *key, const uint64_t *v, unsigned count);
/* @milli thousandths: 1500 is 1.500 in JSON and 1.5 in text, rounded to one place. */
void out_milli(struct out *o, const char *key, uint64_t milli);

/* Members of an object of its own; as text their keys are indented below its name. */
void out_object(struct out *o, const char *key);
void out_object_end(struct out *o);

/* In JSON an array of objects.  A row has members only. */
void out_table(struct out *o, const char *key, const struct out_column *c, unsigned count);
void out_row(struct out *o);
void out_row_end(struct out *o);
void out_table_end(struct out *o);

/* In JSON an array of strings, as text lines as they are: for logs and dumps. */
void out_lines(struct out *o, const char *key);
void out_line(struct out *o, const char *f, ...) __printf(2, 3);
void out_lines_end(struct out *o);

/* One line for people that programs do not need. */
void out_remark(struct out *o, const char *f, ...) __printf(2, 3);

/* What was done: "message" in JSON. */
void out_done(struct out *o, const char *f, ...) __printf(2, 3);

/* The command is refused: "error" in JSON; why, and what is allowed. */
void out_refuse(struct out *o, const char *f, ...) __printf(2, 3);
