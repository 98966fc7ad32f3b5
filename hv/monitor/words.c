/* SPDX-License-Identifier: BSD-2-Clause */
/* words: a command line cut into words, and the numbers among them.  Pure. */
#include "hv/monitor/words.h"

/* ---- words ------------------------------------------------------------------------- */

/* Joins the parts of the word at @from into @to; both go on behind it. */
static enum hv_status take_word(const char **from, char **to)
{
	const char *s = *from;
	char *d = *to, quote = 0;

	for (; *s && (quote || *s != ' '); s++) {
		if (quote ? *s == quote : *s == '"' || *s == '\'') {
			quote = quote ? 0 : *s;
			continue;
		}
		if (*s == '\\' && quote != '\'' && !*++s)
			return HV_INVAL;
		*d++ = *s;
	}
	*from = s;
	*to = d;
	return quote ? HV_INVAL : HV_OK;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((uint8_t)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

enum hv_status words_split(struct words *w, const char *line)
{
	char *to = w->text;
	enum hv_status st;

	w->count = 0;
	if (has_control(line))
		return HV_INVAL;
	/* Words with their zeros take no more than the line with its own. */
	if (strlen(line) >= sizeof(w->text))
		return HV_RANGE;
	for (;;) {
		while (*line == ' ')
			line++;
		if (!*line)
			return HV_OK;
		if (w->count == WORDS_MAX)
			return HV_RANGE;
		w->word[w->count] = to;
		st = take_word(&line, &to);
		if (st)
			return st;
		*to++ = 0;
		w->count++;
	}
}

/* ---- numbers ------------------------------------------------------------------------- */

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A' + 10);
	return ~0U;
}

/* How far a suffix shifts; 64: it is none. */
static unsigned suffix_shift(const char *s)
{
	if (!*s)
		return 0;
	if (s[1])
		return 64;
	return *s == 'K' ? 10 : *s == 'M' ? 20 : *s == 'G' ? 30 : 64;
}

enum hv_status words_number(const char *word, uint64_t min, uint64_t max, uint64_t *v)
{
	unsigned base = word[0] == '0' && word[1] == 'x' ? 16 : 10, shift;
	const char *s = base == 16 ? word + 2 : word, *start = s;
	bool beyond = false;
	uint64_t n = 0;

	for (; digit(*s) < base; s++) {
		beyond |= n > (~0ULL - digit(*s)) / base;
		n = n * base + digit(*s);
	}
	shift = suffix_shift(s);
	if (s == start || shift == 64 || (shift && base == 16))
		return HV_INVAL;
	if (beyond || n > ~0ULL >> shift)
		return HV_RANGE;
	n <<= shift;
	if (n < min || n > max)
		return HV_RANGE;
	*v = n;
	return HV_OK;
}
