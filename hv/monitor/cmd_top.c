/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_top: what a second brings, once or again and again, from the monitor. */
#include "hv/cpu.h"
#include "hv/monitor/session.h"
#include "hv/time.h"
#include "mm/frame.h"

#define SECOND_NS    1000000000ULL
#define SAMPLE_ORDER 5
#define CLEAR	     "\x1b[H\x1b[2J"

struct count {
	uint64_t run_ns, exits[EXIT_CLASS_COUNT];
};

struct sample {
	uint64_t ns;
	uint64_t start_ns[CONFIG_MAX_VMS]; /* of the VM: another may come to lie where this one was */
	struct count vcpu[CONFIG_MAX_VMS][CONFIG_MAX_VCPUS];
	uint64_t idle_ns[CPU_MAX];
};
_Static_assert(sizeof(struct sample) <= PAGE_SIZE << SAMPLE_ORDER, "it has room");

static struct sample *take(struct session *s)
{
	struct sample *t = hv_pages_alloc(SAMPLE_ORDER);

	if (!t) {
		out_refuse(&s->out, "no memory for a sample");
		return NULL;
	}
	t->ns = time_now_ns();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		const struct vm *vm = vms[i];

		t->start_ns[i] = vm ? vm->start_ns : 0;
		for (unsigned k = 0; vm && k < vm->vcpu_count; k++) {
			t->vcpu[i][k].run_ns = vm->vcpu[k]->sched.run_ns;
			memcpy(t->vcpu[i][k].exits, vm->vcpu[k]->stats.exits, sizeof(t->vcpu[i][k].exits));
		}
	}
	for (uint32_t i = 0; i < cpu_count; i++)
		t->idle_ns[i] = cpus[i]->idle_ns;
	return t;
}

/* ---- between two samples ------------------------------------------------------------- */

struct span {
	const struct sample *from, *to;
	uint64_t ns;
};

/* A VM that there was all the time. */
static const struct vm *vm_of(const struct span *p, unsigned index)
{
	return vms[index] && p->from->start_ns[index] == p->to->start_ns[index] ? vms[index] : NULL;
}

static void add(struct count *sum, const struct span *p, unsigned vm, unsigned vcpu)
{
	const struct count *from = &p->from->vcpu[vm][vcpu], *to = &p->to->vcpu[vm][vcpu];

	sum->run_ns += to->run_ns - from->run_ns;
	for (unsigned e = 0; e < EXIT_CLASS_COUNT; e++)
		sum->exits[e] += to->exits[e] - from->exits[e];
}

static struct count count_vm(const struct span *p, unsigned index)
{
	struct count sum = { 0 };

	for (unsigned k = 0; k < vms[index]->vcpu_count; k++)
		add(&sum, p, index, k);
	return sum;
}

/* The vCPUs whose home it is. */
static struct count count_cpu(const struct span *p, uint32_t cpu)
{
	struct count sum = { 0 };

	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		const struct vm *vm = vm_of(p, i);

		for (unsigned k = 0; vm && k < vm->vcpu_count; k++)
			if (vm->vcpu[k]->home->id == cpu)
				add(&sum, p, i, k);
	}
	return sum;
}

static uint64_t rate(const struct span *p, uint64_t n)
{
	return mul_div(n, SECOND_NS, p->ns);
}

static uint64_t percent(const struct span *p, uint64_t ns)
{
	return ns * 100 / p->ns;
}

/* ---- told ------------------------------------------------------------------------------ */

static void tell_totals(struct out *o, const struct span *p, const struct count *c)
{
	uint64_t all = 0;

	for (unsigned e = 0; e < EXIT_CLASS_COUNT; e++)
		all += c->exits[e];
	out_u64(o, "exits_per_s", rate(p, all));
	out_u64(o, "faults_per_s", rate(p, c->exits[EXIT_NPF]));
}

static void tell_vms(struct out *o, const struct span *p)
{
	static const struct out_column columns[] = {
		{ "vm", 20 }, { "cpu_percent", -11 }, { "exits_per_s", -12 }, { "faults_per_s", -12 },
	};

	out_table(o, "vms", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		struct count c;

		if (!vm_of(p, i))
			continue;
		c = count_vm(p, i);
		out_row(o);
		out_str(o, "vm", "%s", vms[i]->config.name);
		out_u64(o, "cpu_percent", percent(p, c.run_ns));
		tell_totals(o, p, &c);
		out_row_end(o);
	}
	out_table_end(o);
}

static void tell_cpus(struct out *o, const struct span *p)
{
	static const struct out_column columns[] = {
		{ "cpu", -20 }, { "idle_percent", -12 }, { "exits_per_s", -12 }, { "faults_per_s", -12 },
	};

	out_table(o, "cpus", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < cpu_count; i++) {
		struct count c = count_cpu(p, i);

		out_row(o);
		out_u64(o, "cpu", i);
		out_u64(o, "idle_percent", percent(p, p->to->idle_ns[i] - p->from->idle_ns[i]));
		tell_totals(o, p, &c);
		out_row_end(o);
	}
	out_table_end(o);
}

/* In text the frequent ones have a column each, in the order of the classes. */
static const unsigned frequent[] = { EXIT_INTR, EXIT_TIMER, EXIT_NPF, EXIT_IO, EXIT_HLT, EXIT_WRMSR };

static void tell_classes(struct out *o, const struct span *p, const struct count *c)
{
	uint64_t other = 0;

	for (unsigned e = 0, k = 0; e < EXIT_CLASS_COUNT; e++) {
		out_u64(o, hv_exit_class_name(e), rate(p, c->exits[e]));
		if (k < ARRAY_SIZE(frequent) && frequent[k] == e)
			k++;
		else
			other += c->exits[e];
	}
	if (o->format == OUT_TEXT)
		out_u64(o, "other", rate(p, other));
}

#define CLASS_COLUMNS                                                                               \
	{ "interrupt", -9 }, { "timer", -7 }, { "npf", -7 }, { "io", -7 }, { "hlt", -6 }, { "wrmsr", -6 }, \
	{ "other", -6 }

static void tell_vm_exits(struct out *o, const struct span *p)
{
	static const struct out_column columns[] = { { "vm", 12 }, CLASS_COLUMNS };

	out_table(o, "vm_exits", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		struct count c;

		if (!vm_of(p, i))
			continue;
		c = count_vm(p, i);
		out_row(o);
		out_str(o, "vm", "%s", vms[i]->config.name);
		tell_classes(o, p, &c);
		out_row_end(o);
	}
	out_table_end(o);
}

static void tell_cpu_exits(struct out *o, const struct span *p)
{
	static const struct out_column columns[] = { { "cpu", -12 }, CLASS_COLUMNS };

	out_table(o, "cpu_exits", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < cpu_count; i++) {
		struct count c = count_cpu(p, i);

		out_row(o);
		out_u64(o, "cpu", i);
		tell_classes(o, p, &c);
		out_row_end(o);
	}
	out_table_end(o);
}

static bool wait_a_second(struct session *s)
{
	struct sample *now;
	struct span p;

	if (time_now_ns() < s->wait_until)
		return false;
	now = take(s);
	if (!now)
		return true;
	p = (struct span){ s->memory, now, now->ns - ((struct sample *)s->memory)->ns };
	if (s->redraws)
		s->put(s->ctx, CLEAR, sizeof(CLEAR) - 1);
	tell_vms(&s->out, &p);
	tell_cpus(&s->out, &p);
	tell_vm_exits(&s->out, &p);
	tell_cpu_exits(&s->out, &p);
	hv_pages_free(s->memory, SAMPLE_ORDER);
	s->memory = now;
	s->wait_until = now->ns + SECOND_NS;
	s->drawn = s->redraws;
	return !s->redraws;
}

static void top(struct session *s)
{
	if (s->argc && (s->argc > 1 || strcmp(s->argv[0], "once"))) {
		out_refuse(&s->out, "'%s': only once is allowed here", s->argv[s->argc - 1]);
		return;
	}
	s->memory = take(s);
	if (!s->memory)
		return;
	s->memory_order = SAMPLE_ORDER;
	s->redraws = !s->argc && s->out.format == OUT_TEXT;
	s->wait_until = time_now_ns() + SECOND_NS;
	s->wait = wait_a_second;
}

const struct command top_commands[] = {
	{ "top", "[once]", "load of VMs and CPUs by the second, until q", "top once", top, NO_VM, 1 },
	{ 0 },
};
