/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json: reads the one object of a request, in place.
 *
 * json_check() once: the text is one JSON object, well formed, UTF-8, nested at
 * most JSON_DEPTH deep; half of a surrogate pair is not well formed.  Then members
 * of the outermost object are looked up by key; of a key that comes twice the first
 * counts.
 * Pure (tests/host/test_json.c, fuzzed).  Spec: RFC 8259.
 */
#pragma once

#include "hv/base.h"
#include "hv/status.h"

#define JSON_DEPTH 16

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value, as it stands in the text; a string with its quotes. */
struct json_value {
	enum json_type type;
	const char *text;
	size_t len;
};

/*
 * HV_INVAL: no good object; *at is the place of the first bad byte, @len if more had
 * to come.  HV_RANGE: nested too deep, there.
 */
enum hv_status json_check(const char *text, size_t len, size_t *at) __must_check;

/* False: there is no such member. */
bool json_member(const char *text, size_t len, const char *key, struct json_value *v);

/*
 * A string without its escapes, in UTF-8, zero-terminated.  HV_INVAL: no string;
 * HV_RANGE: longer than @size, or holds a zero.
 */
enum hv_status json_string(const struct json_value *v, char *buf, size_t size) __must_check;
