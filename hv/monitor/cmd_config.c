/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_config: the VMs that there are, as the device tree that would make them. */
#include "hv/monitor/session.h"

/* A string of a device tree source: at most as long as a command line, twice. */
static void text(struct out *o, const char *name, const char *value)
{
	char quoted[2 * CONFIG_CMDLINE_LEN];
	size_t n = 0;

	if (!value[0])
		return;
	for (; *value && n + 3 < sizeof(quoted); value++) {
		if (*value == '"' || *value == '\\')
			quoted[n++] = '\\';
		quoted[n++] = *value;
	}
	quoted[n] = 0;
	out_line(o, "\t\t\t%s = \"%s\";", name, quoted);
}

static void number(struct out *o, const char *name, uint64_t v, uint64_t usual)
{
	if (v != usual)
		out_line(o, "\t\t\t%s = <%llu>;", name, (unsigned long long)v);
}

static void flag(struct out *o, const char *name, bool v)
{
	if (v)
		out_line(o, "\t\t\t%s;", name);
}

static void cpus(struct out *o, uint64_t mask)
{
	char list[64 * 3 + 1] = "";
	size_t n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			n += hv_snprintf(list + n, sizeof(list) - n, "%s%u", n ? " " : "", i);
	if (mask)
		out_line(o, "\t\t\tcpus = <%s>;", list);
}

static void modules(struct out *o, const struct config_vm *c)
{
	for (uint32_t i = 0; i < c->module_count; i++)
		out_line(o, "\t\t\t%s\"%s\"%s", i ? "\t" : "modules = ", c->module[i],
			 i + 1 == c->module_count ? ";" : ",");
}

static void kernel(struct out *o, const struct config_vm *c)
{
	static const char *const types[] = { "", "linux", "multiboot", "flat" };
	static const char *const modes[] = { "real", "protected", "long" };

	text(o, "type", types[c->type]);
	text(o, "kernel", c->kernel);
	text(o, "initrd", c->initrd);
	modules(o, c);
	text(o, "bootargs", c->cmdline);
	if (c->type != KERNEL_FLAT)
		return;
	text(o, "flat-mode", modes[c->flat_mode]);
	out_line(o, "\t\t\tflat-load = <%llu>;", (unsigned long long)c->flat_load);
	out_line(o, "\t\t\tflat-entry = <%llu>;", (unsigned long long)c->flat_entry);
}

static void vm_node(struct out *o, const struct config_vm *c)
{
	static const char *const policies[] = { "reset", "stop", "pause" };

	out_line(o, "\t\t%s {", c->name);
	out_line(o, "\t\t\tvcpus = <%u>;", c->vcpus);
	out_line(o, "\t\t\tmemory-mib = <%llu>;", (unsigned long long)((c->ram_low + c->ram_high) / MIB));
	cpus(o, c->cpu_mask);
	number(o, "weight", c->weight, 100);
	number(o, "cap", c->cap, 0);
	kernel(o, c);
	if (c->max_leaf_shift != 21)
		text(o, "max-leaf", c->max_leaf_shift == 12 ? "4K" : "1G");
	if (c->on_reboot != POLICY_RESET)
		text(o, "on-reboot", policies[c->on_reboot]);
	if (c->on_crash != POLICY_AS_REBOOT)
		text(o, "on-crash", policies[c->on_crash]);
	flag(o, "test-exit", c->test_exit);
	flag(o, "test-calls", c->test_calls);
	flag(o, "no-access-bits", c->no_access_bits);
	flag(o, "fw-cfg", c->fw_cfg);
	out_line(o, "\t\t};");
}

static void show(struct session *s, unsigned argc, char **argv)
{
	struct out *o = &s->out;

	(void)argc, (void)argv;
	out_lines(o, "dts");
	out_line(o, "/dts-v1/;");
	out_line(o, "/ {");
	out_line(o, "\tcompatible = \"faultline,config-1\";");
	out_line(o, "\tvms {");
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i])
			vm_node(o, &vms[i]->config);
	out_line(o, "\t};");
	out_line(o, "};");
	out_lines_end(o);
}

const struct command config_commands[] = {
	{ "config show", "", "the VMs as a device tree that makes them", "config show", show },
	{ 0 },
};
