/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <libfdt.h>

#include "boot/config.h"
#include "boot/config_vm.h"
#include "boot/config_write.h"
#include "boot/edit.h"

static uint8_t fdt[16384] __aligned(8);
static struct hv_config config;
static struct hv_error err;

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	fail_msg("%s", text);
}

static void parse(void)
{
	config_defaults(&config);
	assert_int_equal(config_parse(fdt, fdt_totalsize(fdt), &config,
				      &(struct config_sink){warn, NULL}, &err), HV_OK);
}

static struct config_vm some_vm(const char *name)
{
	struct config_vm vm;

	memset(&vm, 0, sizeof(vm));
	config_vm_defaults(&vm);
	strcpy(vm.name, name);
	strcpy(vm.kernel, "/vmlinuz");
	vm.ram_low = 64 * MIB;
	return vm;
}

/* Written and read again it is the same. */
static void check(const struct config_vm *vm)
{
	edit_begin(fdt, sizeof(fdt), NULL);
	assert_true(config_write_vm(fdt, NULL, vm, &err));
	parse();
	assert_int_equal(config.vm_count, 1);
	assert_false(config.vm[0].refused);
	assert_memory_equal(&config.vm[0], vm, sizeof(*vm));
}

static void reads_as_it_was(void **s)
{
	struct config_vm vm = some_vm("web");

	(void)s;
	check(&vm);
	vm.vcpus = 3;
	vm.cpu_mask = BIT64(63) | BIT64(2);
	vm.weight = 7;
	vm.cap = 100;
	vm.on_reboot = POLICY_PAUSE;
	vm.on_crash = POLICY_STOP;
	vm.max_leaf_shift = 30;
	vm.test_exit = vm.test_calls = vm.no_access_bits = vm.fw_cfg = true;
	strcpy(vm.initrd, "/initrd");
	/* Nothing but digits, and quotes: strings all the same. */
	strcpy(vm.cmdline, "123");
	check(&vm);
	strcpy(vm.cmdline, "a \"b\" \\");
	vm.type = KERNEL_MULTIBOOT;
	vm.module_count = 2;
	strcpy(vm.module[0], "/a");
	strcpy(vm.module[1], "/b");
	check(&vm);
	vm.type = KERNEL_FLAT;
	vm.flat_mode = FLAT_LONG;
	vm.flat_load = 0x10000;
	vm.flat_entry = 0x10010;
	check(&vm);
}

static void memory_of_any_shape(void **s)
{
	static const uint64_t shape[][2] = {
		{MIB, 0}, {CONFIG_HOLE_START, 0}, {CONFIG_HOLE_START, 5 * GIB}, {2 * GIB, 3 * GIB},
		{64 * MIB + PAGE_SIZE, 0}, {64 * MIB, PAGE_SIZE},
	};
	struct config_vm vm = some_vm("m");

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(shape); i++) {
		vm.ram_low = shape[i][0];
		vm.ram_high = shape[i][1];
		check(&vm);
	}
}

/* What was in the node stays, also what nobody here knows. */
static void changes_only_what_changed(void **s)
{
	char *words[] = {"okay", "5"};
	struct config_vm vm = some_vm("a"), before;
	int node;

	(void)s;
	check(&vm);
	assert_true(edit_set(fdt, "a", "status", 1, words, &err));
	assert_true(edit_set(fdt, "a", "weight", 1, words + 1, &err));
	before = vm;
	before.weight = 5;
	vm.cap = 20;
	assert_true(config_write_vm(fdt, &before, &vm, &err));
	parse();
	assert_memory_equal(&config.vm[0], &vm, sizeof(vm));
	node = fdt_path_offset(fdt, "/vms/a");
	assert_non_null(fdt_getprop(fdt, node, "status", NULL));
	/* Another VM by that name: nothing is left of the first. */
	vm.vcpus = 2;
	assert_true(config_write_vm(fdt, &before, &vm, &err));
	parse();
	assert_int_equal(config.vm_count, 1);
	assert_memory_equal(&config.vm[0], &vm, sizeof(vm));
	node = fdt_path_offset(fdt, "/vms/a");
	assert_null(fdt_getprop(fdt, node, "status", NULL));
}

static void says_when_it_is_full(void **s)
{
	struct config_vm vm = some_vm("a");

	(void)s;
	memset(vm.cmdline, 'x', sizeof(vm.cmdline) - 1);
	for (size_t size = 128; size < 1400; size += 4) {
		edit_begin(fdt, size, NULL);
		err.text[0] = 0;
		if (config_write_vm(fdt, NULL, &vm, &err))
			continue;
		assert_non_null(strstr(err.text, "full"));
		assert_int_equal(fdt_check_full(fdt, size), 0);
	}
	assert_false(err.text[0]); /* at last it had room */
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(reads_as_it_was),
		cmocka_unit_test(memory_of_any_shape),
		cmocka_unit_test(changes_only_what_changed),
		cmocka_unit_test(says_when_it_is_full),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
