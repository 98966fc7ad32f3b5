/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_system: the machine itself, from the monitor. */
#include "hv/cpu.h"
#include "hv/machine.h"
#include "hv/monitor/session.h"
#include "hv/time.h"
#include "hv/version.h"

static void version(struct session *s)
{
	out_str(&s->out, "version", "%s%s", HV_VERSION, HV_BUILD);
	out_str(&s->out, "backend", "%s", virt ? virt->name : "none");
	out_u64(&s->out, "cpus", cpu_count);
	out_u64(&s->out, "tsc_khz", time_tsc_khz());
	out_milli(&s->out, "up_s", time_now_ns() / 1000000);
}

static void cpu(struct session *s)
{
	static const struct out_column columns[] = {
		{ "cpu", -3 }, { "apic_id", -7 }, { "idle_ms", -10 }, { "ticks", -10 }, { "nmis", -5 },
		{ "vm", 20 },
	};

	out_table(&s->out, "cpus", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < cpu_count; i++) {
		const struct cpu *c = cpus[i];
		const struct vcpu *v = READ_ONCE(c->running);

		out_row(&s->out);
		out_u64(&s->out, "cpu", i);
		out_u64(&s->out, "apic_id", c->apic_id);
		out_u64(&s->out, "idle_ms", c->idle_ns / 1000000);
		out_u64(&s->out, "ticks", c->tick_count);
		out_u64(&s->out, "nmis", c->nmi_count);
		out_str(&s->out, "vm", "%s", v ? v->vm->config.name : "-");
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

/* ---- the end ------------------------------------------------------------------------- */

#define QUARTER_NS 250000000ULL

static enum { ENDS_NOT, ENDS_WITH_RESET, ENDS_WITH_POWEROFF } ends;
static uint64_t ends_ns;

void system_poll_end(void)
{
	if (ends == ENDS_NOT || time_now_ns() < ends_ns)
		return;
	if (ends == ENDS_WITH_RESET)
		machine_reset();
	machine_poweroff();
}

/* The answer goes out first. */
static void end(struct session *s, bool again)
{
	out_done(&s->out, "%s, and all VMs with it", again ? "the machine restarts" : "the machine goes off");
	ends = again ? ENDS_WITH_RESET : ENDS_WITH_POWEROFF;
	ends_ns = time_now_ns() + QUARTER_NS;
}

static bool is_sure(struct session *s)
{
	uint32_t running = vm_running_count();

	if (!running || (s->argc && !strcmp(s->argv[0], "--force")))
		return true;
	out_refuse(&s->out, "%u VMs run: vm stop them, or --force", running);
	return false;
}

static void reboot(struct session *s)
{
	if (is_sure(s))
		end(s, true);
}

static void poweroff(struct session *s)
{
	if (is_sure(s))
		end(s, false);
}

const struct command system_commands[] = {
	{ "version", "", "what runs here", "version", version, NO_VM, 0 },
	{ "cpu", "", "the host's CPUs", "cpu", cpu, NO_VM, 0 },
	{ "reboot", "[--force]", "restarts the machine", "reboot", reboot, NO_VM, 1 },
	{ "poweroff", "[--force]", "switches it off", "poweroff", poweroff, NO_VM, 1 },
	{ 0 },
};
