/* SPDX-License-Identifier: BSD-2-Clause */
/* words: command lines and numbers, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/monitor/words.h"
#include "tests/host/random.h"

/* The words of @line with | between them, or the name of what is wrong. */
static const char *split(const char *line)
{
	static char joined[sizeof(((struct words *)0)->text) + 1];
	struct words w;
	enum hv_status st;
	size_t n = 0;

	memset(&w, 0x5a, sizeof(w));
	st = words_split(&w, line);
	if (st)
		return hv_status_name(st);
	for (unsigned i = 0; i < w.count; i++) {
		assert_true(w.word[i] >= w.text);
		assert_true(w.word[i] + strlen(w.word[i]) < w.text + sizeof(w.text));
		n += (size_t)sprintf(joined + n, "%s%s", i ? "|" : "", w.word[i]);
	}
	joined[n] = 0;
	return joined;
}

#define INVAL hv_status_name(HV_INVAL)
#define RANGE hv_status_name(HV_RANGE)

static void blanks_separate(void **s)
{
	(void)s;
	assert_string_equal(split(""), "");
	assert_string_equal(split("   "), "");
	assert_string_equal(split("one"), "one");
	assert_string_equal(split("  one  two three "), "one|two|three");
	assert_string_equal(split("a=\303\244 b"), "a=\303\244|b");
}

static void quotes_keep_blanks(void **s)
{
	(void)s;
	assert_string_equal(split("\"a b\" 'c  d'"), "a b|c  d");
	assert_string_equal(split("x\"a b\"y' 'z"), "xa by z");
	assert_string_equal(split("\"\" '' x"), "||x");
	assert_string_equal(split("\"it's\" '\"'"), "it's|\"");
	assert_string_equal(split("a\\ b \\\"c \\\\ \\'"), "a b|\"c|\\|'");
	assert_string_equal(split("\"a\\\"b\\c\""), "a\"bc");
	assert_string_equal(split("'a\\' b"), "a\\|b");
	assert_string_equal(split("\\a\\ "), "a ");
}

static void refuses_what_is_not_whole(void **s)
{
	(void)s;
	assert_string_equal(split("\"a b"), INVAL);
	assert_string_equal(split("a 'b\""), INVAL);
	assert_string_equal(split("a \"b\\\""), INVAL);
	assert_string_equal(split("a \\"), INVAL);
	assert_string_equal(split("a\tb"), INVAL);
	assert_string_equal(split("'a\nb'"), INVAL);
	assert_string_equal(split("a\177"), INVAL);
	assert_string_equal(split("a\\\001"), INVAL);
}

static void refuses_too_much(void **s)
{
	char line[WORDS_TEXT + 1];
	struct words w;

	(void)s;
	assert_string_equal(split("a b c d e f g h i j k l m n o p "), "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p");
	assert_string_equal(split("a b c d e f g h i j k l m n o p q"), RANGE);
	memset(line, 'x', sizeof(line));
	line[WORDS_TEXT - 1] = 0;
	assert_int_equal(words_split(&w, line), HV_OK);
	assert_string_equal(w.word[0], line);
	line[WORDS_TEXT - 1] = 'x';
	line[WORDS_TEXT] = 0;
	assert_int_equal(words_split(&w, line), HV_RANGE);
}

/* Any words, quoted in any way, come back. */
static void any_words_come_back(void **s)
{
	char word[WORDS_MAX][8], line[300];
	struct words w;
	unsigned count;
	size_t n;

	(void)s;
	for (unsigned round = 0; round < 20000; round++) {
		count = below(10);
		for (unsigned i = n = 0; i < count; i++) {
			unsigned len = below(6), how = below(3);
			char quote = how == 1 ? '"' : '\'';

			if (how)
				line[n++] = quote;
			for (unsigned k = 0; k < len; k++) {
				char c = "ab \\\"'"[below(6)];

				word[i][k] = how == 2 && c == '\'' ? 'x' : c;
				if (how < 2 && (c == '\\' || c == '"' || (!how && (c == ' ' || c == '\''))))
					line[n++] = '\\';
				line[n++] = word[i][k];
			}
			word[i][len] = 0;
			if (how || !len)
				n += (size_t)sprintf(line + n, how ? "%c" : "\"\"", quote);
			memset(line + n, ' ', 2);
			n += 1 + below(2);
		}
		line[n] = 0;
		assert_int_equal(words_split(&w, line), HV_OK);
		assert_int_equal(w.count, count);
		for (unsigned i = 0; i < count; i++)
			assert_string_equal(w.word[i], word[i]);
	}
}

/* ---- numbers ------------------------------------------------------------------------- */

static void is(const char *word, uint64_t want)
{
	uint64_t v = ~want;

	assert_int_equal(words_number(word, 0, ~0ULL, &v), HV_OK);
	assert_true(v == want);
	assert_int_equal(words_number(word, want, want, &v), HV_OK);
	if (want)
		assert_int_equal(words_number(word, 0, want - 1, &v), HV_RANGE);
	if (~want)
		assert_int_equal(words_number(word, want + 1, ~0ULL, &v), HV_RANGE);
}

static void numbers(void **s)
{
	(void)s;
	is("0", 0);
	is("007", 7);
	is("18446744073709551615", ~0ULL);
	is("0x0", 0);
	is("0xfEdCbA9876543210", 0xfedcba9876543210);
	is("0x00000000000000000001", 1);
	is("0xffffffffffffffff", ~0ULL);
	is("1K", 1024);
	is("512M", 512 * MIB);
	is("3G", 3 * GIB);
	is("0G", 0);
	is("17179869183G", 17179869183 * GIB);
}

static void what_is_no_number(void **s)
{
	static const char *const bad[] = {
		"", "x", "-1", "+1", " 1", "1 ", "0x", "0xg", "0X1", "1k", "1T", "1KB", "K", "0x1K", "1.5",
		"a", "99999999999999999999x", "0x10000000000000000x", "1G1", "0x1x",
	};
	uint64_t v = 77;

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(words_number(bad[i], 0, ~0ULL, &v), HV_INVAL);
	assert_int_equal(words_number("18446744073709551616", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(words_number("99999999999999999999999", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(words_number("184467440737095516160", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(words_number("0x10000000000000000", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(words_number("17179869184G", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(words_number("18014398509481984K", 0, ~0ULL, &v), HV_RANGE);
	assert_int_equal(v, 77);
}

static void any_number_comes_back(void **s)
{
	static const char *const suffix[] = { "", "K", "M", "G" };
	char word[32];
	uint64_t n, v;

	(void)s;
	for (unsigned i = 0; i < 20000; i++) {
		n = rnd() >> below(64);
		sprintf(word, below(2) ? "%llu" : "0x%llx", (unsigned long long)n);
		is(word, n);
		sprintf(word, "%llu%s", (unsigned long long)n, suffix[i % 4]);
		v = n << (i % 4 * 10);
		if (v >> (i % 4 * 10) == n)
			is(word, v);
		else
			assert_int_equal(words_number(word, 0, ~0ULL, &v), HV_RANGE);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(blanks_separate),
		cmocka_unit_test(quotes_keep_blanks),
		cmocka_unit_test(refuses_what_is_not_whole),
		cmocka_unit_test(refuses_too_much),
		cmocka_unit_test(any_words_come_back),
		cmocka_unit_test(numbers),
		cmocka_unit_test(what_is_no_number),
		cmocka_unit_test(any_number_comes_back),
	};
	return cmocka_run_group_tests_name("words", t, NULL, NULL);
}
