/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched: preemptive round-robin over the vCPUs of each host CPU.
 *
 * A vCPU is placed on the least loaded CPU that its VM allows and stays there.
 * A CPU with nothing to run halts until its next deadline or an interrupt.
 */
#pragma once

#include "hv/cpu.h"
#include "hv/vcpu.h"

#define SCHED_SLICE_NS 2000000ULL

/* The least loaded CPU in @mask (0: any); NULL when the machine has none of them. */
struct cpu *sched_place(uint64_t mask);
/* Gives @v its turns; for good, so only once its VM is complete.  Boot CPU, before sched_start(). */
void sched_add(struct vcpu *v);

/* Lets the CPUs that wait in sched_run() begin. */
void sched_start(void);

/* A host CPU's life; @cpu is its struct cpu.  Never returns. */
void sched_run(void *cpu);
