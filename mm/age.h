/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * age: which pages a VM has used since it was last asked.
 *
 * With accessed bits they are read and cleared; without, leaves lose all access
 * and the fault path gives it back at the next (mm/fault_fast.c).  The VM runs
 * on: translations in TLBs are dropped at each vCPU's next entry, so a page used
 * just now may count for the next interval, or twice.
 * Under the VM's mutation lock.  Pure (tests/host/test_age.c).
 */
#pragma once

#include "mm/flush.h"
#include "mm/npt.h"

/*
 * Ages [gpa, gpa + len), page-aligned.  @used, if not NULL, has one element per
 * 2 MiB span from the one of @gpa: the 4 KiB pages used there, 512 for a large
 * leaf.  Returns their sum.
 */
uint64_t age_range(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len, uint16_t *used);
