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
	uint16_t vm, vcpu;
	uint32_t class;	/* enum hv_exit_class */
};

void trace_exit(unsigned vm, unsigned vcpu, uint32_t class, uint64_t rip, uint64_t info);

/* Prints the last exits of CPU @cpu, oldest first, by @say. */
void trace_print_last(uint32_t cpu, void (*say)(const char *f, ...));
