/* SPDX-License-Identifier: BSD-2-Clause */
/* line: a line of input that a person edits.  Pure. */
#include "hv/monitor/line.h"

#include "hv/fmt.h"

#define WIDTH_MIN 8

#define CTRL(c) ((c) & 0x1f)
#define ESC	0x1b
#define DEL	0x7f

/* Keys that have no byte of their own; bytes from 0x80 on are not ASCII. */
enum { KEY_DELETE = 0x80, KEY_WORD_LEFT, KEY_WORD_RIGHT, KEY_WORD_DELETE };

/* What terminals send after ESC. */
static const struct {
	char sequence[7];
	uint8_t key;
} sequences[] = {
	{ "[A", CTRL('P') },	   { "OA", CTRL('P') },		{ "[B", CTRL('N') },
	{ "OB", CTRL('N') },	   { "[C", CTRL('F') },		{ "OC", CTRL('F') },
	{ "[D", CTRL('B') },	   { "OD", CTRL('B') },		{ "[H", CTRL('A') },
	{ "OH", CTRL('A') },	   { "[1~", CTRL('A') },	{ "[7~", CTRL('A') },
	{ "[F", CTRL('E') },	   { "OF", CTRL('E') },		{ "[4~", CTRL('E') },
	{ "[8~", CTRL('E') },	   { "[3~", KEY_DELETE },	{ "[1;5D", KEY_WORD_LEFT },
	{ "[1;3D", KEY_WORD_LEFT }, { "b", KEY_WORD_LEFT },	{ "[1;5C", KEY_WORD_RIGHT },
	{ "[1;3C", KEY_WORD_RIGHT }, { "f", KEY_WORD_RIGHT },	{ "d", KEY_WORD_DELETE },
};

static bool printable(char c)
{
	return c >= ' ' && c < DEL;
}

/* ---- the row on the terminal ----------------------------------------------------- */

static void put(const struct line *l, const char *s, size_t n)
{
	if (n)
		l->env->put(l->env->ctx, s, n);
}

static void put_text(const struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

static unsigned prompt_columns(const struct line *l)
{
	return (unsigned)min_u64(strlen(l->prompt), l->width / 2);
}

/* Columns for text.  The last one of the row stays empty: terminals differ in what follows it. */
static unsigned text_columns(const struct line *l)
{
	return l->width - 1 - prompt_columns(l);
}

static void place_cursor(const struct line *l)
{
	unsigned column = prompt_columns(l) + l->at - l->left;
	char move[16];

	put_text(l, "\r");
	if (column)
		put(l, move, hv_snprintf(move, sizeof(move), "\033[%uC", column));
}

static void draw(const struct line *l)
{
	put_text(l, "\r");
	put(l, l->prompt, prompt_columns(l));
	put(l, l->text + l->left, min_u64(l->len - l->left, text_columns(l)));
	put_text(l, "\033[K");
	place_cursor(l);
}

/*
 * Chooses what is shown: the whole line if it fits, else the cursor and what is
 * before it, where the next Backspace strikes.  True: something else than before.
 */
static bool scroll(struct line *l)
{
	unsigned columns = text_columns(l), was = l->left;

	if (l->len < columns)
		l->left = 0;
	else if (l->at - l->left >= columns || (l->left && l->at <= l->left))
		l->left = l->at > columns / 2 ? l->at - columns / 2 : 0;
	return l->left != was;
}

static void moved(struct line *l)
{
	if (scroll(l))
		draw(l);
	else
		place_cursor(l);
}

static void changed(struct line *l)
{
	scroll(l);
	draw(l);
}

void line_hide(struct line *l)
{
	put_text(l, "\r\033[K");
}

void line_show(struct line *l)
{
	draw(l);
}

/* ---- the text ---------------------------------------------------------------------- */

/* As much of @s as is fit for a line. */
static unsigned copy_text(char dst[LINE_MAX], const char *s)
{
	unsigned n = 0;

	for (; *s && n < LINE_MAX - 1; s++)
		if (printable(*s))
			dst[n++] = *s;
	dst[n] = 0;
	return n;
}

static void set_text(struct line *l, const char *s)
{
	l->len = copy_text(l->text, s);
	l->at = l->len;
	l->left = 0;
}

static void insert(struct line *l, const char *s, unsigned n)
{
	bool at_end = l->at == l->len;

	if (!n || n > LINE_MAX - 1 - l->len)
		return;
	memmove(l->text + l->at + n, l->text + l->at, l->len - l->at + 1);
	memcpy(l->text + l->at, s, n);
	l->len += n;
	l->at += n;
	/* Typing at the end is what happens most, and pasting: no more than its echo. */
	if (!scroll(l) && at_end)
		put(l, s, n);
	else
		draw(l);
}

/* Takes text[from..to) out; the cursor goes where it was. */
static void erase(struct line *l, unsigned from, unsigned to)
{
	if (from == to)
		return;
	memmove(l->text + from, l->text + to, l->len - to + 1);
	l->len -= to - from;
	l->at = from;
	changed(l);
}

static void move_to(struct line *l, unsigned at)
{
	l->at = at;
	moved(l);
}

static void transpose(struct line *l)
{
	unsigned at = l->at < l->len ? l->at : l->len - 1;
	char c;

	if (!l->at || l->len < 2)
		return;
	c = l->text[at];
	l->text[at] = l->text[at - 1];
	l->text[at - 1] = c;
	l->at = at + 1;
	changed(l);
}

static bool in_name(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool not_blank(char c)
{
	return c != ' ';
}

/* Where the word starts that the cursor is in or behind. */
static unsigned word_start(const struct line *l, bool (*in_word)(char c))
{
	unsigned at = l->at;

	while (at && !in_word(l->text[at - 1]))
		at--;
	while (at && in_word(l->text[at - 1]))
		at--;
	return at;
}

static unsigned word_end(const struct line *l)
{
	unsigned at = l->at;

	while (at < l->len && !in_name(l->text[at]))
		at++;
	while (at < l->len && in_name(l->text[at]))
		at++;
	return at;
}

/* ---- history ------------------------------------------------------------------------- */

/* The line kept @steps ago; 1 is the last. */
static char *past(struct line *l, unsigned steps)
{
	return l->history[(l->history_count - steps) % LINE_HISTORY];
}

static void go_back(struct line *l)
{
	if (l->history_at == min_u64(l->history_count, LINE_HISTORY))
		return;
	if (!l->history_at)
		copy_text(l->kept, l->text);
	set_text(l, past(l, ++l->history_at));
	changed(l);
}

static void go_forth(struct line *l)
{
	if (!l->history_at)
		return;
	set_text(l, --l->history_at ? past(l, l->history_at) : l->kept);
	changed(l);
}

void line_remember(struct line *l, const char *text)
{
	char clean[LINE_MAX];

	if (!copy_text(clean, text) || (l->history_count && !strcmp(clean, past(l, 1))))
		return;
	l->history_count++;
	memcpy(past(l, 1), clean, sizeof(clean));
}

/* ---- completion ---------------------------------------------------------------------- */

struct candidates {
	const char *typed; /* what they all begin with */
	unsigned typed_len;
	unsigned count, widest;
	char common[LINE_MAX];
	unsigned common_len;
};

/* The length of @word if it goes on from what is typed and may stand in a line, else 0. */
static unsigned candidate_len(const struct candidates *c, const char *word)
{
	unsigned n = 0;

	for (; word[n]; n++)
		if (n == LINE_MAX - 1 || !printable(word[n]) ||
		    (n < c->typed_len && word[n] != c->typed[n]))
			return 0;
	return n < c->typed_len ? 0 : n;
}

static void add_candidate(struct candidates *c, const char *word, unsigned len)
{
	unsigned n = 0;

	if (!c->count++) {
		memcpy(c->common, word, len);
		c->common_len = len;
	}
	while (n < c->common_len && n < len && word[n] == c->common[n])
		n++;
	c->common_len = n;
	c->widest = len > c->widest ? len : c->widest;
}

static const char *candidate(const struct line *l, unsigned index)
{
	return l->env->complete(l->env->ctx, l->text, l->at, index);
}

/* In columns below the line, and the line again. */
static void list_candidates(const struct line *l, const struct candidates *c)
{
	unsigned columns = l->width / (c->widest + 2), column = 0, len;
	const char *word;

	put_text(l, "\r\n");
	for (unsigned i = 0; (word = candidate(l, i)); i++) {
		len = candidate_len(c, word);
		if (!len)
			continue;
		put(l, word, len);
		if (++column >= columns) {
			put_text(l, "\r\n");
			column = 0;
			continue;
		}
		for (; len < c->widest + 2; len++)
			put(l, " ", 1);
	}
	if (column)
		put_text(l, "\r\n");
	draw(l);
}

static void complete(struct line *l)
{
	struct candidates c = { .count = 0 };
	unsigned start = l->at, len, more;
	const char *word;

	if (!l->env->complete)
		return;
	while (start && not_blank(l->text[start - 1]))
		start--;
	c.typed = l->text + start;
	c.typed_len = l->at - start;
	for (unsigned i = 0; (word = candidate(l, i)); i++) {
		len = candidate_len(&c, word);
		if (len)
			add_candidate(&c, word, len);
	}
	if (!c.count)
		return;
	more = c.common_len - c.typed_len;
	if (c.count > 1 && !more && l->last == '\t')
		list_candidates(l, &c);
	insert(l, c.common + c.typed_len, more);
	/* Behind SETTING= comes the value. */
	if (c.count > 1 || (l->at && l->text[l->at - 1] == '='))
		return;
	if (l->text[l->at] == ' ')
		move_to(l, l->at + 1);
	else
		insert(l, " ", 1);
}

/* ---- keys ------------------------------------------------------------------------------ */

/* Takes the next byte of a sequence; the key when it ends one that we know, else 0. */
static uint8_t escape_key(struct line *l, uint8_t byte)
{
	unsigned before = l->escape_len, len;

	if (before < sizeof(l->escape))
		l->escape[l->escape_len++] = byte;
	/* ESC [ and ESC O go on to a letter or ~; ESC [ [ and a letter are F1 to F5 on Linux. */
	if (before == 1 ? byte == '[' || byte == 'O' : byte < '@' || (before == 2 && byte == '['))
		return 0;
	len = l->escape_len - 1;
	l->escape_len = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(sequences); i++)
		if (strlen(sequences[i].sequence) == len &&
		    !memcmp(sequences[i].sequence, l->escape + 1, len))
			return sequences[i].key;
	return 0;
}

static void edit(struct line *l, uint8_t key)
{
	switch (key) {
	case CTRL('A'):
		return move_to(l, 0);
	case CTRL('B'):
		return move_to(l, l->at - (l->at > 0));
	case CTRL('E'):
		return move_to(l, l->len);
	case CTRL('F'):
		return move_to(l, l->at + (l->at < l->len));
	case KEY_WORD_LEFT:
		return move_to(l, word_start(l, in_name));
	case KEY_WORD_RIGHT:
		return move_to(l, word_end(l));
	case CTRL('H'):
	case DEL:
		return erase(l, l->at - (l->at > 0), l->at);
	case CTRL('D'):
	case KEY_DELETE:
		return erase(l, l->at, l->at + (l->at < l->len));
	case CTRL('K'):
		return erase(l, l->at, l->len);
	case CTRL('U'):
		return erase(l, 0, l->at);
	case CTRL('W'):
		return erase(l, word_start(l, not_blank), l->at);
	case KEY_WORD_DELETE:
		return erase(l, l->at, word_end(l));
	case CTRL('T'):
		return transpose(l);
	case CTRL('P'):
		return go_back(l);
	case CTRL('N'):
		return go_forth(l);
	case CTRL('L'):
		put_text(l, "\033[H\033[2J");
		return draw(l);
	case '\t':
		return complete(l);
	}
	if (printable((char)key))
		insert(l, (const char *)&key, 1);
}

static enum line_event cancel(struct line *l)
{
	move_to(l, l->len);
	put_text(l, "^C\r\n");
	set_text(l, "");
	return LINE_CANCEL;
}

static enum line_event act(struct line *l, uint8_t key)
{
	if (key == '\r' || (key == '\n' && l->last != '\r')) {
		put_text(l, "\r\n");
		return LINE_DONE;
	}
	if (key == CTRL('C'))
		return cancel(l);
	if (key == CTRL('D') && !l->len) {
		put_text(l, "\r\n");
		return LINE_END;
	}
	edit(l, key);
	return LINE_NONE;
}

/* A control byte ends a sequence and counts for itself, so a lone ESC does no harm. */
static enum line_event take(struct line *l, uint8_t byte)
{
	if (byte == ESC) {
		l->escape[0] = byte;
		l->escape_len = 1;
		return LINE_NONE;
	}
	if (l->escape_len && printable((char)byte))
		byte = escape_key(l, byte);
	else
		l->escape_len = 0;
	return byte ? act(l, byte) : LINE_NONE;
}

enum line_event line_key(struct line *l, uint8_t byte)
{
	enum line_event event = byte < 0x80 ? take(l, byte) : LINE_NONE;

	l->last = byte;
	return event;
}

/* ---- start ----------------------------------------------------------------------------- */

void line_init(struct line *l, const struct line_env *env, unsigned width)
{
	memset(l, 0, sizeof(*l));
	l->env = env;
	l->width = width > WIDTH_MIN ? width : WIDTH_MIN;
	l->prompt = "";
}

void line_begin(struct line *l, const char *prompt)
{
	line_begin_with(l, prompt, "");
}

void line_begin_with(struct line *l, const char *prompt, const char *text)
{
	l->prompt = prompt;
	l->history_at = 0;
	set_text(l, text);
	changed(l);
}
