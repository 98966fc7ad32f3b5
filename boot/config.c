/* SPDX-License-Identifier: BSD-2-Clause */
/* config: the device tree turned into struct hv_config: root, console, list of VMs.  Pure. */
#include <libfdt.h>

#include "boot/config.h"
#include "boot/config_prop.h"
#include "boot/config_vm.h"

#define COMPATIBLE  "faultline,config-1"
#define FDT_VERSION 17

#define UART_REGISTERS 8
#define BAUD_MIN       50
#define BAUD_MAX       4000000
#define DIVISOR_MAX    0xffff
#define MMIO_BASE_MIN  PAGE_SIZE
#define MMIO_BASE_END  BIT64(52)
#define PORT_END       0x10000

/* ---- defaults -------------------------------------------------------------------- */

void config_defaults(struct hv_config *c)
{
	memset(c, 0, sizeof(*c));
	c->console = (struct config_console){
		.kind = CONSOLE_AUTO,
		.base = 0x3f8,
		.stride = 1,
		.clock = 1843200,
		.baud = 115200,
		.escape = 0x1d,
	};
	c->control = c->console;
	c->control.kind = CONSOLE_NONE;
	c->log_level = 2;
	c->boot_wait = 3;
}

void config_builtin_vm(struct hv_config *c)
{
	struct config_vm *vm = &c->vm[c->vm_count++];

	config_vm_defaults(vm);
	vm->ram_low = CONFIG_DEFAULT_RAM;
	hv_snprintf(vm->name, sizeof(vm->name), "linux");
	hv_snprintf(vm->kernel, sizeof(vm->kernel), "/EFI/faultline/vmlinuz");
	hv_snprintf(vm->initrd, sizeof(vm->initrd), "/EFI/faultline/initrd.img");
	hv_snprintf(vm->cmdline, sizeof(vm->cmdline), "console=ttyS0");
}

/* ---- console --------------------------------------------------------------------- */

static bool read_stride(const struct config_prop *p, const struct config_field *f, void *out)
{
	uint64_t v;

	if (!config_get_number(p, &v))
		return false;
	if (v != 1 && v != 2 && v != 4)
		return config_prop_bad(p, "= %llu: must be 1, 2 or 4", (unsigned long long)v);
	config_store(f, out, v);
	return true;
}

/* "^]" in caret notation, or a number; they differ in length. */
static bool read_escape(const struct config_prop *p, const struct config_field *f, void *out)
{
	char quoted[CONFIG_QUOTE_SIZE];
	const char *s;

	if (p->len == 4 || p->len == 8)
		return config_read_number(p, f, out);
	if (!config_get_string(p, &s))
		return false;
	if (p->len != 3 || s[0] != '^' || s[1] < 'A' || s[1] > 'z' || s[1] == '`')
		return config_prop_bad(p, "= \"%s\": must be ^A to ^_ or a number, 1 to 31",
				       config_quote(quoted, s, p->len - 1));
	config_store(f, out, s[1] & 0x1f);
	return true;
}

static const char *const kinds[] = { "auto", "port", "mmio", "none", NULL };

static const struct config_field console_fields[] = {
	{ "kind", config_read_choice, CONFIG_MEMBER(struct config_console, kind), .words = kinds },
	{ "base", config_read_address, CONFIG_MEMBER(struct config_console, base),
	  .max = MMIO_BASE_END - 1 },
	{ "stride", read_stride, CONFIG_MEMBER(struct config_console, stride) },
	{ "clock", config_read_number, CONFIG_MEMBER(struct config_console, clock),
	  .min = 16 * BAUD_MIN, .max = 0xffffffff },
	{ "baud", config_read_number, CONFIG_MEMBER(struct config_console, baud), .min = BAUD_MIN,
	  .max = BAUD_MAX },
	{ "escape", read_escape, CONFIG_MEMBER(struct config_console, escape), .min = 1, .max = 31 },
	{ .name = NULL },
};

/* What is wrong only with several values together; the defaults replace them. */
static void check_console(const struct config_node *n, struct config_console *c,
			  const struct config_console *defaults)
{
	uint32_t divisor = c->clock / 16 / c->baud, span = UART_REGISTERS * c->stride;
	bool mmio = c->kind == CONSOLE_MMIO;

	if (!divisor || divisor > DIVISOR_MAX) {
		config_warn(n, "clock %u / 16 / baud %u = %u: must be 1 to %u", c->clock, c->baud,
			    divisor, DIVISOR_MAX);
		c->clock = defaults->clock;
		c->baud = defaults->baud;
	}
	if (c->kind == CONSOLE_NONE)
		return;
	if (mmio ? c->base < MMIO_BASE_MIN || c->base > MMIO_BASE_END - span :
		   c->base > PORT_END - span) {
		config_warn(n, "base = 0x%llx: must be 0x%llx to 0x%llx for kind \"%s\"",
			    (unsigned long long)c->base, mmio ? MMIO_BASE_MIN : 0ULL,
			    (unsigned long long)(mmio ? MMIO_BASE_END : PORT_END) - span,
			    kinds[c->kind]);
		c->kind = defaults->kind;
		c->base = defaults->base;
		c->stride = defaults->stride;
	}
}

static void parse_line(const struct config_node *n, struct config_console *c)
{
	const struct config_console defaults = *c;

	/* Without an error to fill, a bad value is a warning and never a failure. */
	if (config_read(n, console_fields, c, NULL))
		check_console(n, c, &defaults);
}

static void parse_console(const struct config_node *n, struct hv_config *c)
{
	parse_line(n, &c->console);
}

static void parse_control(const struct config_node *n, struct hv_config *c)
{
	parse_line(n, &c->control);
}

/* ---- the list of VMs ------------------------------------------------------------- */

static void parse_vms(const struct config_node *n, struct hv_config *c)
{
	static const struct config_field no_fields[] = { { .name = NULL } };
	struct config_node child;
	int at;

	if (!config_read(n, no_fields, NULL, NULL))
		return;
	fdt_for_each_subnode(at, n->dtb, n->offset) {
		config_node_child(&child, n, at);
		config_vm_parse(&child, c);
	}
}

/* ---- root ------------------------------------------------------------------------ */

static const char *const levels[] = { "error", "warning", "info", "debug", NULL };
static const char *const idle_policies[] = { "stay", "poweroff", NULL };

static const struct config_field root_fields[] = {
	{ "log-level", config_read_choice, CONFIG_MEMBER(struct hv_config, log_level),
	  .words = levels },
	{ "boot-wait", config_read_number, CONFIG_MEMBER(struct hv_config, boot_wait), .max = 60 },
	{ "max-cpus", config_read_number, CONFIG_MEMBER(struct hv_config, max_cpus), .min = 1,
	  .max = 64 },
	{ "when-idle", config_read_choice, CONFIG_MEMBER(struct hv_config, when_idle),
	  .words = idle_policies },
	{ .name = NULL },
};

static void parse_section(const struct config_node *n, struct hv_config *c)
{
	static const struct {
		const char *path;
		void (*parse)(const struct config_node *n, struct hv_config *c);
	} sections[] = { { "/console", parse_console }, { "/control", parse_control }, { "/vms", parse_vms } };
	struct hv_error err;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(n->path, sections[i].path))
			continue;
		switch (config_node_status(n, &err)) {
		case CONFIG_BAD:
			n->sink->warn(n->sink->ctx, err.text);
			sections[i].parse(n, c);
			return;
		case CONFIG_OKAY:
			sections[i].parse(n, c);
			return;
		case CONFIG_DISABLED:
			return;
		}
	}
	config_warn(n, "unknown node");
}

static enum hv_status check_tree(const void *dtb, size_t len, struct hv_error *err)
{
	int e = fdt_check_full(dtb, len), names_len;
	const char *names;

	if (e) {
		hv_error_set(err, "no valid device tree: %s", fdt_strerror(e));
		return HV_INVAL;
	}
	if (fdt_version(dtb) < FDT_VERSION) {
		hv_error_set(err, "device tree version %u: must be %u or compatible with it",
			     fdt_version(dtb), FDT_VERSION);
		return HV_INVAL;
	}
	names = fdt_getprop(dtb, 0, "compatible", &names_len);
	if (!names || !names_len || names[names_len - 1] ||
	    !fdt_stringlist_contains(names, names_len, COMPATIBLE)) {
		hv_error_set(err, "/: compatible must be \"%s\"", COMPATIBLE);
		return HV_INVAL;
	}
	return HV_OK;
}

enum hv_status config_parse(const void *dtb, size_t len, struct hv_config *c,
			    const struct config_sink *sink, struct hv_error *err)
{
	struct config_node root = { .dtb = dtb, .sink = sink }, child;
	enum hv_status st = check_tree(dtb, len, err);
	int at;

	if (st)
		return st;
	if (!config_read(&root, root_fields, c, NULL))
		return HV_INVAL;
	fdt_for_each_subnode(at, dtb, 0) {
		config_node_child(&child, &root, at);
		parse_section(&child, c);
	}
	return HV_OK;
}
