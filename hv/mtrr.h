/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mtrr: a guest's memory type range registers and PAT.  Memory types are ours
 * (nested paging); the guest keeps its books.
 *
 * Pure (tests/host/test_mtrr.c).  Spec: SDM 3A 12.11, 12.12.
 */
#pragma once

#include "hv/base.h"

#define MTRR_VARIABLE 8
#define MTRR_FIXED    11
#define MTRR_CAP      (MTRR_VARIABLE | BIT(8) /* fixed ranges */ | BIT(10) /* WC */)

struct mtrr {
	uint64_t def_type, fixed[MTRR_FIXED], base[MTRR_VARIABLE], mask[MTRR_VARIABLE];
};

/* As firmware leaves them: on, everything write-back. */
void mtrr_power_up(struct mtrr *m);

/* Where the value of @msr is kept; NULL: it is no such register. */
uint64_t *mtrr_find(struct mtrr *m, uint32_t msr);

/* May @val be written to @msr, one that mtrr_find() knows?  False: #GP(0). */
bool mtrr_valid(uint32_t msr, uint64_t val, uint8_t maxphyaddr);

/* Likewise for IA32_PAT. */
bool mtrr_pat_valid(uint64_t val);
