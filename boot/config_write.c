/* SPDX-License-Identifier: BSD-2-Clause */
/* config_write: VMs written back into a device tree.  Pure. */
#include "boot/config_write.h"

#include <libfdt.h>

#include "boot/config_vm.h"
#include "boot/edit.h"

/* ---- properties; each 0 or an error of libfdt ---------------------------------------- */

static int unset(void *fdt, int node, const char *name)
{
	int st = fdt_delprop(fdt, node, name);

	return st == -FDT_ERR_NOTFOUND ? 0 : st;
}

static int set_text(void *fdt, int node, const char *name, const char *v)
{
	return fdt_setprop(fdt, node, name, v, (int)strlen(v) + 1);
}

/* What has its default is left out. */
static int text(void *fdt, int node, const char *name, const char *v, const char *usual)
{
	return strcmp(v, usual) ? set_text(fdt, node, name, v) : unset(fdt, node, name);
}

static int number(void *fdt, int node, const char *name, uint32_t v, uint32_t usual)
{
	return v != usual ? fdt_setprop_u32(fdt, node, name, v) : unset(fdt, node, name);
}

static int flag(void *fdt, int node, const char *name, bool v)
{
	return v ? fdt_setprop(fdt, node, name, NULL, 0) : 0;
}

static int cpus(void *fdt, int node, uint64_t mask)
{
	fdt32_t list[64];
	int n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			list[n++] = cpu_to_fdt32(i);
	return n ? fdt_setprop(fdt, node, "cpus", list, n * 4) : unset(fdt, node, "cpus");
}

static int modules(void *fdt, int node, const struct config_vm *vm)
{
	int st = 0;

	for (uint32_t i = 0; i < vm->module_count && !st; i++)
		st = fdt_appendprop(fdt, node, "modules", vm->module[i],
				    (int)strlen(vm->module[i]) + 1);
	return st;
}

static int memory_node(void *fdt, int vm, const char *name, uint64_t base, uint64_t size)
{
	int node = fdt_add_subnode(fdt, vm, name), st = node < 0 ? node : 0;

	if (!st)
		st = set_text(fdt, node, "device_type", "memory");
	if (!st)
		st = fdt_setprop_u64(fdt, node, "reg", base);
	return st ? st : fdt_appendprop_u64(fdt, node, "reg", size);
}

/* RAM that memory-mib cannot say needs nodes. */
static int memory(void *fdt, int node, const struct config_vm *vm)
{
	uint64_t all = vm->ram_low + vm->ram_high;
	int st;

	if (!(all % MIB) && vm->ram_low == min_u64(all, CONFIG_HOLE_START))
		return fdt_setprop_u32(fdt, node, "memory-mib", (uint32_t)(all / MIB));
	st = fdt_setprop_u32(fdt, node, "#size-cells", 2);
	if (!st && vm->ram_high)
		st = memory_node(fdt, node, "memory@100000000", 4 * GIB, vm->ram_high);
	return st ? st : memory_node(fdt, node, "memory@0", 0, vm->ram_low);
}

/* ---- VMs --------------------------------------------------------------------------------- */

/* What `vm set` changes. */
static int write_live(void *fdt, int node, const struct config_vm *vm)
{
	const char *reboot = config_policies[vm->on_reboot];
	const char *crash = vm->on_crash == POLICY_AS_REBOOT ? "" : config_policies[vm->on_crash];
	int st = cpus(fdt, node, vm->cpu_mask);

	if (!st)
		st = text(fdt, node, "kernel", vm->kernel, "");
	if (!st)
		st = text(fdt, node, "initrd", vm->initrd, "");
	if (!st)
		st = text(fdt, node, "bootargs", vm->cmdline, "");
	if (!st)
		st = text(fdt, node, "on-reboot", reboot, config_policies[POLICY_RESET]);
	if (!st)
		st = text(fdt, node, "on-crash", crash, "");
	if (!st)
		st = number(fdt, node, "weight", vm->weight, 100);
	return st ? st : number(fdt, node, "cap", vm->cap, 0);
}

static int write_flat(void *fdt, int node, const struct config_vm *vm)
{
	int st = text(fdt, node, "flat-mode", config_flat_modes[vm->flat_mode],
		      config_flat_modes[FLAT_REAL]);

	if (!st)
		st = fdt_setprop_u32(fdt, node, "flat-load", (uint32_t)vm->flat_load);
	return st ? st : fdt_setprop_u32(fdt, node, "flat-entry", (uint32_t)vm->flat_entry);
}

/* What is fixed when it is made. */
static int write_fixed(void *fdt, int node, const struct config_vm *vm)
{
	int st = fdt_setprop_u32(fdt, node, "vcpus", vm->vcpus);

	if (!st)
		st = text(fdt, node, "type", config_kernel_types[vm->type],
			  config_kernel_types[KERNEL_AUTO]);
	if (!st)
		st = modules(fdt, node, vm);
	if (!st && vm->type == KERNEL_FLAT)
		st = write_flat(fdt, node, vm);
	if (!st)
		st = text(fdt, node, "max-leaf", config_leaves[(vm->max_leaf_shift - PAGE_SHIFT) / 9],
			  config_leaves[1]);
	if (!st)
		st = flag(fdt, node, "test-exit", vm->test_exit);
	if (!st)
		st = flag(fdt, node, "test-calls", vm->test_calls);
	if (!st)
		st = flag(fdt, node, "no-access-bits", vm->no_access_bits);
	if (!st)
		st = flag(fdt, node, "fw-cfg", vm->fw_cfg);
	/* Last: a node may only be added when all properties are there. */
	return st ? st : memory(fdt, node, vm);
}

static bool same_but_live(const struct config_vm *a, const struct config_vm *b)
{
	bool modules_same = a->module_count == b->module_count;

	for (uint32_t i = 0; modules_same && i < a->module_count; i++)
		modules_same = !strcmp(a->module[i], b->module[i]);
	return modules_same && a->vcpus == b->vcpus && a->ram_low == b->ram_low &&
	       a->ram_high == b->ram_high && a->max_leaf_shift == b->max_leaf_shift &&
	       a->type == b->type && a->flat_mode == b->flat_mode && a->flat_load == b->flat_load &&
	       a->flat_entry == b->flat_entry && a->test_exit == b->test_exit &&
	       a->test_calls == b->test_calls && a->no_access_bits == b->no_access_bits &&
	       a->fw_cfg == b->fw_cfg;
}

bool config_write_vm(void *fdt, const struct config_vm *before, const struct config_vm *now,
		     struct hv_error *err)
{
	bool keep = before && same_but_live(before, now);
	int parent, node, st;

	if (!keep) {
		if (edit_has(fdt, now->name) && !edit_remove(fdt, now->name, err))
			return false;
		if (!edit_add(fdt, now->name, err))
			return false;
	}
	parent = fdt_subnode_offset(fdt, 0, "vms");
	node = fdt_subnode_offset(fdt, parent, now->name);
	st = node < 0 ? node : write_live(fdt, node, now);
	if (!st && !keep)
		st = write_fixed(fdt, node, now);
	if (st)
		hv_error_set(err, "vm '%s': %s", now->name, st == -FDT_ERR_NOSPACE ?
			     "the configuration is full" : fdt_strerror(st));
	return !st;
}
