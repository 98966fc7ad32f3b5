/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_irq: what interrupt controllers hold, and what the host's CPUs received, from the monitor. */
#include "hv/cpu.h"
#include "hv/monitor/session.h"

static const char *const modes[8] = { "fixed", "lowest", "smi", "3", "nmi", "init", "sipi", "extint" };

/* ---- the host ----------------------------------------------------------------------- */

static const char *vector_name(unsigned vector)
{
	switch (vector) {
	case HOST_VEC_SERIAL:
		return "serial";
	case HOST_VEC_TIMER:
		return "timer";
	case HOST_VEC_KICK:
		return "kick";
	case HOST_VEC_SPURIOUS:
		return "spurious";
	default:
		return "-";
	}
}

static void host(struct out *o)
{
	static const struct out_column columns[] = {
		{ "cpu", -3 }, { "vector", -6 }, { "what", 8 }, { "count", -12 },
	};

	out_table(o, "host", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < cpu_count; i++)
		for (unsigned k = 0; k < CPU_IRQS; k++) {
			uint64_t count = READ_ONCE(cpus[i]->irqs[k]);

			if (!count)
				continue;
			out_row(o);
			out_u64(o, "cpu", i);
			out_hex(o, "vector", k + CPU_IRQ_FIRST);
			out_str(o, "what", "%s", vector_name(k + CPU_IRQ_FIRST));
			out_u64(o, "count", count);
			out_row_end(o);
		}
	out_table_end(o);
}

/* ---- a VM --------------------------------------------------------------------------- */

static void pins(struct out *o, const struct ioapic *io)
{
	static const struct out_column columns[] = {
		{ "pin", -3 }, { "line", -4 }, { "masked", 6 }, { "vector", -6 }, { "mode", 6 },
		{ "trigger", 7 }, { "dest", -5 }, { "dest_mode", 9 }, { "waits_eoi", 9 },
	};

	out_table(o, "ioapic", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < IOAPIC_PINS; i++) {
		uint64_t e = io->redirection[i];

		out_row(o);
		out_u64(o, "pin", i);
		out_u64(o, "line", io->lines >> i & 1);
		out_bool(o, "masked", e & RTE_MASKED);
		out_hex(o, "vector", RTE_VECTOR(e));
		out_str(o, "mode", "%s", modes[RTE_MODE(e)]);
		out_str(o, "trigger", "%s", e & RTE_LEVEL ? "level" : "edge");
		out_hex(o, "dest", RTE_DEST(e));
		out_str(o, "dest_mode", "%s", e & RTE_LOGICAL ? "logical" : "physical");
		out_bool(o, "waits_eoi", e & RTE_REMOTE_IRR);
		out_row_end(o);
	}
	out_table_end(o);
}

static void chips(struct out *o, const struct pic *p)
{
	static const struct out_column columns[] = {
		{ "pic", 6 }, { "lines", -5 }, { "irr", -5 }, { "imr", -5 }, { "isr", -5 },
		{ "elcr", -5 }, { "base", -5 },
	};

	out_table(o, "pic", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < ARRAY_SIZE(p->chip); i++) {
		const struct pic_chip *c = &p->chip[i];

		out_row(o);
		out_str(o, "pic", "%s", i ? "slave" : "master");
		out_hex(o, "lines", c->lines);
		out_hex(o, "irr", c->irr);
		out_hex(o, "imr", c->imr);
		out_hex(o, "isr", c->isr);
		out_hex(o, "elcr", c->elcr);
		out_hex(o, "base", c->base);
		out_row_end(o);
	}
	out_table_end(o);
}

/* The vectors that are set in a 256-bit register, as "0x30 0x31". */
static void vectors(struct out *o, const char *key, const uint32_t *word)
{
	char text[256 * 5 + 1] = "-";
	size_t n = 0;

	for (unsigned i = 0; i < 256; i++)
		if (READ_ONCE(word[i / 32]) >> i % 32 & 1)
			n += hv_snprintf(text + n, sizeof(text) - n, "%s0x%x", n ? " " : "", i);
	out_str(o, key, "%s", text);
}

static const char *lvt_mode(unsigned entry, uint32_t e)
{
	static const char *const timer[4] = { "one-shot", "periodic", "tsc-deadline", "3" };

	return entry == LVT_TIMER ? timer[LVT_TIMER_MODE(e)] : modes[LVT_MODE(e)];
}

static void lvt(struct out *o, const struct lapic *l)
{
	static const char *const names[LVT_COUNT] = { "lvt_timer", "lvt_thermal", "lvt_perf",
						      "lvt_lint0", "lvt_lint1", "lvt_error" };

	for (unsigned i = 0; i < LVT_COUNT; i++) {
		uint32_t e = READ_ONCE(*(i == LVT_ERROR ? &l->lvt_error : &l->lvt[i]));

		out_str(o, names[i], "%s vector 0x%x %s", e & LVT_MASKED ? "masked" : "open", LVT_VECTOR(e),
			lvt_mode(i, e));
	}
}

static const char *apic_mode(const struct lapic *l)
{
	if (!(l->base & LAPIC_BASE_ENABLE))
		return "off";
	return l->base & LAPIC_BASE_EXTD ? "x2apic" : "xapic";
}

static void apic(struct out *o, const struct vcpu *v)
{
	const struct lapic *l = &v->lapic;
	char key[16];

	hv_snprintf(key, sizeof(key), "vcpu%u", v->index);
	out_object(o, key);
	out_str(o, "mode", "%s", apic_mode(l));
	out_u64(o, "id", l->id);
	out_bool(o, "enabled", lapic_software_enabled(l));
	out_hex(o, "tpr", READ_ONCE(l->tpr));
	vectors(o, "irr", l->irr);
	vectors(o, "isr", l->isr);
	lvt(o, l);
	out_bool(o, "nmi_pending", READ_ONCE(v->nmi_pending));
	out_object_end(o);
}

static void irq(struct session *s)
{
	struct vm *vm = s->vm;
	struct ioapic io;
	struct pic p;

	if (!vm) {
		host(&s->out);
		return;
	}
	lock(&vm->device);
	io = vm->platform.ioapic;
	p = vm->platform.pic;
	unlock(&vm->device);
	out_str(&s->out, "name", "%s", vm->config.name);
	pins(&s->out, &io);
	chips(&s->out, &p);
	for (unsigned i = 0; i < vm->vcpu_count; i++)
		apic(&s->out, vm->vcpu[i]);
}

const struct command irq_commands[] = {
	{ "irq", "[NAME]", "interrupts of the host's CPUs, or a VM's controllers",
	  "irq web", irq, OF_VM_IF_NAMED, 1 },
	{ 0 },
};
