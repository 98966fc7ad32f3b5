/* SPDX-License-Identifier: BSD-2-Clause */
/* out: the same answers as text and as JSON, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/monitor/json.h"
#include "hv/monitor/out.h"
#include "tests/host/random.h"

static char said[1 << 16];
static size_t said_len;

static void say(void *ctx, const char *s, size_t n)
{
	assert_ptr_equal(ctx, said);
	assert_true(n && said_len + n < sizeof(said));
	memcpy(said + said_len, s, n);
	said_len += n;
	said[said_len] = 0;
}

/* What @answer says. */
static const char *as(enum out_format format, void (*answer)(struct out *o))
{
	struct out o;

	said_len = 0;
	said[0] = 0;
	out_begin(&o, say, said, format);
	answer(&o);
	out_end(&o);
	return said;
}

static void same(void (*answer)(struct out *o), const char *text, const char *json)
{
	assert_string_equal(as(OUT_TEXT, answer), text);
	assert_string_equal(as(OUT_JSON, answer), json);
}

static void nothing(struct out *o)
{
	assert_false(o->failed);
}

static void members(struct out *o)
{
	out_str(o, "name", "%s-%u", "vm", 7u);
	out_u64(o, "most", ~0ULL);
	out_u64(o, "least", 0);
	out_hex(o, "base", 0xfee00000);
	out_hex(o, "top", ~0ULL);
	out_bool(o, "up", true);
	out_bool(o, "down", false);
	out_str(o, "none", "%s", "");
	assert_false(o->failed);
}

static void milli(struct out *o)
{
	out_milli(o, "a", 1500);
	out_milli(o, "b", 1);
	out_milli(o, "c", 50);
	out_milli(o, "d", 99949);
	out_milli(o, "e", 99950);
	out_milli(o, "f", ~0ULL);
	out_milli(o, "g", 0);
}

static void members_have_a_key_and_a_value(void **s)
{
	(void)s;
	same(nothing, "", "{}\n");
	same(members,
	     "name: vm-7\nmost: 18446744073709551615\nleast: 0\nbase: 0xfee00000\n"
	     "top: 0xffffffffffffffff\nup: yes\ndown: no\nnone: \n",
	     "{\"name\":\"vm-7\",\"most\":18446744073709551615,\"least\":0,\"base\":\"0xfee00000\","
	     "\"top\":\"0xffffffffffffffff\",\"up\":true,\"down\":false,\"none\":\"\"}\n");
	same(milli,
	     "a: 1.5\nb: 0.0\nc: 0.1\nd: 99.9\ne: 100.0\nf: 18446744073709551.6\ng: 0.0\n",
	     "{\"a\":1.500,\"b\":0.001,\"c\":0.050,\"d\":99.949,\"e\":99.950,"
	     "\"f\":18446744073709551.615,\"g\":0.000}\n");
}

static void numbers(struct out *o)
{
	const uint64_t v[] = { 0, 7, ~0ULL };

	out_u64(o, "a", 1);
	out_u64s(o, "b", v, ARRAY_SIZE(v));
	out_u64s(o, "c", v, 0);
	out_u64(o, "d", 2);
}

static void arrays_are_for_programs(void **s)
{
	(void)s;
	same(numbers, "a: 1\nd: 2\n", "{\"a\":1,\"b\":[0,7,18446744073709551615],\"c\":[],\"d\":2}\n");
}

static void objects(struct out *o)
{
	out_u64(o, "a", 1);
	out_object(o, "b");
	out_u64(o, "c", 2);
	out_object(o, "d");
	out_object_end(o);
	out_object(o, "e");
	out_bool(o, "f", true);
	out_object_end(o);
	out_u64(o, "g", 3);
	out_object_end(o);
	out_u64(o, "h", 4);
}

static void objects_are_indented(void **s)
{
	(void)s;
	same(objects, "a: 1\nb:\n  c: 2\n  d:\n  e:\n    f: yes\n  g: 3\nh: 4\n",
	     "{\"a\":1,\"b\":{\"c\":2,\"d\":{},\"e\":{\"f\":true},\"g\":3},\"h\":4}\n");
}

static const struct out_column columns[] = {
	{ "vcpu", -2 }, { "state", 20 }, { "load", -6 }, { "pinned_to", 4 },
};

static void row(struct out *o, uint64_t vcpu, const char *state, uint64_t load, const char *pinned)
{
	out_row(o);
	out_u64(o, "vcpu", vcpu);
	out_str(o, "state", "%s", state);
	out_milli(o, "load", load);
	out_str(o, "pinned_to", "%s", pinned);
	out_row_end(o);
}

static void table(struct out *o)
{
	out_u64(o, "before", 1);
	out_table(o, "vcpus", columns, ARRAY_SIZE(columns));
	row(o, 0, "running", 1500, "cpu 0");
	row(o, 12345, "waiting for it all day", 100000, "-");
	row(o, 2, "\n\200", 0, "x");
	out_table_end(o);
	out_u64(o, "after", 2);
}

static void tables_are_aligned(void **s)
{
	(void)s;
	same(table,
	     "before: 1\n"
	     "VCPU  STATE                   LOAD  PINNED_TO\n"
	     "   0  running                  1.5  cpu 0\n"
	     "12345  waiting for it all day   100.0  -\n"
	     "   2  \\x0a\\x80                 0.0  x\n"
	     "after: 2\n",
	     "{\"before\":1,\"vcpus\":["
	     "{\"vcpu\":0,\"state\":\"running\",\"load\":1.500,\"pinned_to\":\"cpu 0\"},"
	     "{\"vcpu\":12345,\"state\":\"waiting for it all day\",\"load\":100.000,\"pinned_to\":\"-\"},"
	     "{\"vcpu\":2,\"state\":\"\\u000a\\u0080\",\"load\":0.000,\"pinned_to\":\"x\"}"
	     "],\"after\":2}\n");
}

static void gaps(struct out *o)
{
	out_object(o, "in");
	out_table(o, "t", columns, ARRAY_SIZE(columns));
	out_row(o);
	out_str(o, "state", "off");
	out_u64(o, "detail", 9);
	out_u64(o, "pinned_to", 3);
	out_u64(o, "vcpu", 4);
	out_row_end(o);
	out_table_end(o);
	out_table(o, "empty", columns, 1);
	out_table_end(o);
	out_u64(o, "a", 1);
	out_object_end(o);
}

static void tables_may_have_gaps(void **s)
{
	(void)s;
	same(gaps,
	     "in:\n"
	     "  VCPU  STATE                   LOAD  PINNED_TO\n"
	     "        off                           3\n"
	     "  VCPU\n"
	     "  a: 1\n",
	     "{\"in\":{\"t\":[{\"state\":\"off\",\"detail\":9,\"pinned_to\":3,\"vcpu\":4}],\"empty\":[],"
	     "\"a\":1}}\n");
}

static void lines(struct out *o)
{
	out_lines(o, "log");
	out_line(o, "[%u] \"one\"", 1u);
	out_line(o, "%s", "");
	out_line(o, "\033[2J\\");
	out_lines_end(o);
	out_lines(o, "none");
	out_lines_end(o);
	out_remark(o, "%d lines", 3);
	out_done(o, "did %s", "it");
}

static void refused(struct out *o)
{
	out_refuse(o, "no VM '%s'; there are: %s", "\177", "a, b");
	assert_true(o->failed);
}

static void lines_and_sentences(void **s)
{
	(void)s;
	same(lines, "[1] \"one\"\n\n\\x1b[2J\\\n3 lines\ndid it\n",
	     "{\"log\":[\"[1] \\\"one\\\"\",\"\",\"\\u001b[2J\\\\\"],\"none\":[],"
	     "\"message\":\"did it\"}\n");
	same(refused, "error: no VM '\\x7f'; there are: a, b\n",
	     "{\"error\":\"no VM '\\u007f'; there are: a, b\"}\n");
}

static size_t length;

static void long_string(struct out *o)
{
	char value[2400];

	for (size_t i = 0; i < length; i++)
		value[i] = (char)('a' + i % 26);
	value[length] = 0;
	out_str(o, "s", "%s", value);
}

static void long_strings_are_whole(void **s)
{
	(void)s;
	for (length = 1000; length < 2304; length++) {
		as(OUT_TEXT, long_string);
		assert_int_equal(said_len, length + 4);
		assert_int_equal(said[said_len - 2], 'a' + (length - 1) % 26);
	}
	/* And if not, it shows. */
	as(OUT_TEXT, long_string);
	assert_string_equal(said + said_len - 4, "...\n");
	assert_int_equal(said_len, 2303 + 4);
	as(OUT_JSON, long_string);
	assert_string_equal(said + said_len - 6, "...\"}\n");
}

/* ---- any strings -------------------------------------------------------------------- */

static char any[400];

static void any_string(struct out *o)
{
	out_str(o, "s", "%s", any);
}

static void any_string_can_be_read_back(void **s)
{
	char back[2 * sizeof(any)], want[2 * sizeof(any)];
	struct json_value v;
	size_t at, n;

	(void)s;
	for (unsigned i = 0; i < 3000; i++) {
		size_t len = below(sizeof(any));

		for (n = 0; n < len; n++)
			any[n] = (char)(1 + below(255));
		any[len] = 0;
		as(OUT_TEXT, any_string);
		for (at = 0; at < said_len - 1; at++)
			assert_true(said[at] >= ' ' && said[at] < 0x7f);
		as(OUT_JSON, any_string);
		for (at = 0; at < said_len - 1; at++)
			assert_true(said[at] >= ' ' && said[at] < 0x7f);
		assert_int_equal(json_check(said, said_len, &at), HV_OK);
		assert_true(json_member(said, said_len, "s", &v));
		assert_int_equal(json_string(&v, back, sizeof(back)), HV_OK);
		/* A byte stands for the character of its number. */
		for (n = 0, at = 0; any[n]; n++) {
			uint8_t byte = (uint8_t)any[n];

			if (byte >= 0x80)
				want[at++] = (char)(0xc0 | byte >> 6);
			want[at++] = (char)(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
		}
		want[at] = 0;
		assert_string_equal(back, want);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(members_have_a_key_and_a_value),
		cmocka_unit_test(arrays_are_for_programs),
		cmocka_unit_test(objects_are_indented),
		cmocka_unit_test(tables_are_aligned),
		cmocka_unit_test(tables_may_have_gaps),
		cmocka_unit_test(lines_and_sentences),
		cmocka_unit_test(long_strings_are_whole),
		cmocka_unit_test(any_string_can_be_read_back),
	};
	return cmocka_run_group_tests_name("out", t, NULL, NULL);
}
