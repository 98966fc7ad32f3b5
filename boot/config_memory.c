/* SPDX-License-Identifier: BSD-2-Clause */
/* config_memory: a VM's RAM from its memory nodes.  Pure. */
#include <libfdt.h>

#include "boot/config_vm.h"

#define MAX_RANGES  16
#define HOLE_END    (4 * GIB)
#define RAM_END     (HOLE_END + CONFIG_MAX_RAM)
#define DEVICE_TYPE "memory"

/* As the devicetree specification has them for a node that does not say. */
#define DEFAULT_ADDRESS_CELLS 2
#define DEFAULT_SIZE_CELLS    1

struct ranges {
	uint32_t address_cells, size_cells;
	uint32_t count;
	struct {
		uint64_t base, end;
	} r[MAX_RANGES]; /* in address order */
};

bool config_memory_is_node(const struct config_node *n)
{
	const char *name = fdt_get_name(n->dtb, n->offset, NULL);

	return name && !memcmp(name, DEVICE_TYPE, min_u64(strlen(name) + 1, 6)) &&
	       (!name[6] || name[6] == '@');
}

/* The property has passed its range check. */
static uint32_t cells(const struct config_node *n, const char *name, uint32_t absent)
{
	struct config_prop p;
	struct hv_error err;
	uint64_t v;

	if (!config_prop_find(n, name, &err, &p) || !config_get_number(&p, &v))
		return absent;
	return (uint32_t)v;
}

/* A number of @count cells; false when it has more than 64 bits. */
static bool take(const uint8_t **data, uint32_t count, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < 4 * count; i++) {
		if (*v >> 56)
			return false;
		*v = *v << 8 | *(*data)++;
	}
	return true;
}

static bool insert(const struct config_prop *p, struct ranges *rs, uint64_t base, uint64_t end)
{
	uint32_t i = rs->count;

	if (rs->count == MAX_RANGES)
		return config_prop_bad(p, "is one range too many: must be at most %u", MAX_RANGES);
	while (i && rs->r[i - 1].base > base)
		i--;
	if ((i && rs->r[i - 1].end > base) || (i < rs->count && rs->r[i].base < end))
		return config_prop_bad(p, "= 0x%llx-0x%llx: must not overlap another range",
				       (unsigned long long)base, (unsigned long long)end - 1);
	memmove(&rs->r[i + 1], &rs->r[i], (rs->count - i) * sizeof(rs->r[0]));
	rs->r[i].base = base;
	rs->r[i].end = end;
	rs->count++;
	return true;
}

static bool add(const struct config_prop *p, struct ranges *rs, uint64_t base, uint64_t size)
{
	unsigned long long b = base, s = size;

	if (!size || ((base | size) & (PAGE_SIZE - 1)))
		return config_prop_bad(p, "= 0x%llx, size 0x%llx: must be whole pages of 4 KiB", b, s);
	if (base >= RAM_END || size > RAM_END - base)
		return config_prop_bad(p, "= 0x%llx, size 0x%llx: must end at 0x%llx at most", b, s,
				       RAM_END);
	if (base < HOLE_END && base + size > CONFIG_HOLE_START)
		return config_prop_bad(p, "= 0x%llx, size 0x%llx: must not reach into 0x%llx-0x%llx",
				       b, s, CONFIG_HOLE_START, HOLE_END - 1);
	return insert(p, rs, base, base + size);
}

static bool read_reg(const struct config_prop *p, const struct config_field *f, void *out)
{
	struct ranges *rs = out;
	uint32_t entry = 4 * (rs->address_cells + rs->size_cells);
	const uint8_t *data = p->data;
	uint64_t base, size;

	(void)f;
	if (!p->len || p->len % entry)
		return config_prop_bad(p,
				       "has %u bytes: must be a multiple of %u, for #address-cells "
				       "%u and #size-cells %u",
				       p->len, entry, rs->address_cells, rs->size_cells);
	for (uint32_t i = 0; i < p->len / entry; i++) {
		if (!take(&data, rs->address_cells, &base) || !take(&data, rs->size_cells, &size))
			return config_prop_bad(p, "has an address of more than 64 bits");
		if (!add(p, rs, base, size))
			return false;
	}
	return true;
}

static bool read_device_type(const struct config_prop *p, const struct config_field *f, void *out)
{
	static const char *const words[] = { DEVICE_TYPE, NULL };
	const struct config_field choice = { .size = 0, .words = words };

	(void)f;
	return config_read_choice(p, &choice, out);
}

static bool parse_node(const struct config_node *n, struct ranges *rs, struct hv_error *err)
{
	static const struct config_field fields[] = {
		{ .name = "device_type", .read = read_device_type },
		{ .name = "reg", .read = read_reg },
		{ .name = NULL },
	};
	static const char *const required[] = { "device_type", "reg" };
	struct config_prop p;

	switch (config_node_status(n, err)) {
	case CONFIG_BAD:
		return false;
	case CONFIG_DISABLED:
		return true;
	case CONFIG_OKAY:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		if (!config_prop_find(n, required[i], err, &p)) {
			config_node_bad(n, err, "%s is missing", required[i]);
			return false;
		}
	}
	return config_read(n, fields, rs, err);
}

/* The end of the run of adjacent ranges that begins at @base with range *i. */
static uint64_t run_end(const struct ranges *rs, uint32_t *i, uint64_t base)
{
	uint64_t end = base;

	while (*i < rs->count && rs->r[*i].base == end)
		end = rs->r[(*i)++].end;
	return end;
}

static bool lay_out(const struct config_node *n, const struct ranges *rs, struct config_vm *vm,
		    struct hv_error *err)
{
	uint32_t i = 0;

	vm->ram_low = run_end(rs, &i, 0);
	vm->ram_high = run_end(rs, &i, HOLE_END) - HOLE_END;
	if (i < rs->count) {
		config_node_bad(n, err,
				"memory 0x%llx-0x%llx: must join one range from 0 or one from "
				"0x%llx",
				(unsigned long long)rs->r[i].base,
				(unsigned long long)rs->r[i].end - 1, HOLE_END);
		return false;
	}
	if (vm->ram_low < CONFIG_MIN_RAM || vm->ram_low + vm->ram_high > CONFIG_MAX_RAM) {
		config_node_bad(n, err,
				"memory of 0x%llx bytes from 0 and 0x%llx from 4 GiB: must be at "
				"least 0x%llx from 0 and at most 0x%llx in all",
				(unsigned long long)vm->ram_low, (unsigned long long)vm->ram_high,
				CONFIG_MIN_RAM, CONFIG_MAX_RAM);
		return false;
	}
	return true;
}

bool config_memory_parse(const struct config_node *n, struct config_vm *vm, struct hv_error *err)
{
	struct ranges rs = {
		.address_cells = cells(n, "#address-cells", DEFAULT_ADDRESS_CELLS),
		.size_cells = cells(n, "#size-cells", DEFAULT_SIZE_CELLS),
	};
	struct config_node child;
	int at;

	fdt_for_each_subnode(at, n->dtb, n->offset) {
		config_node_child(&child, n, at);
		if (config_memory_is_node(&child) && !parse_node(&child, &rs, err))
			return false;
	}
	if (!rs.count)
		return true;
	if (vm->ram_low) {
		config_node_bad(n, err, "memory-mib and memory nodes: must be one of them");
		return false;
	}
	return lay_out(n, &rs, vm, err);
}
