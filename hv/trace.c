/* SPDX-License-Identifier: BSD-2-Clause */
/* trace: the last exits of each CPU. */
#include "hv/trace.h"

#include "hv/cpu.h"
#include "hv/exit.h"

_Static_assert(!(TRACE_ENTRIES & (TRACE_ENTRIES - 1)), "the index wraps by masking");

void trace_print_last(uint32_t cpu, void (*say)(const char *f, ...))
{
	const struct trace_ring *r = &cpus[cpu]->trace;
	uint32_t first = r->next > TRACE_ENTRIES ? r->next - TRACE_ENTRIES : 0;

	for (uint32_t i = first; i < r->next; i++) {
		const struct trace_entry *e = &r->e[i % TRACE_ENTRIES];

		say("  cpu %u exit: vm %u vcpu %u %-12s rip %016llx info %llx\n", cpu, e->id >> 16, e->id & 0xffff,
		    hv_exit_class_name(e->class), (unsigned long long)e->rip,
		    (unsigned long long)e->info);
	}
}
