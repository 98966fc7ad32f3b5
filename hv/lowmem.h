/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lowmem: what happens when the frame pool is empty.
 *
 * First frames that waited for a flush are released and every CPU gives back what
 * it holds in stock; if that is not enough, the VM that needs a frame pauses, and
 * goes on when memory has come free.
 */
#pragma once

#include "hv/base.h"

struct vcpu;

/*
 * Brings together what is left: frames that wait for a flush, and what other CPUs
 * hold in stock; waits for them.  Not with the mutation lock of a VM whose vCPU
 * might wait for it with interrupts off.
 */
void lowmem_gather(void);

/* By every CPU whenever it has been kicked: answers lowmem_gather(). */
void lowmem_serve(void);

/* For @v a fault found no memory at @gpa: pauses its VM, with a message. */
void lowmem_pause(struct vcpu *v, uint64_t gpa);

/* Bytes that no VM has, in the pool and in stock; while other CPUs run, about. */
uint64_t lowmem_free(void);

/* Boot CPU, now and then: lets VMs go on for which memory has come free since. */
void lowmem_poll(void);

/* Memory has come free: VMs that waited for it go on. */
void lowmem_over(void);
