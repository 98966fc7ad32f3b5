/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line: a line of input that a person edits.
 *
 * Takes the bytes that a terminal sends, one at a time and cut anywhere, and
 * sends back what makes the terminal show the line (ANSI sequences, one row: a
 * longer line scrolls sideways).  Knows Home, End, arrows, Delete, Ctrl-A B C D
 * E F H K L N P T U W, Alt-B F D, Tab, history.  What it does not know it drops;
 * control bytes never reach the text.
 * The caller serializes.  Pure (tests/host/test_line.c, fuzzed).
 */
#pragma once

#include "hv/base.h"

#define LINE_MAX     256 /* bytes of text, with its final zero; what is beyond is dropped */
#define LINE_HISTORY 32

/* After any but the first the cursor is at the start of the next row. */
enum line_event {
	LINE_NONE,
	LINE_DONE,   /* Enter: @text is it; line_begin() starts the next one */
	LINE_CANCEL, /* Ctrl-C: the text is dropped */
	LINE_END,    /* Ctrl-D on an empty line */
};

struct line_env {
	void *ctx;
	void (*put)(void *ctx, const char *s, size_t n);
	/*
	 * Tab after text[0..len): the @index-th word that could stand where the
	 * last one is begun, or NULL beyond the last.  One that does not go on from
	 * what is typed does not count; it need not stay beyond the next call.  NULL
	 * function: no completion.
	 */
	const char *(*complete)(void *ctx, const char *text, size_t len, unsigned index);
};

struct line {
	const struct line_env *env;
	unsigned width; /* columns of the terminal */
	const char *prompt;
	char text[LINE_MAX];
	unsigned len, at; /* @at: the cursor's place in the text */
	unsigned left;    /* the first byte that is shown */
	uint8_t escape[8];
	unsigned escape_len;
	uint8_t last; /* the byte before: CR LF is one Enter, Tab Tab lists */
	char history[LINE_HISTORY][LINE_MAX]; /* a ring */
	unsigned history_count; /* ever kept */
	unsigned history_at;	/* how many steps back we are; 0: not in history */
	char kept[LINE_MAX]; /* what was being typed before history was looked through */
};

/* @width: of the terminal, at least 8.  The prompt gets half of it at most. */
void line_init(struct line *l, const struct line_env *env, unsigned width);

/* Shows @prompt, which must stay, and an empty line. */
void line_begin(struct line *l, const char *prompt);

/* Likewise, with @text to be edited. */
void line_begin_with(struct line *l, const char *prompt, const char *text);

enum line_event line_key(struct line *l, uint8_t byte);

/* Other output comes between: wipes prompt and text, and shows them again. */
void line_hide(struct line *l);
void line_show(struct line *l);

/* Keeps @text for the arrow keys, unless it is empty or what was kept last. */
void line_remember(struct line *l, const char *text);
