/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_fdt.h"

#include "boot/config_vm.h"

struct range {
	uint64_t base, size;
};

#define RANGES(...) (const struct range[]){__VA_ARGS__}, ARRAY_SIZE(((const struct range[]){__VA_ARGS__}))

static struct fake_fdt t;

static void begin_vm(uint32_t address_cells, uint32_t size_cells)
{
	fake_fdt_begin(&t);
	fake_fdt_node(&t, "vms");
	fake_fdt_node(&t, "a");
	fake_fdt_prop(&t, "kernel", TEXT("/k"));
	if (address_cells)
		fake_fdt_prop(&t, "#address-cells", CELL(address_cells));
	if (size_cells)
		fake_fdt_prop(&t, "#size-cells", CELL(size_cells));
}

static size_t put(uint8_t *out, uint32_t cells, uint64_t v)
{
	for (uint32_t i = 0; i < cells * 4; i++)
		out[i] = cells * 4 - i > 8 ? 0 : (uint8_t)(v >> 8 * (cells * 4 - i - 1));
	return cells * 4;
}

static void memory_node(const char *name, const void *reg, size_t len)
{
	fake_fdt_node(&t, name);
	fake_fdt_prop(&t, "device_type", TEXT("memory"));
	fake_fdt_prop(&t, "reg", reg, len);
	fake_fdt_end(&t);
}

static struct config_vm *vm_of(uint32_t ac, uint32_t sc, const struct range *r, size_t n)
{
	uint8_t reg[512];
	size_t len = 0;

	begin_vm(ac, sc);
	for (size_t i = 0; i < n; i++) {
		len += put(reg + len, ac, r[i].base);
		len += put(reg + len, sc, r[i].size);
	}
	memory_node("memory@0", reg, len);
	return fake_fdt_end_vm(&t);
}

static void good(uint32_t ac, uint32_t sc, const struct range *r, size_t n, uint64_t low, uint64_t high)
{
	struct config_vm *vm = vm_of(ac, sc, r, n);

	if (vm->refused)
		print_error("refused: %s\n", vm->why.text);
	assert_false(vm->refused);
	assert_int_equal(t.warnings, 0);
	assert_int_equal(vm->ram_low, low);
	assert_int_equal(vm->ram_high, high);
}

static void assert_refused(const char *text)
{
	assert_true(t.c.vm[0].refused);
	assert_contains(t.c.vm[0].why.text, text);
	assert_int_equal(t.c.vm[0].ram_low, 0);
}

static void bad(const char *text, const struct range *r, size_t n)
{
	vm_of(2, 2, r, n);
	assert_refused(text);
}

static void every_cell_count(void **s)
{
	(void)s;
	for (uint32_t ac = 1; ac <= 3; ac++) {
		for (uint32_t sc = 1; sc <= 2; sc++) {
			good(ac, sc, RANGES({0, 64 * MIB}), 64 * MIB, 0);
			if (ac > 1)
				good(ac, sc, RANGES({0, GIB}, {4 * GIB, 2 * GIB}), GIB, 2 * GIB);
			if (ac > 1 && sc > 1)
				good(ac, sc, RANGES({0, GIB}, {4 * GIB, 8 * GIB}), GIB, 8 * GIB);
		}
	}
}

/* Two cells of address and one of size, as the specification has it. */
static void cells_absent(void **s)
{
	(void)s;
	begin_vm(0, 0);
	memory_node("memory@0", BYTES(BE32(0), BE32(0), BE32(0x8000000)));
	assert_false(fake_fdt_end_vm(&t)->refused);
	assert_int_equal(t.c.vm[0].ram_low, 128 * MIB);
	begin_vm(0, 0);
	memory_node("memory@0", BYTES(BE32(0), BE32(0), BE32(0), BE32(0x8000000)));
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: reg has 16 bytes: must be a multiple of 12, for "
		       "#address-cells 2 and #size-cells 1");
}

static void cells_bad(void **s)
{
	(void)s;
	begin_vm(4, 2);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: #address-cells = 4: must be 1 to 3");
	begin_vm(2, 3);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: #size-cells = 3: must be 1 to 2");
	begin_vm(0, 1);
	fake_fdt_prop(&t, "#address-cells", CELL(0));
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: #address-cells = 0: must be 1 to 3");
	begin_vm(2, 0);
	fake_fdt_prop(&t, "#size-cells", "12", 2);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: #size-cells has 2 bytes");
}

static void merging(void **s)
{
	(void)s;
	good(2, 2, RANGES({0x200000, 0x100000}, {0, 0x100000}, {0x100000, 0x100000}), 0x300000, 0);
	good(2, 2, RANGES({5 * GIB, GIB}, {0, GIB}, {4 * GIB, GIB}), GIB, 2 * GIB);
	good(2, 2, RANGES({0, 3 * GIB}, {4 * GIB, 509 * GIB}), 3 * GIB, 509 * GIB);
	/* The ranges may be spread over several nodes. */
	begin_vm(1, 1);
	memory_node("memory@40000000", CELLS2(0x40000000, 0x40000000));
	memory_node("memory", CELLS2(0, 0x40000000));
	assert_false(fake_fdt_end_vm(&t)->refused);
	assert_int_equal(t.c.vm[0].ram_low, 2 * GIB);
}

static void overlapping(void **s)
{
	(void)s;
	bad("/vms/a/memory@0: reg = 0x100000-0x1fffff: must not overlap another range",
	    RANGES({0, 0x101000}, {0x100000, 0x100000}));
	bad("must not overlap", RANGES({0x100000, 0x100000}, {0, 0x101000}));
	bad("must not overlap", RANGES({0, 0x100000}, {0, 0x100000}));
	bad("must not overlap", RANGES({0, 0x400000}, {0x100000, 0x1000}));
	bad("must not overlap", RANGES({0x100000, 0x1000}, {0, 0x400000}));
}

static void the_hole(void **s)
{
	(void)s;
	bad("reg = 0x0, size 0x100000000: must not reach into 0xc0000000-0xffffffff",
	    RANGES({0, 4 * GIB}));
	bad("must not reach into", RANGES({0, CONFIG_HOLE_START + 0x1000}));
	bad("must not reach into", RANGES({0, GIB}, {0xfffff000, 0x1000}));
	bad("must not reach into", RANGES({0, GIB}, {0xfffff000, 0x2000}));
	bad("must not reach into", RANGES({0, 8 * GIB}));
}

static void wrapping_and_far(void **s)
{
	(void)s;
	bad("must end at 0x8100000000 at most", RANGES({0, GIB}, {0xfffffffffffff000, 0x2000}));
	bad("must end at", RANGES({0, GIB}, {4 * GIB, 0xfffffffffffff000}));
	bad("must end at", RANGES({0, 0xfffffffffffff000}));
	bad("must end at", RANGES({0x1000, 0xfffffffffffff000}));
	bad("must end at", RANGES({0, GIB}, {4 * GIB, 513 * GIB}));
	bad("memory of 0xc0000000 bytes from 0 and 0x7f40001000 from 4 GiB: must be at least 0x100000 "
	    "from 0 and at most 0x8000000000 in all",
	    RANGES({0, 3 * GIB}, {4 * GIB, 509 * GIB + 0x1000}));
	begin_vm(3, 1);
	memory_node("memory@0", BYTES(BE32(1), BE32(0), BE32(0), BE32(0x100000)));
	fake_fdt_end_vm(&t);
	assert_refused("reg has an address of more than 64 bits");
	begin_vm(3, 1);
	memory_node("memory@0", BYTES(BE32(0x80000000), BE32(0), BE32(0), BE32(0x100000)));
	fake_fdt_end_vm(&t);
	assert_refused("reg has an address of more than 64 bits");
}

static void unaligned_or_empty(void **s)
{
	(void)s;
	bad("reg = 0x0, size 0x100800: must be whole pages of 4 KiB", RANGES({0, 0x100800}));
	bad("must be whole pages", RANGES({0x800, 0x100000}));
	bad("must be whole pages", RANGES({0, 0}));
	bad("must be whole pages", RANGES({0, GIB}, {4 * GIB, 0}));
}

static void shape(void **s)
{
	(void)s;
	bad("memory 0x200000-0x2fffff: must join one range from 0 or one from 0x100000000",
	    RANGES({0, 0x100000}, {0x200000, 0x100000}));
	bad("memory 0x100000-0x1fffff: must join", RANGES({0x100000, 0x100000}));
	bad("memory 0x140000000-0x17fffffff: must join", RANGES({0, GIB}, {5 * GIB, GIB}));
	bad("at least 0x100000 from 0", RANGES({4 * GIB, GIB}));
	bad("at least 0x100000 from 0", RANGES({0, 0xff000}));
}

static void too_many_ranges(void **s)
{
	struct range r[17];

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		r[i] = (struct range){i * MIB, MIB};
	good(2, 2, r, 16, 16 * MIB, 0);
	bad("reg is one range too many: must be at most 16", r, 17);
}

static void nodes(void **s)
{
	(void)s;
	begin_vm(1, 1);
	fake_fdt_node(&t, "memory@0");
	fake_fdt_prop(&t, "reg", CELLS2(0, 0x100000));
	fake_fdt_end(&t);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: device_type is missing");

	begin_vm(1, 1);
	fake_fdt_node(&t, "memory@0");
	fake_fdt_prop(&t, "device_type", TEXT("cpu"));
	fake_fdt_prop(&t, "reg", CELLS2(0, 0x100000));
	fake_fdt_end(&t);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: device_type = \"cpu\": must be \"memory\"");

	begin_vm(1, 1);
	fake_fdt_node(&t, "memory@0");
	fake_fdt_prop(&t, "device_type", TEXT("memory"));
	fake_fdt_end(&t);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: reg is missing");

	begin_vm(1, 1);
	memory_node("memory@0", FLAG);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: reg has 0 bytes: must be a multiple of 8");

	begin_vm(1, 1);
	fake_fdt_prop(&t, "memory-mib", CELL(64));
	memory_node("memory@0", CELLS2(0, 0x100000));
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a: memory-mib and memory nodes: must be one of them");

	begin_vm(1, 1);
	fake_fdt_node(&t, "memory@0");
	fake_fdt_prop(&t, "device_type", TEXT("memory"));
	fake_fdt_prop(&t, "reg", CELLS2(0, 0x100000));
	fake_fdt_prop(&t, "numa-node-id", CELL(0));
	fake_fdt_end(&t);
	assert_false(fake_fdt_end_vm(&t)->refused);
	assert_string_equal(t.warned, "/vms/a/memory@0: unknown property 'numa-node-id'\n");
}

static void disabled_node(void **s)
{
	(void)s;
	begin_vm(1, 1);
	memory_node("memory@0", CELLS2(0, 0x200000));
	fake_fdt_node(&t, "memory@100000");
	fake_fdt_prop(&t, "status", TEXT("disabled"));
	fake_fdt_end(&t);
	assert_false(fake_fdt_end_vm(&t)->refused);
	assert_int_equal(t.c.vm[0].ram_low, 2 * MIB);
	begin_vm(1, 1);
	fake_fdt_node(&t, "memory@0");
	fake_fdt_prop(&t, "status", TEXT("broken"));
	fake_fdt_end(&t);
	fake_fdt_end_vm(&t);
	assert_refused("/vms/a/memory@0: status = \"broken\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_count),
		cmocka_unit_test(cells_absent),
		cmocka_unit_test(cells_bad),
		cmocka_unit_test(merging),
		cmocka_unit_test(overlapping),
		cmocka_unit_test(the_hole),
		cmocka_unit_test(wrapping_and_far),
		cmocka_unit_test(unaligned_or_empty),
		cmocka_unit_test(shape),
		cmocka_unit_test(too_many_ranges),
		cmocka_unit_test(nodes),
		cmocka_unit_test(disabled_node),
	};
	return cmocka_run_group_tests_name("config_memory", tests, NULL, NULL);
}
