/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lowmem: what happens when the frame pool is empty.
 *
 * First every CPU gives back what it holds in stock; if that is not enough, the
 * VM that needs a frame pauses, and goes on when memory has come free.
 */
#pragma once

#include "hv/base.h"

struct vcpu;

/*
 * All other CPUs give their stock back; waits for them.  Not with the mutation
 * lock of a VM whose vCPU might wait for it with interrupts off.
 */
void lowmem_drain_others(void);

/* By every CPU whenever it has been kicked: answers lowmem_drain_others(). */
void lowmem_serve(void);

/* For @v a fault found no memory at @gpa: pauses its VM, with a message. */
void lowmem_pause(struct vcpu *v, uint64_t gpa);

/* Bytes that no VM has, in the pool and in stock; while other CPUs run, about. */
uint64_t lowmem_free(void);

/* Memory has come free: paused VMs go on. */
void lowmem_over(void);
