/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words: a command line cut into words, and the numbers among them.
 *
 * Words are separated by blanks; "double" and 'single' quotes keep blanks, a
 * backslash outside single quotes takes the next byte as it is.
 * Pure (tests/host/test_words.c, fuzzed).
 */
#pragma once

#include "hv/base.h"
#include "hv/status.h"

#define WORDS_MAX  16
#define WORDS_TEXT 1280 /* room for the longest property there is */

struct words {
	unsigned count;
	char *word[WORDS_MAX]; /* in @text */
	char text[WORDS_TEXT];
};

/* HV_RANGE: too long or too many; HV_INVAL: a quote is not closed, or a control byte. */
enum hv_status words_split(struct words *w, const char *line) __must_check;

/*
 * Decimal, 0x..., or decimal with a suffix K, M or G (times 1024).  HV_INVAL: no
 * number; HV_RANGE: does not fit 64 bits, or lies outside [min, max].
 */
enum hv_status words_number(const char *word, uint64_t min, uint64_t max, uint64_t *v)
	__must_check;
