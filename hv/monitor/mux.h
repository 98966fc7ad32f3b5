/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mux: what the keys of the one line mean, and the screens behind it.
 *
 * The escape key is a prefix: the key after it says what is meant, however the
 * two are cut into reads.  A screen keeps the last bytes that went to it; its
 * last lines are shown again when the focus comes to it.
 * Pure (tests/host/test_mux.c).
 */
#pragma once

#include "hv/base.h"

enum mux_what {
	MUX_NOTHING, /* the prefix, so far */
	MUX_BYTE,    /* for whoever has the focus */
	MUX_NEXT,
	MUX_BACK,    /* to the screen before this one */
	MUX_CHOOSE,  /* by @number */
	MUX_MONITOR,
	MUX_LOG,
	MUX_HELP,
	MUX_UNKNOWN, /* no such command */
};

struct mux_key {
	enum mux_what what;
	uint8_t byte;
	unsigned number;
};

struct mux {
	uint8_t escape;
	bool escaped;
};

struct mux_key mux_input(struct mux *m, uint8_t byte);

/* The last @size bytes of @len in all. */
struct screen {
	uint8_t *ring;
	uint32_t size; /* a power of two */
	uint64_t len;
};

void screen_put(struct screen *s, uint8_t c);

/* From where on to show the last @lines lines, at most @max bytes; up to s->len. */
uint64_t screen_tail(const struct screen *s, unsigned lines, uint32_t max);

static inline uint8_t screen_at(const struct screen *s, uint64_t at)
{
	return s->ring[at & (s->size - 1)];
}
