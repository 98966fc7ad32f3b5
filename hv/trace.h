/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace: the last exits of each CPU, for the panic and for state dumps.
 *
 * trace_exit() is called by the CPU itself on every exit; readers may see the
 * newest entry torn, which a dump tolerates.  No locks.
 */
#pragma once

#include "hv/base.h"

#define TRACE_ENTRIES 16

struct trace_entry {
	uint64_t rip;
	uint64_t info;	/* the exit's main operand: gpa, port, MSR ... */
	uint32_t id;	/* the VM's index in the upper half, the vCPU's in the lower */
	uint32_t class;	/* enum hv_exit_class */
};

/* One in each struct cpu. */
struct trace_ring {
	uint32_t next;
	struct trace_entry e[TRACE_ENTRIES];
};

static inline void trace_exit(struct trace_ring *r, struct trace_entry e)
{
	r->e[r->next++ % TRACE_ENTRIES] = e;
}

/* Prints the last exits of CPU @cpu, oldest first, by @say. */
void trace_print_last(uint32_t cpu, void (*say)(const char *f, ...));
