/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_line: any bytes as keys, at any width, with completion, history, and other
 * output in between.  The terminal must show the line after each.
 *
 *   make build/fuzz/fuzz_line && build/fuzz/fuzz_line -max_total_time=60 -max_len=4096
 */
#include "hv/monitor/line.h"
#include "tests/host/fake_term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *complete(void *ctx, const char *text, size_t len, unsigned index)
{
	static const char *const words[] = { "pause", "pause-all", "vm", "q\001", "", "reset", "r" };
	static char copy[16];

	(void)ctx;
	HV_ASSERT(strlen(text) >= len);
	if (index >= ARRAY_SIZE(words))
		return NULL;
	memcpy(copy, words[index], strlen(words[index]) + 1);
	return copy;
}

static void check(const struct line *l, const struct term *t)
{
	size_t prompt = min_u64(strlen(l->prompt), l->width / 2), columns = l->width - 1 - prompt;
	char row[TERM_WIDTH_MAX + LINE_MAX] = "";

	HV_ASSERT(l->len < LINE_MAX && strlen(l->text) == l->len && l->at <= l->len);
	for (unsigned i = 0; i < l->len; i++)
		HV_ASSERT(l->text[i] >= ' ' && l->text[i] < 0x7f);
	HV_ASSERT(l->left <= l->at && l->at - l->left < columns);
	memcpy(row, l->prompt, prompt);
	memcpy(row + prompt, l->text + l->left, min_u64(l->len - l->left, columns));
	HV_ASSERT(term_row_is(t, t->y, row) && t->x == prompt + l->at - l->left);
}

static void key(struct line *l, struct term *t, uint8_t byte)
{
	static const char *const prompts[] = { "> ", "", "faultline> ", "a prompt that is rather long> " };
	enum line_event event = line_key(l, byte);

	if (event == LINE_NONE) {
		check(l, t);
		return;
	}
	HV_ASSERT(t->x == 0 && (event == LINE_DONE || !l->len));
	if (event == LINE_DONE)
		line_remember(l, l->text);
	if (l->len % 5 == 4)
		line_begin_with(l, prompts[l->len % 4], l->text);
	else
		line_begin(l, prompts[l->len % 4]);
	check(l, t);
}

static void log_between(struct line *l, struct term *t)
{
	line_hide(l);
	HV_ASSERT(term_row_is(t, t->y, "") && !t->x);
	term_put(t, "log\r\n", 5);
	line_show(l);
}

/* The first byte is the width; 0xff has other output come between, 0xfe pastes a lot. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct term t;
	static struct line l;
	struct line_env env = { &t, term_put, complete };
	unsigned width;

	if (!size)
		return 0;
	width = 8 + data[0] % (TERM_WIDTH_MAX - 8);
	if (data[0] & 0x80)
		env.complete = NULL;
	term_init(&t, width);
	line_init(&l, &env, width);
	line_begin(&l, "> ");
	for (size_t i = 1; i < size; i++) {
		if (data[i] == 0xff)
			log_between(&l, &t);
		for (unsigned n = data[i] == 0xfe ? 50 : 0; n; n--)
			key(&l, &t, (uint8_t)('a' + n % 26));
		key(&l, &t, data[i]);
	}
	/* A candidate is the only thing that may be wider than the row. */
	HV_ASSERT(!t.wraps || width < sizeof("pause-all"));
	return 0;
}
