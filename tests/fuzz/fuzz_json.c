/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_json: any bytes as a request.  What is found in it must be good by itself,
 * and so must be what comes before the first bad byte, but for its end.
 *
 *   make build/fuzz/fuzz_json && build/fuzz/fuzz_json -max_total_time=60 -max_len=4096
 */
#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/monitor/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The value alone, as the only member. */
static void check_value(const struct json_value *v)
{
	struct json_value again;
	size_t at, len = 0;
	char *text = malloc(v->len + 6);

	if (!text)
		return;
	memcpy(text, "{\"a\":", 5);
	memcpy(text + 5, v->text, v->len);
	len = 5 + v->len;
	text[len++] = '}';
	HV_ASSERT(!json_check(text, len, &at));
	HV_ASSERT(json_member(text, len, "a", &again) && again.type == v->type);
	HV_ASSERT(again.text == text + 5 && again.len == v->len);
	free(text);
}

/* In a buffer that just holds its text, and in one that does not. */
static void check_size(const struct json_value *v, size_t len)
{
	char *buf = malloc(len + 1);

	if (buf)
		HV_ASSERT(json_string(v, buf, len + 1) == HV_OK && strlen(buf) == len);
	free(buf);
	buf = malloc(len + !len);
	if (buf)
		HV_ASSERT(json_string(v, buf, len) == HV_RANGE);
	free(buf);
}

/* Its text is no longer than it, and good as a name once nothing in it needs an escape. */
static void check_string(const struct json_value *v)
{
	char *buf = malloc(v->len), *text = malloc(v->len + 8);
	size_t at, len = 0;
	enum hv_status st;

	if (buf && text) {
		st = json_string(v, buf, v->len);
		HV_ASSERT(st == HV_OK || st == HV_RANGE);
		len = st ? 0 : strlen(buf);
		if (!st)
			check_size(v, len);
		HV_ASSERT(len + 2 <= v->len);
		for (size_t i = 0; i < len; i++)
			if ((uint8_t)buf[i] < ' ' || buf[i] == '"' || buf[i] == '\\')
				buf[i] = '.';
		memcpy(text, "{\"", 2);
		memcpy(text + 2, buf, len);
		memcpy(text + 2 + len, "\":1}", 4);
		HV_ASSERT(!json_check(text, len + 6, &at));
	}
	free(buf);
	free(text);
}

static void look_up(const char *text, size_t len, bool good)
{
	static const char *const keys[] = { "a", "", "name", "\n", "\303\244" };
	struct json_value v;

	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!json_member(text, len, keys[i], &v))
			continue;
		HV_ASSERT(v.text > text && v.len && v.len < len);
		HV_ASSERT((size_t)(v.text - text) <= len - v.len && v.type <= JSON_OBJECT);
		if (!good)
			continue;
		check_value(&v);
		if (v.type == JSON_STRING)
			check_string(&v);
		else
			HV_ASSERT(json_string(&v, NULL, 0) == HV_INVAL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + !size);
	size_t at = ~0UL, again;
	enum hv_status st;

	if (!text)
		return 0;
	memcpy(text, data, size);
	st = json_check(text, size, &at);
	HV_ASSERT(st == HV_OK || st == HV_INVAL || st == HV_RANGE);
	HV_ASSERT(at <= size && (st || at == size) && (st != HV_RANGE || at < size));
	/* Nobody should, but a lookup in an unchecked text stays in it too. */
	look_up(text, size, !st);
	if (st == HV_INVAL) {
		HV_ASSERT(json_check(text, at, &again) != HV_RANGE && again == at);
		if (at < size)
			HV_ASSERT(json_check(text, at + 1, &again) == HV_INVAL && again == at);
	}
	free(text);
	return 0;
}
