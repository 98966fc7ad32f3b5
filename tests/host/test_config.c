/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_fdt.h"

#include <stdlib.h>

static struct fake_fdt t;

/* ---- the blob -------------------------------------------------------------------- */

static void defaults(void **s)
{
	struct hv_config c;

	(void)s;
	config_defaults(&c);
	assert_int_equal(c.console.kind, CONSOLE_AUTO);
	assert_int_equal(c.console.base, 0x3f8);
	assert_int_equal(c.console.stride, 1);
	assert_int_equal(c.console.clock, 1843200);
	assert_int_equal(c.console.baud, 115200);
	assert_int_equal(c.console.escape, 0x1d);
	assert_int_equal(c.log_level, 2);
	assert_int_equal(c.max_cpus, 0);
	assert_int_equal(c.when_idle, WHEN_IDLE_STAY);
	assert_int_equal(c.vm_count, 0);
}

static void builtin_vm(void **s)
{
	struct hv_config c;

	(void)s;
	config_defaults(&c);
	config_builtin_vm(&c);
	assert_int_equal(c.vm_count, 1);
	assert_false(c.vm[0].refused);
	assert_string_equal(c.vm[0].name, "linux");
	assert_int_equal(c.vm[0].vcpus, 1);
	assert_int_equal(c.vm[0].ram_low, 256 * MIB);
	assert_int_equal(c.vm[0].ram_high, 0);
	assert_int_equal(c.vm[0].max_leaf_shift, 21);
	assert_string_equal(c.vm[0].kernel, "/EFI/faultline/vmlinuz");
	assert_string_equal(c.vm[0].initrd, "/EFI/faultline/initrd.img");
	assert_string_equal(c.vm[0].cmdline, "console=ttyS0");
}

static void add_vm(const char *name)
{
	fake_fdt_node(&t, name);
	fake_fdt_prop(&t, "kernel", TEXT("/k"));
	fake_fdt_end(&t);
}

/* As it was before: a failure touches nothing. */
static void assert_untouched(void)
{
	struct hv_config c;

	config_defaults(&c);
	assert_int_equal(t.st, HV_INVAL);
	assert_true(t.err.text[0]);
	assert_memory_equal(&c, &t.c, sizeof(c));
}

static void good_blob(void)
{
	fake_fdt_begin(&t);
	fake_fdt_prop(&t, "log-level", TEXT("debug"));
	fake_fdt_node(&t, "vms");
	add_vm("a");
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.st, HV_OK);
	assert_int_equal(t.warnings, 0);
	assert_int_equal(t.c.vm_count, 1);
}

static void every_truncation(void **s)
{
	size_t len;

	(void)s;
	good_blob();
	len = fdt_totalsize(t.blob);
	for (size_t n = 0; n < len; n++) {
		/* An allocation of its own, so that the sanitizer sees every byte beyond. */
		void *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, t.blob, n);
		fake_fdt_parse(&t, cut, n);
		assert_untouched();
		free(cut);
	}
}

/* The header agrees with the cut, so the structure must be found out. */
static void every_truncation_with_size(void **s)
{
	size_t len;

	(void)s;
	good_blob();
	len = fdt_totalsize(t.blob);
	for (size_t n = sizeof(struct fdt_header); n < len; n++) {
		void *cut = malloc(n);

		assert_non_null(cut);
		memcpy(cut, t.blob, n);
		fdt_set_totalsize(cut, (uint32_t)n);
		fake_fdt_parse(&t, cut, n);
		assert_untouched();
		free(cut);
	}
}

static void bad_headers(void **s)
{
	(void)s;
	good_blob();
	fdt_set_magic(t.blob, 0xd00dfeee);
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_untouched();
	assert_contains(t.err.text, "BADMAGIC");

	good_blob();
	fdt_set_version(t.blob, 16);
	fdt_set_last_comp_version(t.blob, 16);
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_untouched();
	assert_contains(t.err.text, "version 16");

	good_blob();
	fdt_set_totalsize(t.blob, sizeof(t.blob) + 1);
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_untouched();

	good_blob();
	fdt_set_off_dt_struct(t.blob, 0x7ffffff0);
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_untouched();

	memset(t.blob, 0, sizeof(t.blob));
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_untouched();
}

static void bytes_behind_the_tree(void **s)
{
	(void)s;
	good_blob();
	fake_fdt_parse(&t, t.blob, sizeof(t.blob));
	assert_int_equal(t.st, HV_OK);
	assert_int_equal(t.c.vm_count, 1);
}

/* Whatever a byte is changed to, there is an answer, and strings end. */
static void every_byte_damaged(void **s)
{
	static const uint8_t damage[] = {0x01, 0x80, 0xff};
	size_t len;

	(void)s;
	good_blob();
	len = fdt_totalsize(t.blob);
	for (size_t i = 0; i < len; i++) {
		for (unsigned d = 0; d < ARRAY_SIZE(damage); d++) {
			t.blob[i] ^= damage[d];
			t.warned[0] = 0;
			fake_fdt_parse(&t, t.blob, len);
			if (t.st)
				assert_untouched();
			t.blob[i] ^= damage[d];
		}
	}
}

static void parse_root_that_is(const void *data, size_t len)
{
	memset(&t, 0, sizeof(t));
	assert_int_equal(fdt_create(t.blob, sizeof(t.blob)), 0);
	assert_int_equal(fdt_finish_reservemap(t.blob), 0);
	fake_fdt_node(&t, "");
	if (data)
		fake_fdt_prop(&t, "compatible", data, len);
	fake_fdt_finish(&t);
}

static void compatible(void **s)
{
	(void)s;
	parse_root_that_is(NULL, 0);
	assert_untouched();
	assert_contains(t.err.text, "/: compatible must be \"faultline,config-1\"");
	parse_root_that_is(TEXT("faultline,config-2"));
	assert_untouched();
	parse_root_that_is("faultline,config-1", 18);
	assert_untouched();
	parse_root_that_is(TEXT("faultline,config-2\0faultline,config-1"));
	assert_int_equal(t.st, HV_OK);
}

/* ---- root ------------------------------------------------------------------------ */

static void root_with(const char *name, const void *data, size_t len)
{
	fake_fdt_begin(&t);
	fake_fdt_prop(&t, name, data, len);
	fake_fdt_finish(&t);
	assert_int_equal(t.st, HV_OK);
}

static void root_good(void **s)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(levels); i++) {
		root_with("log-level", levels[i], strlen(levels[i]) + 1);
		assert_int_equal(t.c.log_level, i);
	}
	root_with("max-cpus", CELL(1));
	assert_int_equal(t.c.max_cpus, 1);
	root_with("max-cpus", CELLS2(0, 64));
	assert_int_equal(t.c.max_cpus, 64);
	root_with("when-idle", TEXT("poweroff"));
	assert_int_equal(t.c.when_idle, WHEN_IDLE_POWEROFF);
	root_with("when-idle", TEXT("stay"));
	assert_int_equal(t.c.when_idle, WHEN_IDLE_STAY);
	assert_int_equal(t.warnings, 0);
	root_with("#address-cells", CELL(2));
	assert_int_equal(t.warnings, 0);
}

/* One warning with the text, and nothing is changed. */
static void root_bad(const char *text, const char *name, const void *data, size_t len)
{
	struct hv_config c;

	root_with(name, data, len);
	config_defaults(&c);
	assert_int_equal(t.warnings, 1);
	assert_contains(t.warned, text);
	assert_memory_equal(&c, &t.c, sizeof(c));
}

static void root_bad_values(void **s)
{
	(void)s;
	root_bad("/: log-level = \"loud\": must be \"error\", \"warning\", \"info\" or \"debug\"",
		 "log-level", TEXT("loud"));
	root_bad("/: log-level = \"info\" has no end", "log-level", "info", 4);
	root_bad("/: log-level = \"\" has no end", "log-level", FLAG);
	root_bad("/: log-level = \"info?debug\" goes on", "log-level", TEXT("info\0debug"));
	root_bad("/: max-cpus = 0: must be 1 to 64", "max-cpus", CELL(0));
	root_bad("/: max-cpus = 65: must be 1 to 64", "max-cpus", CELL(65));
	root_bad("/: max-cpus = 4294967297: must be", "max-cpus", CELLS2(1, 1));
	root_bad("/: max-cpus has 3 bytes: must be", "max-cpus", "123", 3);
	root_bad("/: max-cpus has 0 bytes", "max-cpus", FLAG);
	root_bad("/: max-cpus has 12 bytes", "max-cpus", BYTES(BE32(0), BE32(0), BE32(1)));
	root_bad("/: when-idle = \"sleep\": must be \"stay\" or \"poweroff\"", "when-idle",
		 TEXT("sleep"));
	root_bad("/: unknown property 'colour'", "colour", TEXT("red"));
	root_bad("/: log-level = \"?[2J\": must be", "log-level", TEXT("\033[2J"));
	root_bad("/: log-level = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\"", "log-level",
		 TEXT("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void unknown_node(void **s)
{
	(void)s;
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "chosen");
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.st, HV_OK);
	assert_string_equal(t.warned, "/chosen: unknown node\n");
}

/* ---- console --------------------------------------------------------------------- */

struct setting {
	const char *name;
	const void *data;
	size_t len;
};

static void console_with(const struct setting *set, size_t n)
{
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "console");
	for (size_t i = 0; i < n; i++)
		fake_fdt_prop(&t, set[i].name, set[i].data, set[i].len);
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.st, HV_OK);
}

#define CONSOLE(...)                                                                            \
	console_with((const struct setting[]){__VA_ARGS__},                                     \
		     ARRAY_SIZE(((const struct setting[]){__VA_ARGS__})))

static void console_good(void **s)
{
	struct config_console *c = &t.c.console;

	(void)s;
	CONSOLE({"kind", TEXT("mmio")}, {"base", CELLS2(0x2, 0xfe034000)}, {"stride", CELL(4)},
		{"clock", CELL(48000000)}, {"baud", CELL(9600)}, {"escape", TEXT("^a")});
	assert_int_equal(c->kind, CONSOLE_MMIO);
	assert_int_equal(c->base, 0x2fe034000);
	assert_int_equal(c->stride, 4);
	assert_int_equal(c->clock, 48000000);
	assert_int_equal(c->baud, 9600);
	assert_int_equal(c->escape, 1);
	assert_int_equal(t.warnings, 0);
	CONSOLE({"kind", TEXT("port")}, {"base", CELL(0xfff8)});
	assert_int_equal(c->kind, CONSOLE_PORT);
	assert_int_equal(c->base, 0xfff8);
	CONSOLE({"kind", TEXT("none")});
	assert_int_equal(c->kind, CONSOLE_NONE);
	CONSOLE({"kind", TEXT("auto")}, {"stride", CELL(2)});
	assert_int_equal(c->kind, CONSOLE_AUTO);
	assert_int_equal(t.warnings, 0);
}

static void console_escape(void **s)
{
	static const struct {
		const char *text;
		uint8_t key;
	} good[] = {{"^]", 29}, {"^A", 1}, {"^z", 26}, {"^_", 31}, {"^[", 27}, {"^\\", 28}};
	static const char *const bad[] = {"", "]", "^", "^@", "^`", "^{", "^1", "x]", "^ab", "^]^]^]"};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		CONSOLE({"escape", good[i].text, strlen(good[i].text) + 1});
		assert_int_equal(t.c.console.escape, good[i].key);
		assert_int_equal(t.warnings, 0);
	}
	CONSOLE({"escape", CELL(31)});
	assert_int_equal(t.c.console.escape, 31);
	CONSOLE({"escape", CELL(32)});
	assert_int_equal(t.c.console.escape, 29);
	assert_contains(t.warned, "/console: escape = 32: must be 1 to 31");
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		CONSOLE({"escape", bad[i], strlen(bad[i]) + 1});
		assert_int_equal(t.c.console.escape, 29);
		assert_int_equal(t.warnings, 1);
	}
}

static void console_bad_is_default(const char *text)
{
	struct hv_config c;

	config_defaults(&c);
	assert_int_equal(t.warnings, 1);
	assert_contains(t.warned, text);
	assert_memory_equal(&c, &t.c, sizeof(c));
}

static void console_bad_values(void **s)
{
	(void)s;
	CONSOLE({"kind", TEXT("usb")});
	console_bad_is_default(
		"/console: kind = \"usb\": must be \"auto\", \"port\", \"mmio\" or \"none\"");
	CONSOLE({"stride", CELL(3)});
	console_bad_is_default("/console: stride = 3: must be 1, 2 or 4");
	CONSOLE({"clock", CELL(0)});
	console_bad_is_default("/console: clock = 0: must be 800 to 4294967295");
	CONSOLE({"baud", CELL(0)});
	console_bad_is_default("/console: baud = 0: must be 50 to 4000000");
	CONSOLE({"baud", CELL(230400)});
	console_bad_is_default("/console: clock 1843200 / 16 / baud 230400 = 0: must be 1 to 65535");
	CONSOLE({"clock", CELL(0xffffffff)}, {"baud", CELL(300)});
	console_bad_is_default("= 894784: must be 1 to 65535");
	CONSOLE({"base", CELL(0xfff9)});
	console_bad_is_default("base = 0xfff9: must be 0x0 to 0xfff8 for kind \"auto\"");
	CONSOLE({"kind", TEXT("port")}, {"base", CELL(0xfff8)}, {"stride", CELL(4)});
	console_bad_is_default("base = 0xfff8: must be 0x0 to 0xffe0 for kind \"port\"");
	CONSOLE({"kind", TEXT("mmio")});
	console_bad_is_default("base = 0x3f8: must be 0x1000 to 0xffffffffffff8 for kind \"mmio\"");
	CONSOLE({"base", CELLS2(0x100000, 0)});
	console_bad_is_default("base = 0x10000000000000: must be 0x0 to 0xfffffffffffff");
	CONSOLE({"speed", CELL(1)});
	console_bad_is_default("/console: unknown property 'speed'");
	CONSOLE({"status", TEXT("on")});
	console_bad_is_default("/console: status = \"on\": must be \"okay\" or \"disabled\"");
}

static void console_disabled(void **s)
{
	(void)s;
	CONSOLE({"status", TEXT("disabled")}, {"kind", TEXT("none")});
	assert_int_equal(t.c.console.kind, CONSOLE_AUTO);
	CONSOLE({"status", TEXT("okay")}, {"kind", TEXT("none")});
	assert_int_equal(t.c.console.kind, CONSOLE_NONE);
}

/* ---- the list of VMs ------------------------------------------------------------- */

static void seventeen_vms(void **s)
{
	char name[8];

	(void)s;
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "vms");
	for (unsigned i = 0; i < CONFIG_MAX_VMS + 1; i++) {
		snprintf(name, sizeof(name), "vm%u", i);
		add_vm(name);
	}
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.c.vm_count, CONFIG_MAX_VMS);
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		assert_false(t.c.vm[i].refused);
	assert_string_equal(t.warned, "/vms/vm16: ignored: there are 16 VMs already, the maximum\n");
}

static void no_vms(void **s)
{
	(void)s;
	fake_fdt_begin(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.st, HV_OK);
	assert_int_equal(t.c.vm_count, 0);
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "vms");
	fake_fdt_prop(&t, "status", TEXT("disabled"));
	add_vm("a");
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.c.vm_count, 0);
	assert_int_equal(t.warnings, 0);
}

/* The tests run from the top of the tree. */
static void example_source(void **s)
{
	FILE *dtc = popen("dtc -q -I dts -O dtb docs/examples/two-vms.dts", "r");
	size_t n;

	(void)s;
	assert_non_null(dtc);
	memset(&t, 0, sizeof(t));
	n = fread(t.blob, 1, sizeof(t.blob), dtc);
	assert_int_equal(pclose(dtc), 0);
	fake_fdt_parse(&t, t.blob, n);
	assert_int_equal(t.st, HV_OK);
	assert_string_equal(t.warned, "");
	assert_int_equal(t.c.when_idle, WHEN_IDLE_POWEROFF);
	assert_int_equal(t.c.vm_count, 2);
	assert_false(t.c.vm[0].refused || t.c.vm[1].refused);
	assert_int_equal(t.c.vm[0].ram_high, 1 * GIB);
	assert_int_equal(t.c.vm[0].cpu_mask, 0xc);
	assert_int_equal(t.c.vm[1].ram_low, 64 * MIB);
	assert_int_equal(t.c.vm[1].module_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(builtin_vm),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(every_truncation_with_size),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(bytes_behind_the_tree),
		cmocka_unit_test(every_byte_damaged),
		cmocka_unit_test(compatible),
		cmocka_unit_test(root_good),
		cmocka_unit_test(root_bad_values),
		cmocka_unit_test(unknown_node),
		cmocka_unit_test(console_good),
		cmocka_unit_test(console_escape),
		cmocka_unit_test(console_bad_values),
		cmocka_unit_test(console_disabled),
		cmocka_unit_test(seventeen_vms),
		cmocka_unit_test(no_vms),
		cmocka_unit_test(example_source),
	};
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
