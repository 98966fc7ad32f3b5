/* SPDX-License-Identifier: BSD-2-Clause */
/* trace: the last exits of each CPU. */
#include "hv/trace.h"

#include "hv/cpu.h"
#include "hv/exit.h"

struct ring {
	uint32_t next;
	struct trace_entry e[TRACE_ENTRIES];
};

static struct ring rings[CPU_MAX];

void trace_exit(unsigned vm, unsigned vcpu, uint32_t class, uint64_t rip, uint64_t info)
{
	struct ring *r = &rings[this_cpu()->id];
	struct trace_entry *e = &r->e[r->next++ % TRACE_ENTRIES];

	e->rip = rip;
	e->info = info;
	e->vm = (uint16_t)vm;
	e->vcpu = (uint16_t)vcpu;
	e->class = class;
}

void trace_print_last(uint32_t cpu, void (*say)(const char *f, ...))
{
	const struct ring *r = &rings[cpu];
	uint32_t first = r->next > TRACE_ENTRIES ? r->next - TRACE_ENTRIES : 0;

	for (uint32_t i = first; i < r->next; i++) {
		const struct trace_entry *e = &r->e[i % TRACE_ENTRIES];

		say("  cpu %u exit: vm %u vcpu %u %-12s rip %016llx info %llx\n", cpu, e->vm, e->vcpu,
		    hv_exit_class_name(e->class), (unsigned long long)e->rip,
		    (unsigned long long)e->info);
	}
}
