/* SPDX-License-Identifier: BSD-2-Clause */
/* mux: what the keys of the one line mean, and the screens behind it.  Pure. */
#include "hv/monitor/mux.h"

static struct mux_key command(const struct mux *m, uint8_t c)
{
	if (c == m->escape)
		return (struct mux_key){ .what = MUX_BYTE, .byte = c };
	if (c >= '1' && c <= '9')
		return (struct mux_key){ .what = MUX_CHOOSE, .number = (unsigned)(c - '0') };
	switch (c) {
	case 'n':
	case '\t':
	case ' ':
		return (struct mux_key){ .what = MUX_NEXT };
	case 'b':
		return (struct mux_key){ .what = MUX_BACK };
	case 'm':
	case '0':
		return (struct mux_key){ .what = MUX_MONITOR };
	case 'l':
		return (struct mux_key){ .what = MUX_LOG };
	case '?':
	case 'h':
		return (struct mux_key){ .what = MUX_HELP };
	default:
		return (struct mux_key){ .what = MUX_UNKNOWN, .byte = c };
	}
}

struct mux_key mux_input(struct mux *m, uint8_t byte)
{
	if (m->escaped) {
		m->escaped = false;
		return command(m, byte);
	}
	if (byte == m->escape) {
		m->escaped = true;
		return (struct mux_key){ .what = MUX_NOTHING };
	}
	return (struct mux_key){ .what = MUX_BYTE, .byte = byte };
}

void screen_put(struct screen *s, uint8_t c)
{
	if (s->ring)
		s->ring[s->len++ & (s->size - 1)] = c;
}

uint64_t screen_tail(const struct screen *s, unsigned lines, uint32_t max)
{
	uint64_t kept = min_u64(s->len, min_u64(s->size, max)), at = s->len;

	while (at > s->len - kept) {
		/* The newline that ends the last line does not begin another one. */
		if (screen_at(s, at - 1) == '\n' && at != s->len && !--lines)
			break;
		at--;
	}
	return at;
}
