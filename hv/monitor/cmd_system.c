/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_system: the machine itself, from the monitor. */
#include "hv/cpu.h"
#include "hv/machine.h"
#include "hv/monitor/session.h"
#include "hv/time.h"
#include "hv/version.h"
#include "mm/frame.h"

static void version(struct session *s, unsigned argc, char **argv)
{
	(void)argc, (void)argv;
	out_str(&s->out, "version", "%s%s", HV_VERSION, HV_BUILD);
	out_str(&s->out, "backend", "%s", virt ? virt->name : "none");
	out_u64(&s->out, "cpus", cpu_count);
	out_u64(&s->out, "tsc_khz", time_tsc_khz());
	out_milli(&s->out, "up_s", time_now_ns() / 1000000);
}

static void cpu(struct session *s, unsigned argc, char **argv)
{
	static const struct out_column columns[] = {
		{ "cpu", -3 }, { "apic_id", -7 }, { "idle_ms", -10 }, { "ticks", -10 }, { "nmis", -5 },
		{ "vm", 20 },
	};

	(void)argc, (void)argv;
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

/* ---- top: what a second has brought ------------------------------------------------- */

#define SECOND_NS 1000000000ULL

struct sample {
	uint64_t ns;
	struct {
		const struct vm *vm;
		uint64_t start_ns; /* another VM may come to lie where this one was */
		uint64_t run_ns, exits, faults;
	} vm[CONFIG_MAX_VMS];
	uint64_t idle_ns[CPU_MAX];
};
_Static_assert(sizeof(struct sample) <= PAGE_SIZE, "one page");

static void take(struct sample *t)
{
	t->ns = time_now_ns();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		const struct vm *vm = vms[i];

		t->vm[i].vm = vm;
		t->vm[i].start_ns = vm ? vm->start_ns : 0;
		t->vm[i].run_ns = t->vm[i].exits = t->vm[i].faults = 0;
		for (unsigned k = 0; vm && k < vm->vcpu_count; k++) {
			const struct vcpu *v = vm->vcpu[k];

			t->vm[i].run_ns += v->sched.run_ns;
			t->vm[i].faults += v->stats.exits[EXIT_NPF];
			for (unsigned e = 0; e < EXIT_CLASS_COUNT; e++)
				t->vm[i].exits += v->stats.exits[e];
		}
	}
	for (uint32_t i = 0; i < cpu_count; i++)
		t->idle_ns[i] = cpus[i]->idle_ns;
}

static void tell(struct out *o, const struct sample *a, const struct sample *b)
{
	static const struct out_column vm_columns[] = {
		{ "vm", 20 }, { "cpu_percent", -11 }, { "exits_per_s", -12 }, { "faults_per_s", -12 },
	};
	static const struct out_column cpu_columns[] = { { "cpu", -3 }, { "idle_percent", -12 } };
	uint64_t ns = b->ns - a->ns;

	out_table(o, "vms", vm_columns, ARRAY_SIZE(vm_columns));
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		if (!b->vm[i].vm || a->vm[i].start_ns != b->vm[i].start_ns)
			continue;
		out_row(o);
		out_str(o, "vm", "%s", b->vm[i].vm->config.name);
		out_u64(o, "cpu_percent", (b->vm[i].run_ns - a->vm[i].run_ns) * 100 / ns);
		out_u64(o, "exits_per_s", mul_div(b->vm[i].exits - a->vm[i].exits, SECOND_NS, ns));
		out_u64(o, "faults_per_s", mul_div(b->vm[i].faults - a->vm[i].faults, SECOND_NS, ns));
		out_row_end(o);
	}
	out_table_end(o);
	out_table(o, "cpus", cpu_columns, ARRAY_SIZE(cpu_columns));
	for (uint32_t i = 0; i < cpu_count; i++) {
		out_row(o);
		out_u64(o, "cpu", i);
		out_u64(o, "idle_percent", (b->idle_ns[i] - a->idle_ns[i]) * 100 / ns);
		out_row_end(o);
	}
	out_table_end(o);
}

static bool wait_a_second(struct session *s)
{
	const struct sample *before = s->memory;
	struct sample *now;

	if (time_now_ns() < s->wait_until)
		return false;
	now = hv_pages_alloc(0);
	if (now) {
		take(now);
		tell(&s->out, before, now);
		hv_pages_free(now, 0);
	} else {
		out_refuse(&s->out, "no memory for a sample");
	}
	return true;
}

static void top(struct session *s, unsigned argc, char **argv)
{
	(void)argc, (void)argv;
	s->memory = hv_pages_alloc(0);
	if (!s->memory) {
		out_refuse(&s->out, "no memory for a sample");
		return;
	}
	take(s->memory);
	s->wait_until = time_now_ns() + SECOND_NS;
	s->wait = wait_a_second;
}

/* ---- the end ------------------------------------------------------------------------- */

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
	ends_ns = time_now_ns() + SECOND_NS / 4;
}

static bool is_sure(struct session *s, unsigned argc, char **argv)
{
	uint32_t running = vm_running_count();

	if (!running || (argc && !strcmp(argv[0], "--force")))
		return true;
	out_refuse(&s->out, "%u VMs run: vm stop them, or --force", running);
	return false;
}

static void reboot(struct session *s, unsigned argc, char **argv)
{
	if (is_sure(s, argc, argv))
		end(s, true);
}

static void poweroff(struct session *s, unsigned argc, char **argv)
{
	if (is_sure(s, argc, argv))
		end(s, false);
}

const struct command system_commands[] = {
	{ "version", "", "what runs here", "version", version },
	{ "cpu", "", "the host's CPUs", "cpu", cpu },
	{ "top", "", "what the next second brings", "top", top },
	{ "reboot", "[--force]", "restarts the machine", "reboot", reboot },
	{ "poweroff", "[--force]", "switches it off", "poweroff", poweroff },
	{ 0 },
};
