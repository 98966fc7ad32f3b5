/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_mutate: what changes, or looks through, the memory of a VM that runs.
 *
 * Each function takes the VM's mutation lock for itself; vCPUs go on faulting
 * meanwhile, without a lock.  Any CPU, interrupts off; a vCPU of the same VM may
 * call it from its exit, and holds no looked-up pointer then.  Ranges are in
 * bytes.  HV_INVAL: not aligned to pages (64 of them for a harvest), or empty;
 * HV_RANGE: wraps or goes beyond what the VM's RAM may reach.
 */
#pragma once

#include "hv/vm.h"

/* Writes are logged from the return on.  HV_NOTSUP: the machine lacks what @mode needs. */
enum hv_status vm_log_enable(struct vm *vm, enum dirty_mode mode, bool eager) __must_check;
/* The mode that costs least here. */
enum dirty_mode vm_log_best_mode(const struct vm *vm);
/* Large leaves come back where they can.  HV_NOENT: writes were not logged. */
enum hv_status vm_log_disable(struct vm *vm);
/* The log ends if there is one, and leaves stay as they are: they are about to go. */
void vm_log_drop(struct vm *vm);
/* As dirty_harvest(); the length is at most VM_HARVEST_MAX. */
#define VM_HARVEST_MAX (PAGE_SIZE * 8 * PAGE_SIZE)
enum hv_status vm_log_harvest(struct vm *vm, gpa_t gpa, uint64_t len, unsigned flags,
			      uint64_t *bitmap, uint64_t *count) __must_check;

/* As age_range(). */
enum hv_status vm_age(struct vm *vm, gpa_t gpa, uint64_t len, uint16_t *used, uint64_t *pages)
	__must_check;

/* Removes pages, which read as zero from now on; gives them other frames; joins them. */
enum hv_status vm_discard(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count) __must_check;
enum hv_status vm_move(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count) __must_check;
enum hv_status vm_promote(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count) __must_check;

/* Releases what earlier removals have left waiting; a vCPU that calls it has stepped out. */
void vm_reclaim(struct vm *vm);

/* The regions as they are just now. */
bool vm_lookup(struct vm *vm, gpa_t gpa, struct npt_leaf *leaf);
void vm_copy_regions(struct vm *vm, struct region_map *to);

/* Makes the range RAM or nothing.  HV_NOMEM: too many regions, or no page for the map. */
enum hv_status vm_set_region(struct vm *vm, gpa_t gpa, uint64_t len, bool ram) __must_check;
