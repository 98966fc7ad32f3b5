/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_memory: a VM's guest-physical memory: regions, nested tables, frames.
 *
 * vm_memory_fault() from any CPU, without a lock; create and destroy only while
 * no vCPU of the VM runs.  hv/vm_mutate.h has what changes a running VM's memory.
 */
#pragma once

#include "hv/vm.h"
#include "mm/fault.h"
#include "mm/fault_fast.h"

/* For @vcpus vCPUs, which need not exist yet. */
enum hv_status vm_memory_create(struct vm *vm, uint32_t vcpus) __must_check;

/* Resolves a nested fault, or an access of ours (NPT_READ, ...), at @gpa; @w as fault_resolve(). */
enum fault_result vm_memory_fault(struct vm *vm, gpa_t gpa, unsigned access,
				  const struct npt_walk *w);

/* After FAULT_REFILL: fills this CPU's stock of frames.  False: the machine has none. */
bool vm_memory_refill(void);

/*
 * From here to there this CPU's vCPU holds no looked-up pointer, and who waits for
 * it may go on; nothing happens if there is none.
 */
void vm_memory_step_out(void);
void vm_memory_step_in(void);

/* Takes all RAM away from the guest; it will read as zero again.  All vCPUs are parked. */
void vm_memory_release(struct vm *vm);

/* As above, and the nested tables too. */
void vm_memory_destroy(struct vm *vm);
