/* SPDX-License-Identifier: BSD-2-Clause */
/* config_vm: one VM's node turned into struct config_vm.  Pure. */
#include <libfdt.h>

#include "boot/config_vm.h"

#define MAX_HOST_CPUS 64
#define FLAT_LOAD     0x7c00 /* where a PC puts a boot sector */
#define FLAT_NO_ENTRY ~0ULL

void config_vm_defaults(struct config_vm *vm)
{
	*vm = (struct config_vm){
		.vcpus = 1,
		.max_leaf_shift = 21,
		.type = KERNEL_AUTO,
		.on_reboot = POLICY_RESET,
		.on_crash = POLICY_AS_REBOOT,
		.weight = 100,
		.flat_mode = FLAT_REAL,
		.flat_load = FLAT_LOAD,
		.flat_entry = FLAT_LOAD,
	};
}

/* ---- properties with a form of their own ------------------------------------------ */

static bool read_memory_mib(const struct config_prop *p, const struct config_field *f, void *out)
{
	struct config_vm *vm = out;
	uint64_t mib;

	if (!config_get_in_range(p, f, &mib))
		return false;
	vm->ram_low = min_u64(mib * MIB, CONFIG_HOLE_START);
	vm->ram_high = mib * MIB - vm->ram_low;
	return true;
}

static bool read_cpus(const struct config_prop *p, const struct config_field *f, void *out)
{
	uint64_t mask = 0;

	if (!p->len || p->len % 4)
		return config_prop_bad(p, "has %u bytes: must be a list of CPU numbers", p->len);
	for (uint32_t i = 0; i < p->len; i += 4) {
		uint32_t cpu = fdt32_ld((const fdt32_t *)(const void *)(p->data + i));

		if (cpu >= MAX_HOST_CPUS)
			return config_prop_bad(p, "= %u: must be 0 to %u", cpu, MAX_HOST_CPUS - 1);
		mask |= BIT64(cpu);
	}
	config_store(f, out, mask);
	return true;
}

static bool read_modules(const struct config_prop *p, const struct config_field *f, void *out)
{
	const char *s = (const char *)p->data, *end = s + p->len, *fault;
	struct config_vm *vm = out;
	char quoted[CONFIG_QUOTE_SIZE];
	uint32_t n = 0;

	(void)f;
	if (!p->len || end[-1])
		return config_prop_bad(p, "has no end: must be strings");
	for (; s < end; s += strlen(s) + 1, n++) {
		if (n == CONFIG_MAX_MODULES)
			return config_prop_bad(p, "has too many paths: must be at most %u",
					       CONFIG_MAX_MODULES);
		fault = config_path_fault(s);
		if (!fault && strlen(s) >= CONFIG_PATH_LEN)
			fault = "must have at most 127 characters";
		if (fault)
			return config_prop_bad(p, "= \"%s\": %s", config_quote(quoted, s, strlen(s)),
					       fault);
		memcpy(vm->module[n], s, strlen(s) + 1);
	}
	vm->module_count = n;
	return true;
}
_Static_assert(CONFIG_PATH_LEN == 128, "the text above says so");

static bool read_max_leaf(const struct config_prop *p, const struct config_field *f, void *out)
{
	struct config_field index = { .size = sizeof(uint32_t), .words = f->words };
	uint32_t i = 0;

	if (!config_read_choice(p, &index, &i))
		return false;
	config_store(f, out, PAGE_SHIFT + 9 * i);
	return true;
}

/* Only checked here: the memory nodes' reader takes them from the tree. */
static bool check_cells(const struct config_prop *p, const struct config_field *f, void *out)
{
	struct config_field nowhere = { .size = 0, .min = f->min, .max = f->max };

	return config_read_number(p, &nowhere, out);
}

const char *const config_kernel_types[] = { "auto", "linux", "multiboot", "flat", NULL };
const char *const config_flat_modes[] = { "real", "protected", "long", NULL };
const char *const config_leaves[] = { "4K", "2M", "1G", NULL };
const char *const config_policies[] = { "reset", "stop", "pause", NULL };

#define MEMBER(m) CONFIG_MEMBER(struct config_vm, m)

static const struct config_field fields[] = {
	{ "vcpus", config_read_number, MEMBER(vcpus), .min = 1, .max = CONFIG_MAX_VCPUS },
	{ "memory-mib", read_memory_mib, .min = CONFIG_MIN_RAM / MIB, .max = CONFIG_MAX_RAM / MIB },
	{ "cpus", read_cpus, MEMBER(cpu_mask) },
	{ "kernel", config_read_path, MEMBER(kernel) },
	{ "initrd", config_read_path, MEMBER(initrd) },
	{ .name = "modules", .read = read_modules },
	{ "bootargs", config_read_string, MEMBER(cmdline) },
	{ "type", config_read_choice, MEMBER(type), .words = config_kernel_types },
	{ "flat-load", config_read_address, MEMBER(flat_load), .max = CONFIG_HOLE_START - 1 },
	{ "flat-entry", config_read_address, MEMBER(flat_entry), .max = CONFIG_HOLE_START - 1 },
	{ "flat-mode", config_read_choice, MEMBER(flat_mode), .words = config_flat_modes },
	{ "max-leaf", read_max_leaf, MEMBER(max_leaf_shift), .words = config_leaves },
	{ "on-reboot", config_read_choice, MEMBER(on_reboot), .words = config_policies },
	{ "on-crash", config_read_choice, MEMBER(on_crash), .words = config_policies },
	{ "weight", config_read_number, MEMBER(weight), .min = 1, .max = CONFIG_MAX_WEIGHT },
	{ "cap", config_read_number, MEMBER(cap), .max = 100 },
	{ "test-exit", config_read_flag, MEMBER(test_exit) },
	{ "test-calls", config_read_flag, MEMBER(test_calls) },
	{ "no-access-bits", config_read_flag, MEMBER(no_access_bits) },
	{ "fw-cfg", config_read_flag, MEMBER(fw_cfg) },
	{ "#address-cells", check_cells, .min = 1, .max = 3 },
	{ "#size-cells", check_cells, .min = 1, .max = 2 },
	{ .name = NULL },
};

/* ---- the node -------------------------------------------------------------------- */

static bool check_name(const struct config_node *n, const struct hv_config *c, struct hv_error *err)
{
	const char *name = fdt_get_name(n->dtb, n->offset, NULL);

	if (!name || !name[0] || strlen(name) >= CONFIG_NAME_LEN) {
		config_node_bad(n, err, "name: must have 1 to %u characters", CONFIG_NAME_LEN - 1);
		return false;
	}
	for (const char *s = name; *s; s++) {
		bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');

		if (letter || (*s >= '0' && *s <= '9') || *s == '.' || *s == '_' || *s == '-')
			continue;
		config_node_bad(n, err, "name: must be of letters, digits, '.', '_' and '-'%s",
				*s == '@' ? ", without unit address" : "");
		return false;
	}
	for (uint32_t i = 0; i < c->vm_count; i++) {
		if (!strcmp(name, c->vm[i].name)) {
			config_node_bad(n, err, "name: there is a VM '%s' already", name);
			return false;
		}
	}
	return true;
}

static void warn_of_children(const struct config_node *n)
{
	struct config_node child;
	int at;

	fdt_for_each_subnode(at, n->dtb, n->offset) {
		config_node_child(&child, n, at);
		if (!config_memory_is_node(&child))
			config_warn(&child, "unknown node");
	}
}

static bool parse(const struct config_node *n, struct config_vm *vm, struct hv_error *err)
{
	vm->flat_entry = FLAT_NO_ENTRY;
	if (!config_read(n, fields, vm, err) || !config_memory_parse(n, vm, err))
		return false;
	warn_of_children(n);
	if (!vm->kernel[0]) {
		config_node_bad(n, err, "kernel is missing: must be a path that begins with / or \\");
		return false;
	}
	if (!vm->ram_low)
		vm->ram_low = CONFIG_DEFAULT_RAM;
	if (vm->flat_entry == FLAT_NO_ENTRY)
		vm->flat_entry = vm->flat_load;
	return true;
}

/* A refused VM keeps its name and nothing else. */
static void refuse(const struct config_node *n, struct config_vm *vm, const struct hv_error *why)
{
	config_vm_defaults(vm);
	config_node_name(n, vm->name, sizeof(vm->name));
	vm->refused = true;
	vm->why = *why;
}

void config_vm_parse(const struct config_node *n, struct hv_config *c)
{
	struct hv_error err;
	enum config_status status = config_node_status(n, &err);
	struct config_vm *vm;

	if (status == CONFIG_DISABLED)
		return;
	if (c->vm_count == CONFIG_MAX_VMS) {
		config_warn(n, "ignored: there are %u VMs already, the maximum", CONFIG_MAX_VMS);
		return;
	}
	vm = &c->vm[c->vm_count];
	config_vm_defaults(vm);
	config_node_name(n, vm->name, sizeof(vm->name));
	if (status == CONFIG_BAD || !check_name(n, c, &err) || !parse(n, vm, &err))
		refuse(n, vm, &err);
	c->vm_count++;
}
