/* SPDX-License-Identifier: BSD-2-Clause */
/* out: what a command answers, once for people and once for programs.  Pure. */
#include "hv/monitor/out.h"

#include "hv/fmt.h"

#define TEXT_MAX 2304 /* of one formatted string: a command line, each byte of it escaped, and more */
#define GAP	 2    /* blanks between columns, and of indentation */

/* ---- bytes ------------------------------------------------------------------------- */

static void put(const struct out *o, const char *s)
{
	if (*s)
		o->put(o->ctx, s, strlen(s));
}

static void blanks(const struct out *o, size_t n)
{
	static const char row[] = "                ";

	for (size_t step; n; n -= step) {
		step = min_u64(n, sizeof(row) - 1);
		o->put(o->ctx, row, step);
	}
}

/* How @c is written, which is itself unless it needs an escape. */
static size_t spell(enum out_format format, char c, char spelt[8])
{
	uint8_t byte = (uint8_t)c;

	if (byte < ' ' || byte >= 0x7f)
		return hv_snprintf(spelt, 8, format == OUT_JSON ? "\\u%04x" : "\\x%02x", byte);
	if (format == OUT_JSON && (c == '"' || c == '\\'))
		return hv_snprintf(spelt, 8, "\\%c", c);
	spelt[0] = c;
	return 1;
}

static size_t spelt_len(const struct out *o, const char *s)
{
	char spelt[8];
	size_t n = 0;

	for (; *s; s++)
		n += spell(o->format, *s, spelt);
	return n;
}

static void put_spelt(const struct out *o, const char *s)
{
	char b[64];
	size_t n = 0;

	for (; *s; s++) {
		if (n + 8 > sizeof(b)) {
			o->put(o->ctx, b, n);
			n = 0;
		}
		n += spell(o->format, *s, b + n);
	}
	if (n)
		o->put(o->ctx, b, n);
}

static void put_quoted(const struct out *o, const char *s)
{
	put(o, "\"");
	put_spelt(o, s);
	put(o, "\"");
}

/* What does not fit ends in dots. */
static void format_text(char text[TEXT_MAX], const char *f, va_list ap)
{
	if (hv_vsnprintf(text, TEXT_MAX, f, ap) >= TEXT_MAX)
		memcpy(text + TEXT_MAX - 4, "...", 4);
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* The comma before all but the first of a level. */
static void json_next(struct out *o)
{
	if (!o->first)
		put(o, ",");
	o->first = false;
}

static void json_key(struct out *o, const char *key)
{
	json_next(o);
	put_quoted(o, key);
	put(o, ":");
}

static void json_open(struct out *o, const char *bracket)
{
	put(o, bracket);
	o->first = true;
}

static void json_close(struct out *o, const char *bracket)
{
	put(o, bracket);
	o->first = false;
}

/* ---- text ------------------------------------------------------------------------------ */

static void text_key(const struct out *o, const char *key)
{
	blanks(o, o->depth * GAP);
	put_spelt(o, key);
	put(o, ":");
}

static size_t column_width(const struct out_column *c)
{
	size_t width = (size_t)(c->width < 0 ? -c->width : c->width);

	return max_u64(width, strlen(c->key));
}

/* The next cell of a row, padded, unless nothing comes after it. */
static void text_cell(struct out *o, const char *s)
{
	const struct out_column *c = &o->column[o->cell];
	size_t len = spelt_len(o, s), width = column_width(c), pad = width > len ? width - len : 0;

	blanks(o, o->cell++ ? GAP : o->depth * GAP);
	if (c->width < 0)
		blanks(o, pad);
	put_spelt(o, s);
	if (c->width >= 0 && o->cell < o->column_count)
		blanks(o, pad);
}

/* Cells that a row leaves out stay empty; what no column is for is for programs only. */
static void text_cell_of(struct out *o, const char *key, const char *s)
{
	unsigned i = o->cell;

	while (i < o->column_count && strcmp(o->column[i].key, key))
		i++;
	if (i == o->column_count)
		return;
	while (o->cell < i)
		text_cell(o, "");
	text_cell(o, s);
}

static void text_heading(struct out *o)
{
	char name[32];
	size_t n;

	for (o->cell = 0; o->cell < o->column_count;) {
		n = hv_snprintf(name, sizeof(name), "%s", o->column[o->cell].key);
		for (size_t i = 0; i < n && name[i]; i++)
			if (name[i] >= 'a' && name[i] <= 'z')
				name[i] = (char)(name[i] - 'a' + 'A');
		text_cell(o, name);
	}
	put(o, "\n");
}

static void text_line(struct out *o, const char *before, const char *s)
{
	put(o, before);
	put_spelt(o, s);
	put(o, "\n");
}

/* ---- members --------------------------------------------------------------------------- */

static void text_member(struct out *o, const char *key, const char *s)
{
	if (o->column) {
		text_cell_of(o, key, s);
		return;
	}
	text_key(o, key);
	text_line(o, " ", s);
}

static void member_string(struct out *o, const char *key, const char *s)
{
	if (o->format == OUT_TEXT) {
		text_member(o, key, s);
		return;
	}
	json_key(o, key);
	put_quoted(o, s);
}

/* What JSON writes without quotes. */
static void member_bare(struct out *o, const char *key, const char *text, const char *json)
{
	if (o->format == OUT_TEXT) {
		text_member(o, key, text);
		return;
	}
	json_key(o, key);
	put(o, json);
}

void out_str(struct out *o, const char *key, const char *f, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, f);
	format_text(text, f, ap);
	va_end(ap);
	member_string(o, key, text);
}

void out_u64(struct out *o, const char *key, uint64_t v)
{
	char b[24];

	hv_snprintf(b, sizeof(b), "%llu", (unsigned long long)v);
	member_bare(o, key, b, b);
}

void out_u64s(struct out *o, const char *key, const uint64_t *v, unsigned count)
{
	char b[24];

	if (o->format == OUT_TEXT)
		return;
	json_key(o, key);
	json_open(o, "[");
	for (unsigned i = 0; i < count; i++) {
		hv_snprintf(b, sizeof(b), "%llu", (unsigned long long)v[i]);
		json_next(o);
		put(o, b);
	}
	json_close(o, "]");
}

void out_hex(struct out *o, const char *key, uint64_t v)
{
	char b[24];

	hv_snprintf(b, sizeof(b), "0x%llx", (unsigned long long)v);
	member_string(o, key, b);
}

void out_bool(struct out *o, const char *key, bool v)
{
	member_bare(o, key, v ? "yes" : "no", v ? "true" : "false");
}

void out_milli(struct out *o, const char *key, uint64_t milli)
{
	unsigned long long tenths = milli / 100 + (milli % 100 >= 50);
	char text[24], json[24];

	hv_snprintf(text, sizeof(text), "%llu.%llu", tenths / 10, tenths % 10);
	hv_snprintf(json, sizeof(json), "%llu.%03llu", (unsigned long long)milli / 1000,
		    (unsigned long long)milli % 1000);
	member_bare(o, key, text, json);
}

/* ---- what holds members ------------------------------------------------------------------ */

void out_begin(struct out *o, void (*put_bytes)(void *ctx, const char *s, size_t n), void *ctx,
	       enum out_format format)
{
	*o = (struct out){ .put = put_bytes, .ctx = ctx, .format = format };
	if (format == OUT_JSON)
		json_open(o, "{");
}

void out_end(struct out *o)
{
	if (o->format == OUT_JSON)
		json_close(o, "}\n");
}

void out_object(struct out *o, const char *key)
{
	if (o->format == OUT_JSON) {
		json_key(o, key);
		json_open(o, "{");
		return;
	}
	text_key(o, key);
	put(o, "\n");
	o->depth++;
}

void out_object_end(struct out *o)
{
	if (o->format == OUT_JSON)
		json_close(o, "}");
	else
		o->depth--;
}

void out_table(struct out *o, const char *key, const struct out_column *c, unsigned count)
{
	o->column = c;
	o->column_count = count;
	if (o->format == OUT_JSON) {
		json_key(o, key);
		json_open(o, "[");
		return;
	}
	text_heading(o);
}

void out_row(struct out *o)
{
	o->cell = 0;
	if (o->format == OUT_JSON) {
		json_next(o);
		json_open(o, "{");
	}
}

void out_row_end(struct out *o)
{
	if (o->format == OUT_JSON)
		json_close(o, "}");
	else
		put(o, "\n");
}

void out_table_end(struct out *o)
{
	o->column = NULL;
	if (o->format == OUT_JSON)
		json_close(o, "]");
}

void out_lines(struct out *o, const char *key)
{
	if (o->format == OUT_JSON) {
		json_key(o, key);
		json_open(o, "[");
	}
}

void out_line(struct out *o, const char *f, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, f);
	format_text(text, f, ap);
	va_end(ap);
	if (o->format == OUT_TEXT) {
		text_line(o, "", text);
		return;
	}
	json_next(o);
	put_quoted(o, text);
}

void out_lines_end(struct out *o)
{
	if (o->format == OUT_JSON)
		json_close(o, "]");
}

/* ---- sentences ----------------------------------------------------------------------------- */

/* A line with @before in text, a member in JSON unless it has no key. */
static void sentence(struct out *o, const char *key, const char *before, const char *f, va_list ap)
{
	char text[TEXT_MAX];

	format_text(text, f, ap);
	if (o->format == OUT_TEXT)
		text_line(o, before, text);
	else if (key)
		member_string(o, key, text);
}

void out_remark(struct out *o, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	sentence(o, NULL, "", f, ap);
	va_end(ap);
}

void out_done(struct out *o, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	sentence(o, "message", "", f, ap);
	va_end(ap);
}

void out_refuse(struct out *o, const char *f, ...)
{
	va_list ap;

	o->failed = true;
	va_start(ap, f);
	sentence(o, "error", "error: ", f, ap);
	va_end(ap);
}
