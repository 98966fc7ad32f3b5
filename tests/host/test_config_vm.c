/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_fdt.h"

#include "boot/config_vm.h"

static struct fake_fdt t;

/* Leaves the node of a VM below /vms open. */
static void begin_vm(const char *name)
{
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "vms");
	fake_fdt_node(&t, name);
}

static struct config_vm *vm_with(const char *name, const void *data, size_t len)
{
	begin_vm("a");
	if (strcmp(name, "kernel"))
		fake_fdt_prop(&t, "kernel", TEXT("/boot/kernel"));
	fake_fdt_prop(&t, name, data, len);
	return fake_fdt_end_vm(&t);
}

static struct config_vm *good(const char *name, const void *data, size_t len)
{
	struct config_vm *vm = vm_with(name, data, len);

	if (vm->refused)
		print_error("refused: %s\n", vm->why.text);
	assert_false(vm->refused);
	assert_int_equal(t.warnings, 0);
	return vm;
}

static void assert_refused(const char *text)
{
	struct config_vm *vm = &t.c.vm[0];

	assert_true(vm->refused);
	assert_contains(vm->why.text, text);
	assert_int_equal(vm->kernel[0], 0);
	assert_int_equal(vm->ram_low, 0);
}

static void bad(const char *text, const char *name, const void *data, size_t len)
{
	vm_with(name, data, len);
	assert_refused(text);
	assert_string_equal(t.c.vm[0].name, "a");
}

/* ---- the node -------------------------------------------------------------------- */

static void only_a_kernel(void **s)
{
	struct config_vm *vm = good("kernel", TEXT("\\EFI\\vmlinuz"));

	(void)s;
	assert_string_equal(vm->name, "a");
	assert_string_equal(vm->kernel, "\\EFI\\vmlinuz");
	assert_string_equal(vm->initrd, "");
	assert_string_equal(vm->cmdline, "");
	assert_int_equal(vm->vcpus, 1);
	assert_int_equal(vm->ram_low, 256 * MIB);
	assert_int_equal(vm->ram_high, 0);
	assert_int_equal(vm->cpu_mask, 0);
	assert_int_equal(vm->max_leaf_shift, 21);
	assert_int_equal(vm->type, KERNEL_AUTO);
	assert_int_equal(vm->on_reboot, POLICY_RESET);
	assert_int_equal(vm->on_crash, POLICY_AS_REBOOT);
	assert_int_equal(vm->weight, 100);
	assert_int_equal(vm->cap, 0);
	assert_int_equal(vm->flat_mode, FLAT_REAL);
	assert_int_equal(vm->flat_load, 0x7c00);
	assert_int_equal(vm->flat_entry, 0x7c00);
	assert_int_equal(vm->module_count, 0);
	assert_false(vm->test_exit);
	assert_false(vm->fw_cfg);
}

static void kernel_missing(void **s)
{
	(void)s;
	begin_vm("a");
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: kernel is missing: must be a path");
}

static void names(void **s)
{
	static const char *const ok[] = {"x", "A.b_c-9", "abcdefghijklmnopqrstuvw"};
	static const struct {
		const char *name, *shown, *why;
	} wrong[] = {
		{"abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvw", "name: must have 1 to 23"},
		{"vm@1", "vm@1", "/vms/vm@1: name: must be of letters, digits, '.', '_' and '-', without"},
		{"a b", "a b", "name: must be of letters"},
		{"a\033b", "a?b", "/vms/a?b: name: must be of letters"},
		{"", "", "name: must have 1 to 23"},
	};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(ok); i++) {
		begin_vm(ok[i]);
		fake_fdt_prop(&t, "kernel", TEXT("/k"));
		assert_false(fake_fdt_end_vm(&t)->refused);
		assert_string_equal(t.c.vm[0].name, ok[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin_vm(wrong[i].name);
		fake_fdt_prop(&t, "kernel", TEXT("/k"));
		fake_fdt_end_vm(&t);
		assert_refused(wrong[i].why);
		assert_string_equal(t.c.vm[0].name, wrong[i].shown);
	}
}

static void same_name_twice(void **s)
{
	(void)s;
	begin_vm("a");
	fake_fdt_prop(&t, "kernel", TEXT("/first"));
	fake_fdt_end(&t);
	fake_fdt_node(&t, "a");
	fake_fdt_prop(&t, "kernel", TEXT("/second"));
	fake_fdt_end(&t);
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.c.vm_count, 2);
	assert_false(t.c.vm[0].refused);
	assert_string_equal(t.c.vm[0].kernel, "/first");
	assert_true(t.c.vm[1].refused);
	assert_contains(t.c.vm[1].why.text, "/vms/a: name: there is a VM 'a' already");
}

static void status(void **s)
{
	(void)s;
	good("status", TEXT("okay"));
	bad("/vms/a: status = \"fail\": must be \"okay\" or \"disabled\"", "status", TEXT("fail"));
	begin_vm("a");
	fake_fdt_prop(&t, "status", TEXT("disabled"));
	fake_fdt_prop(&t, "vcpus", CELL(99));
	fake_fdt_end(&t);
	fake_fdt_end(&t);
	fake_fdt_finish(&t);
	assert_int_equal(t.c.vm_count, 0);
	assert_int_equal(t.warnings, 0);
}

static void unknown_things(void **s)
{
	(void)s;
	assert_false(vm_with("vcpu", CELL(2))->refused);
	assert_string_equal(t.warned, "/vms/a: unknown property 'vcpu'\n");
	begin_vm("a");
	fake_fdt_prop(&t, "kernel", TEXT("/k"));
	fake_fdt_prop(&t, "phandle", CELL(1));
	fake_fdt_prop(&t, "linux,phandle", CELL(1));
	fake_fdt_prop(&t, "name", TEXT("a"));
	fake_fdt_prop(&t, "compatible", TEXT("x"));
	fake_fdt_node(&t, "memories");
	fake_fdt_end(&t);
	assert_false(fake_fdt_end_vm(&t)->refused);
	assert_string_equal(t.warned, "/vms/a/memories: unknown node\n");
}

/* ---- numbers, words, flags ------------------------------------------------------- */

static void vcpus(void **s)
{
	(void)s;
	assert_int_equal(good("vcpus", CELL(1))->vcpus, 1);
	assert_int_equal(good("vcpus", CELL(32))->vcpus, 32);
	assert_int_equal(good("vcpus", CELLS2(0, 7))->vcpus, 7);
	bad("/vms/a: vcpus = 0: must be 1 to 32", "vcpus", CELL(0));
	bad("/vms/a: vcpus = 33: must be 1 to 32", "vcpus", CELL(33));
	bad("/vms/a: vcpus = 4294967297: must be 1 to 32", "vcpus", CELLS2(1, 1));
	bad("/vms/a: vcpus has 5 bytes: must be a number of one or two cells", "vcpus", "12345", 5);
	bad("/vms/a: vcpus has 0 bytes", "vcpus", FLAG);
}

static void memory_mib(void **s)
{
	struct config_vm *vm;

	(void)s;
	vm = good("memory-mib", CELL(1));
	assert_int_equal(vm->ram_low, 1 * MIB);
	assert_int_equal(vm->ram_high, 0);
	vm = good("memory-mib", CELL(3072));
	assert_int_equal(vm->ram_low, 3 * GIB);
	assert_int_equal(vm->ram_high, 0);
	vm = good("memory-mib", CELL(3073));
	assert_int_equal(vm->ram_low, 3 * GIB);
	assert_int_equal(vm->ram_high, 1 * MIB);
	vm = good("memory-mib", CELL(524288));
	assert_int_equal(vm->ram_low, 3 * GIB);
	assert_int_equal(vm->ram_high, 509 * GIB);
	bad("/vms/a: memory-mib = 0: must be 1 to 524288", "memory-mib", CELL(0));
	bad("/vms/a: memory-mib = 524289: must be 1 to 524288", "memory-mib", CELL(524289));
	bad("must be 1 to 524288", "memory-mib", CELLS2(0xffffffff, 0xffffffff));
	bad("/vms/a: memory-mib has 1 bytes", "memory-mib", "1", 1);
}

static void cpus(void **s)
{
	(void)s;
	assert_int_equal(good("cpus", CELL(0))->cpu_mask, 1);
	assert_int_equal(good("cpus", BYTES(BE32(63), BE32(2), BE32(2)))->cpu_mask, BIT64(63) | 4);
	bad("/vms/a: cpus = 64: must be 0 to 63", "cpus", CELLS2(1, 64));
	bad("/vms/a: cpus has 0 bytes: must be a list of CPU numbers", "cpus", FLAG);
	bad("/vms/a: cpus has 6 bytes", "cpus", "123456", 6);
}

static void words(void **s)
{
	(void)s;
	assert_int_equal(good("type", TEXT("auto"))->type, KERNEL_AUTO);
	assert_int_equal(good("type", TEXT("linux"))->type, KERNEL_LINUX);
	assert_int_equal(good("type", TEXT("multiboot"))->type, KERNEL_MULTIBOOT);
	assert_int_equal(good("type", TEXT("flat"))->type, KERNEL_FLAT);
	bad("/vms/a: type = \"elf\": must be \"auto\", \"linux\", \"multiboot\" or \"flat\"", "type",
	    TEXT("elf"));
	bad("/vms/a: type = \"\": must be", "type", TEXT(""));
	bad("/vms/a: type = \"flat\" has no end", "type", "flat", 4);
	assert_int_equal(good("flat-mode", TEXT("real"))->flat_mode, FLAT_REAL);
	assert_int_equal(good("flat-mode", TEXT("protected"))->flat_mode, FLAT_PROTECTED);
	assert_int_equal(good("flat-mode", TEXT("long"))->flat_mode, FLAT_LONG);
	bad("flat-mode = \"v86\": must be \"real\", \"protected\" or \"long\"", "flat-mode", TEXT("v86"));
	assert_int_equal(good("max-leaf", TEXT("4K"))->max_leaf_shift, 12);
	assert_int_equal(good("max-leaf", TEXT("2M"))->max_leaf_shift, 21);
	assert_int_equal(good("max-leaf", TEXT("1G"))->max_leaf_shift, 30);
	bad("/vms/a: max-leaf = \"2m\": must be \"4K\", \"2M\" or \"1G\"", "max-leaf", TEXT("2m"));
	assert_int_equal(good("on-reboot", TEXT("reset"))->on_reboot, POLICY_RESET);
	assert_int_equal(good("on-reboot", TEXT("stop"))->on_reboot, POLICY_STOP);
	assert_int_equal(good("on-reboot", TEXT("pause"))->on_reboot, POLICY_PAUSE);
	assert_int_equal(good("on-crash", TEXT("pause"))->on_crash, POLICY_PAUSE);
	bad("/vms/a: on-reboot = \"no\": must be \"reset\", \"stop\" or \"pause\"", "on-reboot", TEXT("no"));
}

static void flags(void **s)
{
	(void)s;
	assert_true(good("test-exit", FLAG)->test_exit);
	assert_true(good("fw-cfg", FLAG)->fw_cfg);
	bad("/vms/a: test-exit has 4 bytes: must be a flag without value", "test-exit", CELL(1));
	bad("/vms/a: fw-cfg has 4 bytes", "fw-cfg", CELL(0));
}

static void flat_addresses(void **s)
{
	struct config_vm *vm = good("flat-load", CELL(0x100000));

	(void)s;
	assert_int_equal(vm->flat_load, 0x100000);
	assert_int_equal(vm->flat_entry, 0x100000);
	vm = good("flat-entry", CELLS2(0, 0x7c10));
	assert_int_equal(vm->flat_load, 0x7c00);
	assert_int_equal(vm->flat_entry, 0x7c10);
	assert_int_equal(good("flat-load", CELL(0))->flat_entry, 0);
	bad("/vms/a: flat-load = 0xc0000000: must be 0x0 to 0xbfffffff", "flat-load", CELL(0xc0000000));
	bad("/vms/a: flat-entry = 0x100000000: must be", "flat-entry", CELLS2(1, 0));
	bad("/vms/a: flat-entry has 2 bytes", "flat-entry", "12", 2);
}

/* ---- strings --------------------------------------------------------------------- */

static void paths(void **s)
{
	char longest[CONFIG_PATH_LEN + 1] = "/";

	(void)s;
	memset(longest + 1, 'x', CONFIG_PATH_LEN - 2);
	assert_string_equal(good("kernel", longest, CONFIG_PATH_LEN)->kernel, longest);
	assert_string_equal(good("initrd", longest, CONFIG_PATH_LEN)->initrd, longest);
	longest[CONFIG_PATH_LEN - 1] = 'x';
	bad("/vms/a: kernel has 128 characters: must have at most 127", "kernel", longest,
	    sizeof(longest));
	bad("/vms/a: initrd has 128 characters", "initrd", longest, sizeof(longest));
	bad("= \"vmlinuz\": must begin with / or \\", "kernel", TEXT("vmlinuz"));
	bad("/vms/a: kernel = \"\": must begin with / or \\", "kernel", TEXT(""));
	bad("/vms/a: kernel = \"/k\" has no end: must be a string", "kernel", "/k", 2);
	bad("/vms/a: kernel = \"/k?/l\" goes on behind its end", "kernel", TEXT("/k\0/l"));
	bad("/vms/a: kernel = \"\" has no end", "kernel", FLAG);
	bad("/vms/a: kernel = \"/a?b\": must be printable ASCII", "kernel", TEXT("/a\xe9""b"));
}

static void bootargs(void **s)
{
	char longest[CONFIG_CMDLINE_LEN + 1] = "";

	(void)s;
	memset(longest, 'x', CONFIG_CMDLINE_LEN - 1);
	assert_string_equal(good("bootargs", longest, CONFIG_CMDLINE_LEN)->cmdline, longest);
	assert_string_equal(good("bootargs", TEXT(""))->cmdline, "");
	longest[CONFIG_CMDLINE_LEN - 1] = 'x';
	bad("/vms/a: bootargs has 1024 characters: must have at most 1023", "bootargs", longest,
	    sizeof(longest));
	bad("/vms/a: bootargs = \"x\" has no end", "bootargs", "x", 1);
}

static void modules(void **s)
{
	char longest[CONFIG_PATH_LEN + 1] = "/";
	struct config_vm *vm = good("modules", TEXT("/a\0/b\0\\c\0/d"));

	(void)s;
	assert_int_equal(vm->module_count, 4);
	assert_string_equal(vm->module[0], "/a");
	assert_string_equal(vm->module[2], "\\c");
	assert_string_equal(vm->module[3], "/d");
	assert_int_equal(good("modules", TEXT("/a"))->module_count, 1);
	bad("/vms/a: modules has too many paths: must be at most 4", "modules",
	    TEXT("/a\0/b\0/c\0/d\0/e"));
	bad("/vms/a: modules has no end: must be strings", "modules", "/a\0/b", 5);
	bad("/vms/a: modules has no end", "modules", FLAG);
	bad("/vms/a: modules = \"b\": must begin with / or \\", "modules", TEXT("/a\0b"));
	memset(longest + 1, 'x', CONFIG_PATH_LEN - 1);
	bad("must have at most 127 characters", "modules", longest, sizeof(longest));
}

/* The longest of everything still says what is wrong and allowed. */
static void long_reasons_are_whole(void **s)
{
	(void)s;
	begin_vm("abcdefghijklmnopqrstuvw");
	fake_fdt_prop(&t, "type",
		      TEXT("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	fake_fdt_end_vm(&t);
	assert_refused("...\": must be \"auto\", \"linux\", \"multiboot\" or \"flat\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_kernel),    cmocka_unit_test(kernel_missing),
		cmocka_unit_test(names),	    cmocka_unit_test(same_name_twice),
		cmocka_unit_test(status),	    cmocka_unit_test(unknown_things),
		cmocka_unit_test(vcpus),	    cmocka_unit_test(memory_mib),
		cmocka_unit_test(cpus),		    cmocka_unit_test(words),
		cmocka_unit_test(flags),	    cmocka_unit_test(flat_addresses),
		cmocka_unit_test(paths),	    cmocka_unit_test(bootargs),
		cmocka_unit_test(modules),	    cmocka_unit_test(long_reasons_are_whole),
	};
	return cmocka_run_group_tests_name("config_vm", tests, NULL, NULL);
}
