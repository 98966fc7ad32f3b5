/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/monitor/pager.h"

#define MORE  "\r-- more --"
#define ERASE "\r          \r"

static char shown[4096], held[64];
static size_t shown_len;

static void put(void *ctx, const char *s, size_t n)
{
	(void)ctx;
	assert_true(shown_len + n < sizeof(shown));
	memcpy(shown + shown_len, s, n);
	shown_len += n;
	shown[shown_len] = 0;
}

static struct pager begin(unsigned height, char *buf)
{
	struct pager p = { .put = put, .height = height, .width = 10 };

	shown_len = 0;
	shown[0] = 0;
	pager_begin(&p, buf, sizeof(held));
	return p;
}

static void write_text(struct pager *p, const char *s)
{
	pager_write(p, s, strlen(s));
}

/* What came since the last look. */
static void expect(const char *text)
{
	assert_string_equal(shown, text);
	shown_len = 0;
	shown[0] = 0;
}

static void what_fits_does_not_stop(void **s)
{
	struct pager p = begin(4, held);

	(void)s;
	write_text(&p, "a\nb\nc\n");
	assert_false(pager_waits(&p));
	expect("a\nb\nc\n");
}

static void a_page_then_lines_then_the_rest(void **s)
{
	struct pager p = begin(3, held);

	(void)s;
	write_text(&p, "1\n2\n3\n4");
	write_text(&p, "4\n5\n6\n7\n");
	assert_true(pager_waits(&p));
	expect("1\n2\n");
	pager_show(&p);
	expect(MORE);
	assert_int_equal(pager_key(&p, '\r'), PAGER_MORE);
	expect(ERASE "3\n" MORE);
	assert_int_equal(pager_key(&p, ' '), PAGER_MORE);
	expect(ERASE "44\n5\n" MORE);
	assert_int_equal(pager_key(&p, ' '), PAGER_DONE);
	expect(ERASE "6\n7\n");
}

static void the_rest_is_not_wanted(void **s)
{
	static const uint8_t keys[] = { 'q', 3 };

	(void)s;
	for (unsigned i = 0; i < 2; i++) {
		struct pager p = begin(2, held);

		write_text(&p, "1\n2\n3\n");
		expect("1\n");
		assert_int_equal(pager_key(&p, keys[i]), PAGER_DONE);
		assert_false(pager_waits(&p));
		expect(ERASE);
	}
}

static void another_key_shows_all(void **s)
{
	struct pager p = begin(2, held);

	(void)s;
	write_text(&p, "1\n2\n3\n4\n");
	expect("1\n");
	assert_int_equal(pager_key(&p, 'v'), PAGER_OTHER);
	assert_false(pager_waits(&p));
	expect(ERASE "2\n3\n4\n");
}

static void long_lines_take_rows(void **s)
{
	struct pager p = begin(5, held);

	(void)s;
	write_text(&p, "1234567890\n"); /* one row: the cursor has not gone on */
	write_text(&p, "12345678901\n"); /* two */
	write_text(&p, "x\ny\n");
	expect("1234567890\n12345678901\nx\n");
	assert_true(pager_waits(&p));
	/* It stops at the end of a line, however long. */
	p = begin(2, held);
	write_text(&p, "123456789012345678901234567890\nx\n");
	expect("123456789012345678901234567890\n");
}

static void what_has_no_room_is_told(void **s)
{
	struct pager p = begin(2, held);
	char line[101];

	(void)s;
	memset(line, 'x', 100);
	line[100] = 0;
	write_text(&p, "1\n");
	write_text(&p, line);
	expect("1\n");
	assert_int_equal(pager_key(&p, ' '), PAGER_DONE);
	assert_non_null(strstr(shown, "x\n-- 36 bytes more had no room --\n"));
	/* But not to who wants no more. */
	p = begin(2, held);
	write_text(&p, "1\n");
	write_text(&p, line);
	expect("1\n");
	assert_int_equal(pager_key(&p, 'q'), PAGER_DONE);
	expect(ERASE);
	/* Nor is it remembered. */
	pager_begin(&p, held, sizeof(held));
	write_text(&p, "1\n2\n");
	assert_int_equal(pager_key(&p, ' '), PAGER_DONE);
	expect("1\n" ERASE "2\n");
}

static void switched_off(void **s)
{
	struct pager p = begin(0, held);

	(void)s;
	for (unsigned i = 0; i < 100; i++)
		write_text(&p, "x\n");
	assert_false(pager_waits(&p));
	assert_int_equal(shown_len, 200);
	p = begin(2, NULL);
	write_text(&p, "1\n2\n3\n");
	assert_false(pager_waits(&p));
	expect("1\n2\n3\n");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(what_fits_does_not_stop),
		cmocka_unit_test(a_page_then_lines_then_the_rest),
		cmocka_unit_test(the_rest_is_not_wanted),
		cmocka_unit_test(another_key_shows_all),
		cmocka_unit_test(long_lines_take_rows),
		cmocka_unit_test(what_has_no_room_is_told),
		cmocka_unit_test(switched_off),
	};

	return cmocka_run_group_tests_name("pager", t, NULL, NULL);
}
