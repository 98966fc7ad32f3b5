/* SPDX-License-Identifier: BSD-2-Clause */
/* line: what the terminal shows and what the text is, against a model of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "hv/monitor/line.h"
#include "tests/host/fake_term.h"
#include "tests/host/random.h"

#define UP    "\033[A"
#define DOWN  "\033[B"
#define RIGHT "\033[C"
#define LEFT  "\033[D"

static struct term term;
static struct line line;
static const char *const *words; /* what can be completed */

static const char *complete_word(void *ctx, const char *text, size_t len, unsigned index)
{
	static char reused[64];
	unsigned i = 0;

	assert_ptr_equal(ctx, &term);
	assert_ptr_equal(text, line.text);
	assert_true(len == line.at);
	while (words[i] && i < index)
		i++;
	if (!words[i])
		return NULL;
	snprintf(reused, sizeof(reused), "%s", words[i]);
	return reused;
}

static const struct line_env env = { &term, term_put, complete_word };

static void start(unsigned width, const char *prompt)
{
	term_init(&term, width);
	line_init(&line, &env, width);
	line_begin(&line, prompt);
}

/* The event of the last key; the others have none. */
static enum line_event type(const char *keys)
{
	for (; keys[1]; keys++)
		assert_int_equal(line_key(&line, (uint8_t)*keys), LINE_NONE);
	return line_key(&line, (uint8_t)*keys);
}

/* The text after @keys on a new line, with | where the cursor is. */
static const char *edited(const char *keys)
{
	static char s[LINE_MAX + 1];

	start(80, "> ");
	assert_int_equal(type(keys), LINE_NONE);
	assert_int_equal(strlen(line.text), line.len);
	snprintf(s, sizeof(s), "%.*s|%s", (int)line.at, line.text, line.text + line.at);
	assert_int_equal(term.x, 2 + line.at);
	return s;
}

static void each_key_does_what_it_says(void **s)
{
	(void)s;
	assert_string_equal(edited("one two"), "one two|");
	assert_string_equal(edited("one\001x"), "x|one");
	assert_string_equal(edited("one\033[Hx\033[Fy"), "xoney|");
	assert_string_equal(edited("one\033[1~x\033[4~y\033OHz\033OF"), "zxoney|");
	assert_string_equal(edited("one\033[7~x\033[8~y"), "xoney|");
	assert_string_equal(edited("one\002\002x"), "ox|ne");
	assert_string_equal(edited("one" LEFT LEFT LEFT LEFT RIGHT "x"), "ox|ne");
	assert_string_equal(edited("one\033OD\033OD\033OCx"), "onx|e");
	assert_string_equal(edited("one\001\006\006\006\006x\005y"), "onexy|");
	assert_string_equal(edited("one\b\177x"), "ox|");
	assert_string_equal(edited("\b\177x"), "x|");
	assert_string_equal(edited("one\001\004\033[3~x"), "x|e");
	assert_string_equal(edited("\033[3~one\033[3~"), "one|");
	assert_string_equal(edited("one two\002\002\013"), "one t|");
	assert_string_equal(edited("one two\002\002\025"), "|wo");
	assert_string_equal(edited("one two-x  \027"), "one |");
	assert_string_equal(edited("ab\024"), "ba|");
	assert_string_equal(edited("abc\001\006\024"), "ba|c");
	assert_string_equal(edited("abc\001\024x"), "x|abc");
	assert_string_equal(edited("a\024"), "a|");
}

static void words_end_where_letters_do(void **s)
{
	(void)s;
	assert_string_equal(edited("one two-3x\033b"), "one two-|3x");
	assert_string_equal(edited("one two-3x\033b\033b"), "one |two-3x");
	assert_string_equal(edited("one two \033[1;5D\033[1;3D\033bx"), "x|one two ");
	assert_string_equal(edited("one two-x\001\033f\033[1;5C"), "one two|-x");
	assert_string_equal(edited("one two\001\033[1;3C\033f\033fx"), "one twox|");
	assert_string_equal(edited("one two-x\001\033f\033d"), "one|-x");
	assert_string_equal(edited("one\033d"), "one|");
}

static void what_it_does_not_know_it_drops(void **s)
{
	(void)s;
	assert_string_equal(edited("a\033zb"), "ab|");
	assert_string_equal(edited("a\033[200~b\033[99;99;99;99Xc\033OPd"), "abcd|");
	assert_string_equal(edited("a\033[[Ab"), "ab|");
	assert_string_equal(edited("a\033[3;5~b\033[1;5Zc\033O5Cd"), "abcd|");
	assert_string_equal(edited("a\001\033[11111111111111111111111111111111111111D\005b"), "ab|");
	assert_string_equal(edited("a\033\033[Db"), "b|a");
	assert_string_equal(edited("a\303\244\200\377b"), "ab|");
	assert_string_equal(edited("a\007\021\023\026\032\034\035\036\037b"), "ab|");
	/* A byte that is no key neither ends nor disturbs a sequence. */
	assert_string_equal(edited("ab\033\200[\377Dc"), "ac|b");
	/* A control byte does, and counts. */
	assert_string_equal(edited("ab\033[\001c"), "c|ab");
	start(80, "> ");
	assert_int_equal(type("ab\033\r"), LINE_DONE);
	/* Without an end it is dropped forever. */
	start(80, "> ");
	assert_int_equal(type("ab\033["), LINE_NONE);
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(line_key(&line, '0' + i % 10), LINE_NONE);
	assert_string_equal(line.text, "ab");
	assert_int_equal(type("Dc"), LINE_NONE);
	assert_string_equal(line.text, "abc");
}

static void enter_counts_once(void **s)
{
	(void)s;
	start(80, "> ");
	assert_int_equal(type("one\r"), LINE_DONE);
	assert_string_equal(line.text, "one");
	assert_true(term_row_is(&term, 0, "> one"));
	assert_int_equal(term.y, 1);
	assert_int_equal(term.x, 0);
	line_begin(&line, "> ");
	assert_int_equal(type("\n"), LINE_NONE);
	assert_string_equal(line.text, "");
	assert_int_equal(type("\n"), LINE_DONE);
	line_begin(&line, "> ");
	assert_int_equal(type("two\n"), LINE_DONE);
	assert_string_equal(line.text, "two");
	line_begin(&line, "> ");
	assert_int_equal(type("\r"), LINE_DONE);
	line_begin(&line, "> ");
	assert_int_equal(type("\r"), LINE_DONE);
}

static void cancels_and_ends(void **s)
{
	(void)s;
	start(80, "> ");
	assert_int_equal(type("one\002\002\003"), LINE_CANCEL);
	assert_true(term_row_is(&term, 0, "> one^C"));
	assert_int_equal(line.len, 0);
	assert_int_equal(term.x, 0);
	line_begin(&line, "> ");
	assert_int_equal(type("a\002\004\004"), LINE_END);
	assert_true(term_row_is(&term, 1, "> "));
	assert_int_equal(term.y, 2);
	start(8, "> ");
	assert_int_equal(type("longer than the row\003"), LINE_CANCEL);
	assert_int_equal(term.wraps, 0);
	assert_int_equal(line.left, 0);
}

static void history_goes_back_and_forth(void **s)
{
	char text[16];

	(void)s;
	start(80, "> ");
	assert_int_equal(type("x" UP DOWN DOWN), LINE_NONE);
	assert_string_equal(line.text, "x");
	line_remember(&line, "");
	line_remember(&line, "one");
	line_remember(&line, "one");
	line_remember(&line, "two\007");
	line_remember(&line, "two");
	assert_int_equal(type("y" UP), LINE_NONE);
	assert_string_equal(line.text, "two");
	assert_int_equal(type("z\020"), LINE_NONE);
	assert_string_equal(line.text, "one");
	assert_int_equal(type(UP UP), LINE_NONE);
	assert_string_equal(line.text, "one");
	assert_int_equal(type("\016"), LINE_NONE);
	assert_string_equal(line.text, "two");
	assert_int_equal(type(DOWN DOWN), LINE_NONE);
	assert_string_equal(line.text, "xy");
	assert_true(term_row_is(&term, 0, "> xy"));
	/* The ring keeps the last ones. */
	for (unsigned i = 0; i < 3 * LINE_HISTORY; i++) {
		snprintf(text, sizeof(text), "line %u", i);
		line_remember(&line, text);
	}
	line_begin(&line, "> ");
	for (unsigned i = 0; i < LINE_HISTORY + 3; i++)
		type(UP);
	snprintf(text, sizeof(text), "line %u", 2 * LINE_HISTORY);
	assert_string_equal(line.text, text);
	for (unsigned i = 1; i < LINE_HISTORY; i++)
		type(DOWN);
	snprintf(text, sizeof(text), "line %u", 3 * LINE_HISTORY - 1);
	assert_string_equal(line.text, text);
	/* A new line starts at the end of history. */
	line_begin(&line, "> ");
	type("new" UP DOWN);
	assert_string_equal(line.text, "new");
}

static void tab_leaves_room_for_a_value(void **s)
{
	static const char *const list[] = { "weight=", NULL };

	(void)s;
	words = list;
	assert_string_equal(edited("vm set web we\t"), "vm set web weight=|");
	assert_string_equal(edited("vm set web we\t5"), "vm set web weight=5|");
}

static void tab_completes_what_is_common(void **s)
{
	static const char *const some[] = { "pause", "pause-all", "vm", "stop", "bad\007", NULL };

	(void)s;
	words = some;
	assert_string_equal(edited("s\t"), "stop |");
	assert_string_equal(edited("show s\tx"), "show stop x|");
	assert_string_equal(edited("p\t"), "pause|");
	assert_string_equal(edited("pause-\t"), "pause-all |");
	assert_string_equal(edited("q\t\t"), "q|");
	assert_string_equal(edited("b\t"), "b|");
	assert_string_equal(edited("stopp\t"), "stopp|");
	/* In front of other text: the blank that is there already does. */
	assert_string_equal(edited("s x\002\002\t"), "stop |x");
	assert_string_equal(edited("s-x\002\002\t"), "stop |-x");
	assert_true(term_row_is(&term, 0, "> stop -x"));
	/* Nothing common: Tab alone does nothing. */
	assert_string_equal(edited("\t"), "|");
	assert_int_equal(term.y, 0);
	line_begin(&line, "> ");
	line.env = &(struct line_env){ &term, term_put, NULL };
	assert_int_equal(type("s\t\t"), LINE_NONE);
	assert_string_equal(line.text, "s");
}

static void second_tab_lists(void **s)
{
	static const char *const some[] = { "aa-first", "aa-2", "aa-3", "b", "aa-4", NULL };

	(void)s;
	words = some;
	start(20, "> ");
	assert_int_equal(type("x a\t\t"), LINE_NONE);
	assert_true(term_row_is(&term, 0, "> x aa-"));
	assert_true(term_row_is(&term, 1, "aa-first  aa-2"));
	assert_true(term_row_is(&term, 2, "aa-3      aa-4"));
	assert_true(term_row_is(&term, 3, "> x aa-"));
	assert_int_equal(term.y, 3);
	assert_int_equal(term.x, 7);
	/* Something between: not in a row. */
	assert_int_equal(type("x\177\t"), LINE_NONE);
	assert_int_equal(term.y, 3);
	assert_int_equal(type("\t"), LINE_NONE);
	assert_int_equal(term.y, 6);
	/* A row that is not full ends as well; a row of one when they are wide. */
	start(80, "> ");
	type("aa-\t\t");
	assert_true(term_row_is(&term, 1, "aa-first  aa-2      aa-3      aa-4"));
	assert_true(term_row_is(&term, 2, "> aa-"));
	start(8, "> ");
	type("aa-\t\t");
	assert_true(term_row_is(&term, 1, "aa-first"));
	assert_true(term_row_is(&term, 4, "aa-4"));
	assert_int_equal(term.y, 5);
	/* Not while there is something to complete. */
	words = some + 4;
	assert_string_equal(edited("aa-4\t\t"), "aa-4 aa-4 |");
	words = (const char *const[]){ "aa-1", "aa-2", NULL };
	start(80, "> ");
	type("aa-1\t\t");
	assert_string_equal(line.text, "aa-1 aa-");
	assert_int_equal(term.y, 0);
	type("\t");
	assert_int_equal(term.y, 2);
}

static void other_output_comes_between(void **s)
{
	(void)s;
	start(40, "name> ");
	type("abc\002");
	line_hide(&line);
	assert_true(term_row_is(&term, 0, ""));
	term_put(&term, "log\r\n", 5);
	line_show(&line);
	assert_true(term_row_is(&term, 0, "log"));
	assert_true(term_row_is(&term, 1, "name> abc"));
	assert_int_equal(term.x, 8);
	type("\014");
	assert_true(term_row_is(&term, 0, "name> abc"));
	assert_true(term_row_is(&term, 1, ""));
	assert_int_equal(term.y, 0);
	assert_int_equal(term.x, 8);
	line_begin_with(&line, "edit> ", "old\n text\200\177\033[A");
	assert_true(term_row_is(&term, 0, "edit> old text[A"));
	assert_int_equal(term.x, 16);
}

static void long_lines_scroll(void **s)
{
	char full[LINE_MAX + 8];

	(void)s;
	start(20, "> ");
	for (char c = 'a'; c <= 'z'; c++)
		line_key(&line, (uint8_t)c);
	assert_int_equal(term.cell[0][term.x - 1], 'z');
	assert_int_equal(term.wraps, 0);
	type("\001");
	assert_true(term_row_is(&term, 0, "> abcdefghijklmnopq"));
	assert_int_equal(term.x, 2);
	/* Before the cursor something is seen, while there is something. */
	type("\005");
	for (unsigned i = 0; i < 20; i++) {
		type("\177");
		assert_int_equal(term.cell[0][term.x - 1], "abcdefghijklmnopqrstuvwxyz"[24 - i]);
	}
	assert_true(term_row_is(&term, 0, "> abcdef"));
	/* What fits again is seen whole. */
	line_begin_with(&line, "> ", "abcdefghijklmnopqrstuvwxyz");
	type(LEFT LEFT LEFT LEFT LEFT LEFT LEFT LEFT LEFT LEFT "\013");
	assert_true(term_row_is(&term, 0, "> abcdefghijklmnop"));
	/* No more than the line holds. */
	memset(full, 'x', sizeof(full));
	full[sizeof(full) - 1] = 0;
	line_begin_with(&line, "> ", full);
	assert_int_equal(line.len, LINE_MAX - 1);
	type("\001y");
	assert_int_equal(line.len, LINE_MAX - 1);
	assert_int_equal(line.text[0], 'x');
	/* The prompt leaves half of the row. */
	start(20, "a prompt that is long> ");
	type("abc");
	assert_true(term_row_is(&term, 0, "a prompt tabc"));
	line_init(&line, &env, 0);
	line_begin(&line, "> ");
	type("abcdefgh");
	assert_true(line.left);
}

/* ---- any keys -------------------------------------------------------------------------- */

struct model {
	char text[LINE_MAX];
	unsigned at;
};

static void model_insert(struct model *m, char c)
{
	size_t n = strlen(m->text);

	if (n == LINE_MAX - 1)
		return;
	memmove(m->text + m->at + 1, m->text + m->at, n - m->at + 1);
	m->text[m->at++] = c;
}

static void model_erase(struct model *m, unsigned from, unsigned to)
{
	memmove(m->text + from, m->text + to, strlen(m->text + to) + 1);
	m->at = from;
}

static bool is_word(char c, bool blanks_only)
{
	return blanks_only ? c != ' ' : c && strchr("0123456789abcdefghijklmnopqrstuvwxyz"
						    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", c);
}

static unsigned model_back(const struct model *m, bool blanks_only)
{
	unsigned i = m->at;

	while (i && !is_word(m->text[i - 1], blanks_only))
		i--;
	while (i && is_word(m->text[i - 1], blanks_only))
		i--;
	return i;
}

static unsigned model_on(const struct model *m)
{
	unsigned i = m->at;

	while (m->text[i] && !is_word(m->text[i], false))
		i++;
	while (is_word(m->text[i], false))
		i++;
	return i;
}

static const char *const keys[] = {
	"\001", "\002", "\005", "\006", "\b", "\177", "\004", "\013", "\025", "\027", "\033[D", "\033[C",
	"\033OH", "\033[F", "\033[3~", "\033b", "\033f", "\033d", "\033[1;5D", "\033[1;5C",
	"\014", "\033[5~", "\200", "\033q", "\007",
};

static void model_key(struct model *m, unsigned key)
{
	unsigned len = (unsigned)strlen(m->text), on = m->at < len, back = m->at > 0;

	switch (key) {
	case 0: case 12: m->at = 0; break;
	case 1: case 10: m->at -= back; break;
	case 2: case 13: m->at = len; break;
	case 3: case 11: m->at += on; break;
	case 4: case 5: model_erase(m, m->at - back, m->at); break;
	case 6: case 14: model_erase(m, m->at, m->at + on); break;
	case 7: model_erase(m, m->at, len); break;
	case 8: model_erase(m, 0, m->at); break;
	case 9: model_erase(m, model_back(m, true), m->at); break;
	case 15: case 18: m->at = model_back(m, false); break;
	case 16: case 19: m->at = model_on(m); break;
	case 17: model_erase(m, m->at, model_on(m)); break;
	}
}

static void shows(const struct model *m, const char *prompt)
{
	unsigned columns = line.width - 1 - (unsigned)strlen(prompt);
	char row[TERM_WIDTH_MAX + LINE_MAX];

	assert_string_equal(line.text, m->text);
	assert_int_equal(line.len, strlen(m->text));
	assert_int_equal(line.at, m->at);
	assert_true(line.left <= line.at && line.at - line.left < columns);
	assert_true(!line.left || (line.left < line.at && line.len >= columns));
	snprintf(row, sizeof(row), "%s%.*s", prompt, (int)columns, m->text + line.left);
	assert_true(term_row_is(&term, term.y, row));
	assert_int_equal(term.x, strlen(prompt) + m->at - line.left);
	assert_int_equal(term.wraps, 0);
}

static void any_keys(unsigned width, const char *prompt, unsigned typing)
{
	struct model m = { .at = 0 };
	unsigned key;

	start(width, prompt);
	for (unsigned i = 0; i < 20000; i++) {
		if (below(100) < typing) {
			char c = (char)(below(4) ? 'a' + below(26) : ' ' + below(95));

			assert_int_equal(line_key(&line, (uint8_t)c), LINE_NONE);
			model_insert(&m, c);
		} else {
			key = below(ARRAY_SIZE(keys));
			if (keys[key][0] == '\004' && !m.text[0])
				continue;
			model_key(&m, key);
			assert_int_equal(type(keys[key]), LINE_NONE);
		}
		shows(&m, prompt);
	}
}

static void shows_the_line_after_any_keys(void **s)
{
	(void)s;
	for (unsigned round = 0; round < 4; round++) {
		any_keys(80, "faultline> ", 70);
		any_keys(80, "", 98);
		any_keys(8, "abcd", 80);
		any_keys(31, "vm> ", 90);
		any_keys(160, "> ", 99);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(each_key_does_what_it_says),
		cmocka_unit_test(words_end_where_letters_do),
		cmocka_unit_test(what_it_does_not_know_it_drops),
		cmocka_unit_test(enter_counts_once),
		cmocka_unit_test(cancels_and_ends),
		cmocka_unit_test(history_goes_back_and_forth),
		cmocka_unit_test(tab_completes_what_is_common),
		cmocka_unit_test(tab_leaves_room_for_a_value),
		cmocka_unit_test(second_tab_lists),
		cmocka_unit_test(other_output_comes_between),
		cmocka_unit_test(long_lines_scroll),
		cmocka_unit_test(shows_the_line_after_any_keys),
	};
	return cmocka_run_group_tests_name("line", t, NULL, NULL);
}
