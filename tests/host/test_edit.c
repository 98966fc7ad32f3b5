/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <libfdt.h>

#include "boot/config.h"
#include "boot/edit.h"

static uint8_t fdt[8192] __aligned(8);
static struct hv_config config;
static struct hv_error err;
static char shown[16384];

static void set(const char *node, const char *prop, unsigned count, ...)
{
	char *values[8];
	va_list ap;

	va_start(ap, count);
	for (unsigned i = 0; i < count; i++)
		values[i] = va_arg(ap, char *);
	va_end(ap);
	assert_true(edit_set(fdt, node, prop, count, values, &err));
}

static unsigned warnings;

static void warn(void *ctx, const char *text)
{
	(void)ctx, (void)text;
	warnings++;
}

static void parse(void)
{
	warnings = 0;
	config_defaults(&config);
	assert_int_equal(config_parse(fdt, fdt_totalsize(fdt), &config,
				      &(struct config_sink){warn, NULL}, &err), HV_OK);
}

static void line(void *ctx, const char *text)
{
	(void)ctx;
	strcat(shown, text);
	strcat(shown, "\n");
}

static const struct edit_reader reader = {line, NULL};

static void from_nothing(void **s)
{
	(void)s;
	edit_begin(fdt, sizeof(fdt), NULL);
	assert_true(edit_add(fdt, "web", &err));
	set("web", "kernel", 1, "/vmlinuz");
	set("web", "vcpus", 1, "4");
	set("web", "cpus", 3, "0", "2", "0x3");
	set("web", "modules", 2, "/a", "/b");
	set("web", "bootargs", 1, "console=ttyS0 quiet");
	set("web", "test-exit", 0);
	set("console", "kind", 1, "port");
	set("control", "kind", 1, "auto");
	set("/", "log-level", 1, "debug");
	set("/", "boot-wait", 1, "0");
	parse();
	assert_int_equal(warnings, 0);
	assert_int_equal(config.vm_count, 1);
	assert_string_equal(config.vm[0].name, "web");
	assert_string_equal(config.vm[0].cmdline, "console=ttyS0 quiet");
	assert_int_equal(config.vm[0].vcpus, 4);
	assert_int_equal(config.vm[0].cpu_mask, 0xd);
	assert_int_equal(config.vm[0].module_count, 2);
	assert_true(config.vm[0].test_exit);
	assert_int_equal(config.console.kind, CONSOLE_PORT);
	assert_int_equal(config.control.kind, CONSOLE_AUTO);
	assert_int_equal(config.log_level, 3);
	assert_int_equal(config.boot_wait, 0);
	/* A number of more than 32 bits has two cells. */
	set("console", "kind", 1, "mmio");
	set("console", "base", 1, "0x123456789000");
	parse();
	assert_int_equal(config.console.base, 0x123456789000);
	assert_true(edit_unset(fdt, "web", "vcpus", &err));
	parse();
	assert_int_equal(config.vm[0].vcpus, 1);
	assert_true(edit_remove(fdt, "web", &err));
	parse();
	assert_int_equal(config.vm_count, 0);
}

static void what_is_refused(void **s)
{
	char *value[] = {"x"}, *numbers[] = {"12", "1a"};
	int len;

	(void)s;
	edit_begin(fdt, sizeof(fdt), NULL);
	assert_false(edit_set(fdt, "nobody", "vcpus", 1, value, &err));
	assert_non_null(strstr(err.text, "nobody"));
	assert_false(edit_add(fdt, "", &err));
	assert_false(edit_add(fdt, "a/b", &err));
	assert_false(edit_add(fdt, "console", &err));
	assert_false(edit_add(fdt, "123456789012345678901234", &err));
	assert_true(edit_add(fdt, "a", &err));
	assert_false(edit_add(fdt, "a", &err));
	assert_false(edit_remove(fdt, "b", &err));
	assert_false(edit_remove(fdt, "/", &err));
	assert_false(edit_unset(fdt, "a", "vcpus", &err));
	assert_false(edit_set(fdt, "a", "", 1, value, &err));
	assert_false(edit_set(fdt, "a", "12345678901234567890123456789012", 1, value, &err));
	/* Not all of them numbers: strings. */
	assert_true(edit_set(fdt, "a", "mixed", 2, numbers, &err));
	assert_string_equal(fdt_getprop(fdt, fdt_path_offset(fdt, "/vms/a"), "mixed", &len), "12");
	assert_int_equal(len, 6);
}

static void a_full_tree_stays_as_it_is(void **s)
{
	static char text[600];
	char *value[] = {text}, name[8];
	unsigned n = 0;

	(void)s;
	memset(text, 'x', sizeof(text) - 1);
	edit_begin(fdt, sizeof(fdt), NULL);
	assert_true(edit_add(fdt, "a", &err));
	do
		snprintf(name, sizeof(name), "p%u", n++);
	while (edit_set(fdt, "a", name, 1, value, &err));
	assert_in_range(n, 8, 14);
	assert_non_null(strstr(err.text, "full"));
	assert_int_equal(fdt_check_full(fdt, sizeof(fdt)), 0);
	assert_true(edit_unset(fdt, "a", "p0", &err));
	assert_true(edit_set(fdt, "a", "p0", 1, value, &err));
}

static void shows_source(void **s)
{
	(void)s;
	edit_begin(fdt, sizeof(fdt), "no device tree at all, but text");
	assert_true(edit_add(fdt, "a", &err));
	set("a", "cpus", 2, "1", "2");
	set("a", "modules", 2, "/a", "/b");
	set("a", "fw-cfg", 0);
	set("a", "bootargs", 1, "a \"b\" \\c");
	shown[0] = 0;
	assert_true(edit_show(fdt, "a", &reader));
	assert_non_null(strstr(shown, "\tcpus = <1 2>;\n"));
	assert_non_null(strstr(shown, "\tmodules = \"/a\", \"/b\";\n"));
	assert_non_null(strstr(shown, "\tfw-cfg;\n"));
	assert_non_null(strstr(shown, "\tbootargs = \"a \\\"b\\\" \\\\c\";\n"));
	assert_null(strstr(shown, "vms"));
	assert_true(edit_show(fdt, NULL, &reader));
	assert_non_null(strstr(shown, "vms {\n"));
	assert_false(edit_show(fdt, "b", &reader));
}

/* What of @in (with '~' for a pause) is for the line. */
static const char *typed(const char *in)
{
	static char out[64];
	unsigned state = 0;
	size_t n = 0;

	for (; *in; in++)
		if (edit_key(&state, *in == '~' ? -1 : (uint8_t)*in))
			out[n++] = *in;
	out[n] = 0;
	return out;
}

static void keys_of_many_bytes(void **s)
{
	(void)s;
	assert_string_equal(typed("a\033[Ab\033OPc\033[1;5Dd\033xe"), "abcde");
	assert_string_equal(typed("a\033\033[Ab"), "ab");
	assert_string_equal(typed("a\033~b\033[~c\033[1~d~"), "abcd");
	assert_string_equal(typed("a\033[\rb\033\rc\033O\rd"), "a\rb\rc\rd");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(keys_of_many_bytes),
		cmocka_unit_test(from_nothing),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(a_full_tree_stays_as_it_is),
		cmocka_unit_test(shows_source),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
