/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_term: as much of a terminal as a line editor needs.  What it does not know it asserts. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"

#define TERM_WIDTH_MAX 160
#define TERM_HEIGHT    24

struct term {
	unsigned width, x, y, escape_len;
	unsigned wraps; /* how often a row was too long */
	char escape[16];
	char cell[TERM_HEIGHT][TERM_WIDTH_MAX];
};

static inline void term_init(struct term *t, unsigned width)
{
	HV_ASSERT(width <= TERM_WIDTH_MAX);
	memset(t, 0, sizeof(*t));
	memset(t->cell, ' ', sizeof(t->cell));
	t->width = width;
}

static inline void term_line_feed(struct term *t)
{
	if (++t->y < TERM_HEIGHT)
		return;
	t->y--;
	memmove(t->cell[0], t->cell[1], sizeof(t->cell) - TERM_WIDTH_MAX);
	memset(t->cell[t->y], ' ', TERM_WIDTH_MAX);
}

static inline void term_sequence(struct term *t, char final)
{
	unsigned n = (unsigned)atoi(t->escape + 2);

	switch (final) {
	case 'C':
		t->x += n ? n : 1;
		HV_ASSERT(t->x < t->width);
		break;
	case 'H':
		HV_ASSERT(!n);
		t->x = t->y = 0;
		break;
	case 'J':
		HV_ASSERT(n == 2);
		memset(t->cell, ' ', sizeof(t->cell));
		break;
	case 'K':
		HV_ASSERT(!n);
		memset(&t->cell[t->y][t->x], ' ', t->width - t->x);
		break;
	default:
		HV_ASSERT(false);
	}
}

static inline void term_byte(struct term *t, char c)
{
	if (t->escape_len) {
		HV_ASSERT(t->escape_len < sizeof(t->escape) - 1 && c >= ' ');
		t->escape[t->escape_len++] = c;
		t->escape[t->escape_len] = 0;
		HV_ASSERT(t->escape[1] == '[');
		if (t->escape_len > 2 && c >= '@') {
			t->escape_len = 0;
			term_sequence(t, c);
		}
	} else if (c == '\033') {
		t->escape[t->escape_len++] = c;
	} else if (c == '\r') {
		t->x = 0;
	} else if (c == '\n') {
		term_line_feed(t);
	} else {
		HV_ASSERT(c >= ' ' && c < 0x7f);
		if (t->x == t->width) {
			t->wraps++;
			t->x = 0;
			term_line_feed(t);
		}
		t->cell[t->y][t->x++] = c;
	}
}

static inline void term_put(void *ctx, const char *s, size_t n)
{
	HV_ASSERT(n);
	while (n--)
		term_byte(ctx, *s++);
}

/* True when row @y holds @s and beyond it nothing. */
static inline bool term_row_is(const struct term *t, unsigned y, const char *s)
{
	size_t n = strlen(s);

	if (n > t->width || memcmp(t->cell[y], s, n))
		return false;
	for (; n < t->width; n++)
		if (t->cell[y][n] != ' ')
			return false;
	return true;
}
