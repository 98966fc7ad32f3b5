/* SPDX-License-Identifier: BSD-2-Clause */
/* json: reads the one object of a request, in place.  Pure. */
#include "hv/monitor/json.h"

/* @at is never beyond @len; after a failure it is the place of the first bad byte. */
struct scan {
	const char *text;
	size_t len, at;
};

/* ---- bytes ------------------------------------------------------------------------- */

/* The next byte; 0, which is good nowhere, at the end. */
static uint8_t peek(const struct scan *s)
{
	return s->at < s->len ? (uint8_t)s->text[s->at] : 0;
}

static bool take(struct scan *s, char c)
{
	if (peek(s) != (uint8_t)c)
		return false;
	s->at++;
	return true;
}

static bool take_between(struct scan *s, uint8_t first, uint8_t last)
{
	uint8_t c = peek(s);

	if (c < first || c > last)
		return false;
	s->at++;
	return true;
}

static bool take_word(struct scan *s, const char *word)
{
	while (*word && take(s, *word))
		word++;
	return !*word;
}

static void skip_space(struct scan *s)
{
	while (take(s, ' ') || take(s, '\t') || take(s, '\n') || take(s, '\r'))
		;
}

/* ---- strings ----------------------------------------------------------------------- */

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits: the second half of a surrogate pair if @second, or anything but that. */
static bool take_unit(struct scan *s, bool second, uint32_t *unit)
{
	uint32_t v = 0;
	int digit;

	for (unsigned i = 0; i < 4; i++, s->at++) {
		digit = hex_value(peek(s));
		if (digit < 0 || (second && !i && digit != 0xd))
			return false;
		v = v << 4 | (uint32_t)digit;
		if (i == 1 && (v >> 2 == 0xdc >> 2) != second)
			return false;
	}
	*unit = v;
	return true;
}

/* What comes after a backslash, as a code point. */
static bool take_escape(struct scan *s, uint32_t *code)
{
	static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	uint32_t low;

	for (unsigned i = 0; i < sizeof(names) - 1; i += 2)
		if (take(s, names[i])) {
			*code = (uint8_t)names[i + 1];
			return true;
		}
	if (!take(s, 'u') || !take_unit(s, false, code))
		return false;
	if (*code >> 10 != 0xd800 >> 10)
		return true;
	if (!take_word(s, "\\u") || !take_unit(s, true, &low))
		return false;
	*code = 0x10000 + ((*code & 0x3ff) << 10) + (low & 0x3ff);
	return true;
}

/* A character beyond ASCII.  RFC 3629 section 4: nothing longer than needed, no surrogates. */
static bool take_utf8(struct scan *s)
{
	uint8_t c = peek(s);
	unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;

	if (!take_between(s, 0xc2, 0xf4) ||
	    !take_between(s, c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80,
			  c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf))
		return false;
	while (--more)
		if (!take_between(s, 0x80, 0xbf))
			return false;
	return true;
}

static unsigned encode_utf8(uint32_t code, char utf8[4])
{
	unsigned n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (unsigned i = n; --i; code >>= 6)
		utf8[i] = (char)(0x80 | (code & 0x3f));
	utf8[0] = (char)(n == 1 ? code : (0xf00 >> n & 0xff) | code);
	return n;
}

/* One character of a string, in UTF-8; its length, or 0: it is bad. */
static unsigned take_char(struct scan *s, char utf8[4])
{
	size_t start = s->at;
	uint32_t code;

	if (take(s, '\\'))
		return take_escape(s, &code) ? encode_utf8(code, utf8) : 0;
	if (!take_between(s, ' ', 0x7f) && !take_utf8(s))
		return 0;
	memcpy(utf8, s->text + start, s->at - start);
	return (unsigned)(s->at - start);
}

static bool take_string(struct scan *s)
{
	char utf8[4];

	if (!take(s, '"'))
		return false;
	while (!take(s, '"'))
		if (!take_char(s, utf8))
			return false;
	return true;
}

/* ---- values -------------------------------------------------------------------------- */

static bool take_digits(struct scan *s)
{
	if (!take_between(s, '0', '9'))
		return false;
	while (take_between(s, '0', '9'))
		;
	return true;
}

static bool take_number(struct scan *s)
{
	take(s, '-');
	if (!take(s, '0') && !take_digits(s))
		return false;
	if (take(s, '.') && !take_digits(s))
		return false;
	if (take(s, 'e') || take(s, 'E')) {
		if (!take(s, '+'))
			take(s, '-');
		return take_digits(s);
	}
	return true;
}

/* The name of a member and its colon. */
static bool take_name(struct scan *s)
{
	skip_space(s);
	if (!take_string(s))
		return false;
	skip_space(s);
	return take(s, ':');
}

static enum hv_status take_value(struct scan *s, unsigned depth);

/* An object or an array with @depth around it, from its bracket on. */
static enum hv_status take_all(struct scan *s, unsigned depth)
{
	bool object = peek(s) == '{';
	char end = object ? '}' : ']';
	enum hv_status st;

	if (depth == JSON_DEPTH)
		return HV_RANGE;
	s->at++;
	skip_space(s);
	if (take(s, end))
		return HV_OK;
	do {
		if (object && !take_name(s))
			return HV_INVAL;
		st = take_value(s, depth + 1);
		if (st)
			return st;
		skip_space(s);
	} while (take(s, ','));
	return take(s, end) ? HV_OK : HV_INVAL;
}

static enum json_type type_of(uint8_t c)
{
	switch (c) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

static enum hv_status take_value(struct scan *s, unsigned depth)
{
	bool good;

	skip_space(s);
	switch (type_of(peek(s))) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return take_all(s, depth);
	case JSON_STRING:
		good = take_string(s);
		break;
	case JSON_BOOL:
		good = take_word(s, peek(s) == 't' ? "true" : "false");
		break;
	case JSON_NULL:
		good = take_word(s, "null");
		break;
	default:
		good = take_number(s);
	}
	return good ? HV_OK : HV_INVAL;
}

/* ---- for callers --------------------------------------------------------------------- */

enum hv_status json_check(const char *text, size_t len, size_t *at)
{
	struct scan s = { text, len, 0 };
	enum hv_status st = HV_INVAL;

	skip_space(&s);
	if (peek(&s) == '{')
		st = take_all(&s, 0);
	if (!st) {
		skip_space(&s);
		st = s.at == len ? HV_OK : HV_INVAL;
	}
	*at = s.at;
	return st;
}

/* True when the string that is next, a good one, is @key when its escapes are gone. */
static bool string_is(struct scan s, const char *key)
{
	char utf8[4];
	unsigned n;

	take(&s, '"');
	for (; !take(&s, '"'); key += n) {
		n = take_char(&s, utf8);
		for (unsigned i = 0; i < n; i++)
			if (!key[i] || key[i] != utf8[i])
				return false;
	}
	return !*key;
}

bool json_member(const char *text, size_t len, const char *key, struct json_value *v)
{
	struct scan s = { text, len, 0 }, name;
	bool found;

	skip_space(&s);
	do {
		s.at++; /* the brace or the comma */
		skip_space(&s);
		name = s;
		if (!take_name(&s))
			return false;
		found = string_is(name, key);
		skip_space(&s);
		v->type = type_of(peek(&s));
		v->text = text + s.at;
		if (take_value(&s, 1))
			return false;
		v->len = (size_t)(text + s.at - v->text);
		skip_space(&s);
	} while (!found && peek(&s) == ',');
	return found;
}

enum hv_status json_string(const struct json_value *v, char *buf, size_t size)
{
	struct scan s = { v->text, v->len, 0 };
	char utf8[4];
	size_t len = 0;
	unsigned n;

	if (!take(&s, '"'))
		return HV_INVAL;
	for (; !take(&s, '"'); len += n) {
		n = take_char(&s, utf8);
		if (!n)
			return HV_INVAL;
		if (!utf8[0] || n > size - len)
			return HV_RANGE;
		memcpy(buf + len, utf8, n);
	}
	if (len == size)
		return HV_RANGE;
	buf[len] = 0;
	return HV_OK;
}
