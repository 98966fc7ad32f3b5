/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/monitor/mux.h"

#define ESCAPE 0x1d

static struct mux mux;

static struct mux_key press(uint8_t first, uint8_t second)
{
	mux = (struct mux){ .escape = ESCAPE };
	assert_int_equal(mux_input(&mux, first).what, MUX_NOTHING);
	return mux_input(&mux, second);
}

static void plain_bytes_go_through(void **s)
{
	(void)s;
	mux = (struct mux){ .escape = ESCAPE };
	for (unsigned c = 0; c < 256; c++) {
		struct mux_key k;

		if (c == ESCAPE)
			continue;
		k = mux_input(&mux, (uint8_t)c);
		assert_int_equal(k.what, MUX_BYTE);
		assert_int_equal(k.byte, c);
	}
}

static void the_prefix_and_a_key(void **s)
{
	(void)s;
	assert_int_equal(press(ESCAPE, 'n').what, MUX_NEXT);
	assert_int_equal(press(ESCAPE, '\t').what, MUX_NEXT);
	assert_int_equal(press(ESCAPE, 'b').what, MUX_BACK);
	assert_int_equal(press(ESCAPE, 'm').what, MUX_MONITOR);
	assert_int_equal(press(ESCAPE, '0').what, MUX_MONITOR);
	assert_int_equal(press(ESCAPE, 'l').what, MUX_LOG);
	assert_int_equal(press(ESCAPE, '?').what, MUX_HELP);
	assert_int_equal(press(ESCAPE, 'q').what, MUX_UNKNOWN);
	for (unsigned i = 1; i <= 9; i++) {
		assert_int_equal(press(ESCAPE, (uint8_t)('0' + i)).what, MUX_CHOOSE);
		assert_int_equal(press(ESCAPE, (uint8_t)('0' + i)).number, i);
	}
	/* Doubled it is itself, and what follows is no command. */
	assert_int_equal(press(ESCAPE, ESCAPE).what, MUX_BYTE);
	assert_int_equal(press(ESCAPE, ESCAPE).byte, ESCAPE);
	assert_int_equal(mux_input(&mux, 'n').what, MUX_BYTE);
}

static void every_key_ends_the_prefix(void **s)
{
	(void)s;
	for (unsigned c = 0; c < 256; c++) {
		press(ESCAPE, (uint8_t)c);
		assert_int_equal(mux_input(&mux, 'n').what, MUX_BYTE);
	}
}

/* ---- screens ------------------------------------------------------------------------ */

static uint8_t ring[64];

static void fill(struct screen *s, const char *text)
{
	*s = (struct screen){ ring, sizeof(ring), 0 };
	for (; *text; text++)
		screen_put(s, (uint8_t)*text);
}

static void shows(const struct screen *s, unsigned lines, uint32_t max, const char *want)
{
	uint64_t at = screen_tail(s, lines, max);

	assert_int_equal(s->len - at, strlen(want));
	for (; at < s->len; at++)
		assert_int_equal(screen_at(s, at), (uint8_t)*want++);
}

static void the_last_lines(void **state)
{
	struct screen s;

	(void)state;
	fill(&s, "");
	shows(&s, 3, 64, "");
	fill(&s, "one\ntwo\nthree");
	shows(&s, 1, 64, "three");
	shows(&s, 2, 64, "two\nthree");
	shows(&s, 9, 64, "one\ntwo\nthree");
	shows(&s, 9, 4, "hree");
	/* With its end the last line is a line still. */
	fill(&s, "one\ntwo\n");
	shows(&s, 1, 64, "two\n");
	fill(&s, "\n\n\n");
	shows(&s, 2, 64, "\n\n");
}

static void what_is_older_is_gone(void **state)
{
	struct screen s;

	(void)state;
	fill(&s, "0123456789012345678901234567890123456789012345678901234567890123456789abcdef");
	assert_int_equal(screen_tail(&s, 5, 1000), s.len - sizeof(ring));
	assert_int_equal(screen_at(&s, s.len - 1), 'f');
	assert_int_equal(screen_at(&s, s.len - sizeof(ring)), '2');
}

static void without_a_ring_nothing_is_kept(void **state)
{
	struct screen s = { 0 };

	(void)state;
	screen_put(&s, 'a');
	assert_int_equal(s.len, 0);
	assert_int_equal(screen_tail(&s, 5, 100), 0);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(plain_bytes_go_through),
		cmocka_unit_test(the_prefix_and_a_key),
		cmocka_unit_test(every_key_ends_the_prefix),
		cmocka_unit_test(the_last_lines),
		cmocka_unit_test(what_is_older_is_gone),
		cmocka_unit_test(without_a_ring_nothing_is_kept),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
