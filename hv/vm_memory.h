/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_memory: a VM's guest-physical memory: regions, nested tables, frames.
 *
 * vm_memory_fault() from any CPU; create, release and destroy only while no
 * vCPU of the VM runs.
 */
#pragma once

#include "hv/vm.h"
#include "mm/fault.h"

/* For @vcpus vCPUs, which need not exist yet. */
enum hv_status vm_memory_create(struct vm *vm, uint32_t vcpus) __must_check;

/* Resolves a nested fault or an access of ours at @gpa. */
enum fault_result vm_memory_fault(struct vm *vm, gpa_t gpa);

/* Takes all RAM away from the guest; it will read as zero again. */
void vm_memory_release(struct vm *vm);

/* As above, and the nested tables too. */
void vm_memory_destroy(struct vm *vm);
