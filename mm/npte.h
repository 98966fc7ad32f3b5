/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npte: nested page-table entries of EPT and NPT, as data plus one encoder.
 *
 * An entry is present when NPTE_SW_P is set: the CPU may see nothing in it (an
 * aged leaf of a format without accessed bits).
 * Pure (tests/host/test_npte.c).
 * Invariants: only EMPTY and FROZEN are not present, so that no frame number
 * stands in an entry that maps nothing; a writable leaf has NPTE_MW.
 * Spec: SDM 3C 29.3.2 (EPT), APM 2 15.25 and 5.3 (NPT).
 */
#pragma once

#include "hv/base.h"
#include "mm/addr.h"

#define NPTE_EMPTY  0ULL
#define NPTE_FROZEN 0x5a0ULL /* being changed by exactly one owner */

/* Bits that both formats leave to software. */
#define NPTE_SW_P    BIT64(11) /* present */
#define NPTE_MW	     BIT64(53) /* may be made writable by compare-and-swap alone */
#define NPTE_SAVED_X BIT64(59) /* aged: was executable */

#define NPT_READ  BIT(0)
#define NPT_WRITE BIT(1)
#define NPT_EXEC  BIT(2)
#define NPT_RWX	  (NPT_READ | NPT_WRITE | NPT_EXEC)

#define NPT_SHIFT_4K 12
#define NPT_SHIFT_2M 21
#define NPT_SHIFT_1G 30

struct npt_fmt {
	const char *name;
	uint64_t addr;		/* frame number field */
	uint64_t table_flags;	/* of an entry that points to a table */
	uint64_t leaf_flags;	/* of every leaf, whatever its permissions */
	uint64_t read, write;	/* set when allowed; all of a leaf hangs on read */
	uint64_t exec;		/* set when allowed */
	uint64_t no_exec;	/* set when not allowed */
	uint64_t large;
	uint64_t accessed, dirty; /* 0: neither, leaves are aged and write-protected instead */
	uint8_t max_leaf_shift; /* 21 or 30 */
	bool pml;		/* the CPU can list the pages whose D bit it sets */
};

/* A-and-D and 1 GiB support vary by CPU; the back ends adjust a copy. */
extern const struct npt_fmt npt_fmt_ept;
extern const struct npt_fmt npt_fmt_npt;

enum npte_state {
	NPTE_E,	 /* empty */
	NPTE_Z,	 /* frozen */
	NPTE_TB, /* points to a table */
	NPTE_RO, /* leaf, never writable */
	NPTE_RL, /* leaf, write-protected, upgradable */
	NPTE_WC, /* leaf, writable, clean */
	NPTE_WD, /* leaf, writable, dirty (without dirty bits: writable) */
	NPTE_AG, /* leaf, aged: the next access faults */
	NPTE_ILLEGAL,
};

/* Of an entry in a table whose entries span 2^shift bytes. */
enum npte_state npte_state(const struct npt_fmt *f, uint64_t e, unsigned shift);

static inline bool npte_present(uint64_t e)
{
	return e & NPTE_SW_P;
}

/* Only for present entries in a table whose entries span 2^shift bytes. */
static inline bool npte_is_leaf(const struct npt_fmt *f, uint64_t e, unsigned shift)
{
	return shift == NPT_SHIFT_4K || (e & f->large);
}

static inline bool npte_is_table(const struct npt_fmt *f, uint64_t e, unsigned shift)
{
	return npte_present(e) && !npte_is_leaf(f, e, shift);
}

static inline hpa_t npte_hpa(const struct npt_fmt *f, uint64_t e)
{
	return HPA(e & f->addr);
}

/* With NPT_WRITE, or without it but @upgradable: MW is set. */
uint64_t npte_leaf(const struct npt_fmt *f, hpa_t hpa, unsigned shift, unsigned perms,
		   bool upgradable);
uint64_t npte_table(const struct npt_fmt *f, hpa_t table);

/* NPT_READ | NPT_WRITE | NPT_EXEC of a present leaf, as if it were not aged. */
static inline unsigned npte_perms(const struct npt_fmt *f, uint64_t e)
{
	unsigned p = NPT_READ;

	if (e & f->write)
		p |= NPT_WRITE;
	if (f->exec ? (e & (f->exec | NPTE_SAVED_X)) : !(e & f->no_exec))
		p |= NPT_EXEC;
	return p;
}

static inline bool npte_is_aged(const struct npt_fmt *f, uint64_t e)
{
	return !(e & f->read);
}

/* The leaf without any access, what it had saved; and back, writable if @write. */
static inline uint64_t npte_aged(const struct npt_fmt *f, uint64_t e)
{
	return (e & ~(f->read | f->write | f->exec)) | (e & f->exec ? NPTE_SAVED_X : 0);
}

static inline uint64_t npte_unaged(const struct npt_fmt *f, uint64_t e, bool write)
{
	return (e & ~NPTE_SAVED_X) | f->read | (e & NPTE_SAVED_X ? f->exec : 0) |
	       (write ? f->write : 0);
}

/* What marks a leaf as written: the dirty bit, or the permission to write. */
static inline uint64_t npte_dirty_bit(const struct npt_fmt *f)
{
	return f->dirty ? f->dirty : f->write;
}
