/* SPDX-License-Identifier: BSD-2-Clause */
/* json: good and bad texts, members and strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/monitor/json.h"
#include "tests/host/random.h"

/* On a copy that ends where the text does, for ASan to see. */
static enum hv_status check(const char *text, size_t len, size_t *at)
{
	char *exact = malloc(len + !len);
	enum hv_status st;

	memcpy(exact, text, len);
	*at = ~0UL;
	st = json_check(exact, len, at);
	free(exact);
	assert_true(*at <= len);
	return st;
}

static void good(const char *text)
{
	size_t at, len = strlen(text);

	if (check(text, len, &at))
		fail_msg("refused at %zu: %s", at, text);
	assert_int_equal(at, len);
}

/* @text with ! before its first bad byte. */
static void bad(const char *text)
{
	size_t at, want = (size_t)(strchr(text, '!') - text);
	char without[256];

	snprintf(without, sizeof(without), "%.*s%s", (int)want, text, text + want + 1);
	if (check(without, strlen(without), &at) != HV_INVAL || at != want)
		fail_msg("at %zu: %s", at, text);
}

/* The same as a value, where something else may follow or come before. */
static void good_value(const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"a\":%s}", value);
	good(text);
	snprintf(text, sizeof(text), " { \"a\" :\n[ {} , %s\t,\r%s] } ", value, value);
	good(text);
}

static void bad_value(const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"a\":%s}", value);
	bad(text);
	snprintf(text, sizeof(text), "{\"a\":[1,%s", value);
	bad(text);
}

static void takes_objects_only(void **s)
{
	(void)s;
	good("{}");
	good(" \t\r\n{ } \n");
	good("{\"\":1,\"b\":[],\"b\":[1,[2],{\"c\":{}}]}");
	bad("!");
	bad("  !");
	bad("![]");
	bad("!1");
	bad("!\"a\"");
	bad("!\357\273\277{}");
	bad("{}!{}");
	bad("{} !,");
	bad("{!");
	bad("{!]");
	bad("{!,}");
	bad("{!a:1}");
	bad("{!1:1}");
	bad("{\"a\"!}");
	bad("{\"a\"!,1}");
	bad("{\"a\":!}");
	bad("{\"a\":1,!}");
	bad("{\"a\":1!");
	bad("{\"a\":1!]");
	bad("{\"a\":1 !\"b\":2}");
	bad("{\"a\":1!:2}");
	bad("{!/**/}");
	bad("{\"a\":[1!}");
	bad("{\"a\":[1,!]}");
	bad("{\"a\":[!,1]}");
	bad("{\"a\":[1 !1]}");
	bad("{!\v}");
}

static void takes_numbers_of_the_grammar(void **s)
{
	(void)s;
	good_value("0");
	good_value("-0");
	good_value("10");
	good_value("-9876543210987654321098765432109876543210");
	good_value("0.0");
	good_value("12.034");
	good_value("1e1");
	good_value("1E+01");
	good_value("0.5e-10");
	bad_value("0!1");
	bad_value("-!");
	bad_value("-!a");
	bad_value("-!-1");
	bad_value("!+1");
	bad_value("!.5");
	bad_value("1.!");
	bad_value("1.!e1");
	bad_value("1e!");
	bad_value("1e+!");
	bad_value("1e+!-1");
	bad_value("1e1!.0");
	bad_value("0!x1");
	bad_value("!NaN");
	bad_value("!Infinity");
}

static void takes_three_words(void **s)
{
	(void)s;
	good_value("true");
	good_value("false");
	good_value("null");
	bad_value("!True");
	bad_value("tru!");
	bad_value("tru!x");
	bad_value("true!e");
	bad_value("f!rue");
	bad_value("nu!x");
	bad_value("nul!");
}

static void takes_strings_of_utf8(void **s)
{
	(void)s;
	good_value("\"\"");
	good_value("\"a \\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u0000 \\uFfFf \177\"");
	good_value("\"\\ud800\\udc00 \\uDBFF\\uDFFF \\ud7ff \\ue000\"");
	good_value("\"\302\200 \337\277 \340\240\200 \355\237\277 \356\200\200 \357\277\277\"");
	good_value("\"\360\220\200\200 \364\217\277\277\"");
	bad_value("!'a'");
	bad("{\"a\":\"!");
	bad("{\"a\":\"\\!");
	bad("{\"a\":\"\\u12!");
	bad("{\"!\n\":1}");
	bad_value("\"!\n\"");
	bad_value("\"!\037\"");
	bad_value("\"\\!a\"");
	bad_value("\"\\!x41\"");
	bad_value("\"\\!\n\"");
	bad_value("\"\\u!\"");
	bad_value("\"\\u123!g\"");
	bad_value("\"\\u!-123\"");
	bad_value("\"\\ud!c00\"");
	bad_value("\"\\uD!F00\"");
	bad_value("\"\\ud800!\"");
	bad_value("\"\\ud800!x\"");
	bad_value("\"\\ud800\\!n\"");
	bad_value("\"\\ud800\\u!0041\"");
	bad_value("\"\\ud800\\ud!800\"");
	bad_value("\"\\ud800\\u!e000\"");
	bad_value("\"!\200\"");
	bad_value("\"!\301\200\"");
	bad_value("\"!\365\200\200\200\"");
	bad_value("\"!\377\"");
	bad_value("\"\303!\"");
	bad_value("\"\303!(\"");
	bad_value("\"\340!\237\200\"");
	bad_value("\"\340\240!\"");
	bad_value("\"\355!\240\200\"");
	bad_value("\"\360!\217\277\277\"");
	bad_value("\"\360\220\200!a\"");
	bad_value("\"\364!\220\200\200\"");
}

static void a_zero_is_a_byte_like_others(void **s)
{
	static const char text[] = "{\"a\":\"x\0y\"}", after[] = "{}\0", before[] = "\0{}";
	size_t at;

	(void)s;
	assert_int_equal(check(text, sizeof(text) - 1, &at), HV_INVAL);
	assert_int_equal(at, 7);
	assert_int_equal(check(after, 3, &at), HV_INVAL);
	assert_int_equal(at, 2);
	assert_int_equal(check(before, 3, &at), HV_INVAL);
	assert_int_equal(at, 0);
}

static void nests_so_deep_only(void **s)
{
	char text[4096] = "{\"a\":";
	size_t at, n = 5;

	(void)s;
	memset(text + n, '[', JSON_DEPTH);
	memset(text + n + JSON_DEPTH - 1, ']', JSON_DEPTH - 1);
	strcpy(text + n + 2 * (JSON_DEPTH - 1), "}");
	good(text);
	memset(text + n, '[', sizeof(text) - n);
	assert_int_equal(check(text, sizeof(text), &at), HV_RANGE);
	assert_int_equal(at, n + JSON_DEPTH - 1);
	for (n = 0; n + 5 < sizeof(text); n += 5)
		memcpy(text + n, "{\"a\":", 5);
	assert_int_equal(check(text, n, &at), HV_RANGE);
	assert_int_equal(at, 5 * JSON_DEPTH);
}

/* ---- members and strings ----------------------------------------------------------------- */

static const char request[] =
	" { \"s\" : \"text\" ,\"n\":-1.5e3,\"t\":true , \"f\":false,\"z\":null,"
	"\"o\":{\"inner\":1,\"n\":2},\"l\":[{\"inner\":1}, 2 ],\"s\":\"second\","
	"\"\\u006bey\\u0000x\":5,\"k\\u0065y\":6,\"\":7,\"\\ud83d\\ude00\":8} ";

static void member_is(const char *key, enum json_type type, const char *text)
{
	struct json_value v;

	assert_true(json_member(request, sizeof(request) - 1, key, &v));
	assert_int_equal(v.type, type);
	assert_int_equal(v.len, strlen(text));
	assert_memory_equal(v.text, text, v.len);
}

static void members_are_found_by_key(void **s)
{
	static const char *const none[] = { "S", "ss", "inner", "ke", "keyx", "key\001x", "text", "-1.5e3" };
	struct json_value v;

	(void)s;
	good(request);
	member_is("s", JSON_STRING, "\"text\"");
	member_is("n", JSON_NUMBER, "-1.5e3");
	member_is("t", JSON_BOOL, "true");
	member_is("f", JSON_BOOL, "false");
	member_is("z", JSON_NULL, "null");
	member_is("o", JSON_OBJECT, "{\"inner\":1,\"n\":2}");
	member_is("l", JSON_ARRAY, "[{\"inner\":1}, 2 ]");
	member_is("key", JSON_NUMBER, "6");
	member_is("", JSON_NUMBER, "7");
	member_is("\360\237\230\200", JSON_NUMBER, "8");
	for (unsigned i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(json_member(request, sizeof(request) - 1, none[i], &v));
	assert_false(json_member("{}", 2, "", &v));
	assert_false(json_member(" { } ", 5, "a", &v));
}

/* The string that @value, in quotes, is in a buffer that just holds it, and in no smaller one. */
static void string_is(const char *value, const char *want)
{
	struct json_value v = { JSON_STRING, value, strlen(value) };
	size_t len = strlen(want);
	char *buf = malloc(len + 1);

	good_value(value);
	memset(buf, 0x5a, len + 1);
	assert_int_equal(json_string(&v, buf, len + 1), HV_OK);
	assert_string_equal(buf, want);
	free(buf);
	for (size_t size = 0; size <= len; size++) {
		buf = malloc(size + !size);
		assert_int_equal(json_string(&v, buf, size), HV_RANGE);
		free(buf);
	}
}

static void strings_lose_their_escapes(void **s)
{
	char buf[16];

	(void)s;
	string_is("\"\"", "");
	string_is("\"plain\"", "plain");
	string_is("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
	string_is("\"\\u0041\\u007F\\u0080\\u07ff\\u0800\\uffff\"",
		  "A\177\302\200\337\277\340\240\200\357\277\277");
	string_is("\"\\uD83D\\uDE00\\ud800\\udc00\\udbff\\udfff\"",
		  "\360\237\230\200\360\220\200\200\364\217\277\277");
	string_is("\"\303\244\360\237\230\200\"", "\303\244\360\237\230\200");
	assert_int_equal(json_string(&(struct json_value){ JSON_STRING, "\"a\\u0000\"", 9 }, buf, 16), HV_RANGE);
	assert_int_equal(json_string(&(struct json_value){ JSON_NUMBER, "12", 2 }, buf, 16), HV_INVAL);
	assert_int_equal(json_string(&(struct json_value){ JSON_OBJECT, "{}", 2 }, buf, 16), HV_INVAL);
	assert_int_equal(json_string(&(struct json_value){ JSON_STRING, "\"a", 2 }, buf, 16), HV_INVAL);
	assert_int_equal(json_string(&(struct json_value){ JSON_STRING, "\"\"", 2 }, buf, 0), HV_RANGE);
}

/* ---- any text ------------------------------------------------------------------------------ */

/* Up to the first bad byte nothing is wrong, but that the rest may be missing. */
static void the_first_bad_byte_is_the_first(void **s)
{
	static const char bytes[] = "{}[]\",:\\/u0123dDc8aef-+.tn \n\303\244\340\355\360\364\237\220";
	char text[sizeof(request)];
	size_t at, again, len;

	(void)s;
	for (len = 0; len < sizeof(request) - 2; len++) {
		assert_int_equal(check(request, len, &at), HV_INVAL);
		assert_int_equal(at, len);
	}
	for (unsigned i = 0; i < 100000; i++) {
		len = sizeof(request) - 1;
		memcpy(text, request, len);
		for (unsigned n = 1 + below(3); n--;)
			text[below((unsigned)len)] = bytes[below(sizeof(bytes) - 1)];
		if (check(text, len, &at) == HV_OK)
			continue;
		assert_true(check(text, at, &again) != HV_RANGE);
		assert_int_equal(again, at);
		if (at < len)
			assert_int_equal(check(text, at + 1, &again), HV_INVAL);
		assert_int_equal(again, at);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(takes_objects_only),
		cmocka_unit_test(takes_numbers_of_the_grammar),
		cmocka_unit_test(takes_three_words),
		cmocka_unit_test(takes_strings_of_utf8),
		cmocka_unit_test(a_zero_is_a_byte_like_others),
		cmocka_unit_test(nests_so_deep_only),
		cmocka_unit_test(members_are_found_by_key),
		cmocka_unit_test(strings_lose_their_escapes),
		cmocka_unit_test(the_first_bad_byte_is_the_first),
	};
	return cmocka_run_group_tests_name("json", t, NULL, NULL);
}
