/* SPDX-License-Identifier: BSD-2-Clause */
/* config: the device tree turned into struct hv_config.  Pure. */
#include "boot/config.h"

void config_defaults(struct hv_config *c)
{
	memset(c, 0, sizeof(*c));
	c->console = (struct config_console){
		.kind = CONSOLE_AUTO, .base = 0x3f8, .stride = 1, .clock = 1843200, .baud = 115200,
		.escape = 0x1d,
	};
	c->log_level = 2;
}

void config_builtin_vm(struct hv_config *c)
{
	struct config_vm *vm = &c->vm[c->vm_count++];

	*vm = (struct config_vm){
		.name = "linux",
		.vcpus = 2,
		.ram_low = 256 * MIB,
		.max_leaf_shift = 21,
		.kernel = "/EFI/faultline/vmlinuz",
		.initrd = "/EFI/faultline/initrd.img",
		.cmdline = "console=ttyS0",
	};
}

enum hv_status config_parse(const void *dtb, size_t len, struct hv_config *c,
			    const struct config_sink *sink, struct hv_error *err)
{
	(void)dtb; (void)len; (void)c; (void)sink;
	hv_error_set(err, "not built yet");
	return HV_INVAL;
}
