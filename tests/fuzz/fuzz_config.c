/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_config: any bytes as a device tree, and well-formed trees with any nodes,
 * known property names and any values.  What comes out must be in range.
 *
 *   make build/fuzz/fuzz_config && build/fuzz/fuzz_config -max_total_time=60 -max_len=4096
 */
#include <libfdt.h>
#include <stdlib.h>

#include "boot/config.h"
#include "hv/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOB_MAX 65536
#define DEPTH	 5

static const char *const props[] = {
	"kind", "base", "stride", "clock", "baud", "escape", "log-level", "max-cpus", "when-idle", "boot-wait",
	"vcpus", "memory-mib", "cpus", "kernel", "initrd", "modules", "bootargs", "type",
	"flat-load", "flat-entry", "flat-mode", "max-leaf", "on-reboot", "on-crash", "weight", "cap", "test-exit", "test-calls", "no-access-bits", "fw-cfg",
	"#address-cells", "#size-cells", "device_type", "reg", "status", "compatible", "phandle",
	"unknown",
};
static const char *const nodes[] = { "console", "control", "vms", "a", "b", "memory@0", "memory", "x@1", "" };

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	HV_ASSERT(strlen(text) < sizeof(((struct hv_error *)0)->text));
	for (const char *c = text; *c; c++)
		HV_ASSERT(*c >= ' ' && *c < 0x7f);
}

static bool ended(const char *s, size_t size)
{
	return memchr(s, 0, size);
}

static void check_vm(const struct config_vm *vm)
{
	HV_ASSERT(ended(vm->name, sizeof(vm->name)));
	if (vm->refused) {
		HV_ASSERT(vm->why.text[0] && ended(vm->why.text, sizeof(vm->why.text)));
		warn(NULL, vm->why.text);
		return;
	}
	HV_ASSERT(vm->name[0] && vm->vcpus >= 1 && vm->vcpus <= CONFIG_MAX_VCPUS);
	HV_ASSERT(vm->ram_low >= CONFIG_MIN_RAM && vm->ram_low <= CONFIG_HOLE_START);
	HV_ASSERT(vm->ram_high <= CONFIG_MAX_RAM && vm->ram_low + vm->ram_high <= CONFIG_MAX_RAM);
	HV_ASSERT(!((vm->ram_low | vm->ram_high) & (PAGE_SIZE - 1)));
	HV_ASSERT(vm->max_leaf_shift == 12 || vm->max_leaf_shift == 21 || vm->max_leaf_shift == 30);
	HV_ASSERT(vm->type <= KERNEL_FLAT && vm->on_reboot <= POLICY_PAUSE &&
		  vm->weight >= 1 && vm->weight <= CONFIG_MAX_WEIGHT && vm->cap <= 100);
	HV_ASSERT(vm->flat_mode <= FLAT_LONG && vm->module_count <= CONFIG_MAX_MODULES);
	HV_ASSERT(vm->flat_load < CONFIG_HOLE_START && vm->flat_entry < CONFIG_HOLE_START);
	HV_ASSERT(vm->kernel[0] == '/' || vm->kernel[0] == '\\');
	HV_ASSERT(ended(vm->kernel, CONFIG_PATH_LEN) && ended(vm->initrd, CONFIG_PATH_LEN));
	HV_ASSERT(ended(vm->cmdline, CONFIG_CMDLINE_LEN));
	for (uint32_t i = 0; i < vm->module_count; i++)
		HV_ASSERT(ended(vm->module[i], CONFIG_PATH_LEN));
}

static void parse(const void *blob, size_t len)
{
	static struct hv_config c;
	struct hv_error err;
	enum hv_status st;

	config_defaults(&c);
	st = config_parse(blob, len, &c, &(struct config_sink){ warn, NULL }, &err);
	HV_ASSERT(st == HV_OK || (st == HV_INVAL && !c.vm_count));
	HV_ASSERT(c.vm_count <= CONFIG_MAX_VMS && c.log_level <= 3 && c.max_cpus <= 64);
	HV_ASSERT(c.console.kind <= CONSOLE_NONE && c.console.escape >= 1 && c.console.escape <= 31);
	HV_ASSERT(c.console.stride == 1 || c.console.stride == 2 || c.console.stride == 4);
	HV_ASSERT(c.console.baud && c.console.clock / 16 / c.console.baud - 1 < 0xffff);
	for (uint32_t i = 0; i < c.vm_count; i++)
		check_vm(&c.vm[i]);
}

/* A byte says what comes: the end of a node, a node, or a property with its length and value. */
static void build(uint8_t *blob, const uint8_t *data, size_t size)
{
	unsigned depth = 1;

	fdt_create(blob, BLOB_MAX);
	fdt_finish_reservemap(blob);
	fdt_begin_node(blob, "");
	fdt_property_string(blob, "compatible", "faultline,config-1");
	for (size_t i = 0; i + 1 < size;) {
		uint8_t op = data[i++];
		size_t len = data[i];

		if (op < 0x20 && depth > 1) {
			fdt_end_node(blob);
			depth--;
		} else if (op < 0x40 && depth < DEPTH) {
			fdt_begin_node(blob, nodes[op % ARRAY_SIZE(nodes)]);
			depth++;
		} else {
			i++;
			len = len < size - i ? len : size - i;
			fdt_property(blob, props[op % ARRAY_SIZE(props)], data + i, (int)len);
			i += len;
		}
	}
	while (depth--)
		fdt_end_node(blob);
	fdt_finish(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t blob[BLOB_MAX];
	size_t len = size ? size - 1 : 0;
	void *exact;

	if (!size)
		return 0;
	if (data[0] & 1) {
		build(blob, data + 1, len);
		len = fdt_totalsize(blob);
		data = blob;
	} else {
		data++;
	}
	exact = malloc(len + !len);
	if (!exact)
		return 0;
	memcpy(exact, data, len);
	parse(exact, len);
	free(exact);
	return 0;
}
