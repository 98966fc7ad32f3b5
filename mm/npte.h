/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npte: nested page-table entries of EPT and NPT, as data plus one encoder.
 *
 * Pure (tests/host/test_npte.c).
 * Invariants: a not-present entry holds no frame number; only EMPTY and FROZEN
 * are legal not-present values.
 * Spec: SDM 3C 29.3.2 (EPT), APM 2 15.25 and 5.3 (NPT).
 */
#pragma once

#include "hv/base.h"
#include "mm/addr.h"

#define NPTE_EMPTY  0ULL
#define NPTE_FROZEN 0x5a0ULL /* being removed by exactly one owner */

#define NPT_READ  BIT(0)
#define NPT_WRITE BIT(1)
#define NPT_EXEC  BIT(2)
#define NPT_RWX	  (NPT_READ | NPT_WRITE | NPT_EXEC)

#define NPT_SHIFT_4K 12
#define NPT_SHIFT_2M 21
#define NPT_SHIFT_1G 30

struct npt_fmt {
	const char *name;
	uint64_t present;	/* present when any of these is set */
	uint64_t addr;		/* frame number field */
	uint64_t table_flags;	/* of an entry that points to a table */
	uint64_t leaf_flags;	/* of every leaf, whatever its permissions */
	uint64_t read, write;	/* set when allowed; read may be 0: implied */
	uint64_t exec;		/* set when allowed */
	uint64_t no_exec;	/* set when not allowed */
	uint64_t large;
	uint64_t accessed, dirty;
	uint8_t max_leaf_shift; /* 21 or 30 */
};

/* A-and-D and 1 GiB support vary by CPU; the back ends adjust a copy. */
extern const struct npt_fmt npt_fmt_ept;
extern const struct npt_fmt npt_fmt_npt;

static inline bool npte_present(const struct npt_fmt *f, uint64_t e)
{
	return e & f->present;
}

/* Only for present entries in a table whose entries span 2^shift bytes. */
static inline bool npte_is_leaf(const struct npt_fmt *f, uint64_t e, unsigned shift)
{
	return shift == NPT_SHIFT_4K || (e & f->large);
}

static inline hpa_t npte_hpa(const struct npt_fmt *f, uint64_t e)
{
	return HPA(e & f->addr);
}

uint64_t npte_leaf(const struct npt_fmt *f, hpa_t hpa, unsigned shift, unsigned perms);
uint64_t npte_table(const struct npt_fmt *f, hpa_t table);

/* NPT_READ | NPT_WRITE | NPT_EXEC of a present leaf. */
unsigned npte_perms(const struct npt_fmt *f, uint64_t e);
