/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched: whose turn it is on each host CPU.
 *
 * A vCPU is placed on the least loaded CPU that its VM allows and stays there
 * until it is removed.  Turns go by weight: each vCPU's run time, divided by its
 * VM's weight, is kept level with that of its neighbours.  A cap bounds what a
 * vCPU gets of its CPU in each period, whatever else is free.  A CPU with
 * nothing to run halts until its next deadline or an interrupt.
 * sched_place(), sched_unplace(), sched_add(), sched_remove(): boot CPU, between
 * turns.
 */
#pragma once

#include "hv/cpu.h"
#include "hv/vcpu.h"

#define SCHED_SLICE_NS	2000000ULL
#define SCHED_PERIOD_NS 100000000ULL
#define SCHED_WEIGHT	100 /* of a VM whose configuration says nothing */

/* The least loaded CPU in @mask (0: any); NULL when the machine has none of them. */
struct cpu *sched_place(uint64_t mask);
void sched_unplace(struct cpu *home);

/* Gives @v its turns; its VM is complete. */
void sched_add(struct vcpu *v);
/* Of a parked vCPU; waits until its home CPU has let go of it. */
void sched_remove(struct vcpu *v);

/* Lets the CPUs that wait in sched_run() begin. */
void sched_start(void);

/* A host CPU's life; @cpu is its struct cpu.  Never returns. */
void sched_run(void *cpu);
