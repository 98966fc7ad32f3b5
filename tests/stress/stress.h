/* SPDX-License-Identifier: BSD-2-Clause */
/* stress: what its files share; tests/stress/main.c says what it is. */
#pragma once

#include <stdio.h>

#include "mm/dirty.h"
#include "mm/npt.h"
#include "mm/region.h"

#define VCPUS	4
#define SPANS	4u
#define PAGES	(SPANS * NPT_ENTRIES)
#define AREA	(PAGES * PAGE_SIZE)
#define DISCARD ((SPANS - 1) * NPT_ENTRIES) /* from this page on, content may vanish */

#define FRAMES	   8192u
#define FRAME_BASE (16 * MIB) /* "physical" */
#define POISON	   0xdeaddeaddeaddeadULL

/* Ways to misbehave, each of which must be noticed. */
enum mutant {
	MUTANT_NONE,
	MUTANT_NO_FLUSH,      /* the answer of flush_enter() is ignored; left to the content checks */
	MUTANT_NO_FLUSH_SEEN, /* likewise, left to the audit */
	MUTANT_KEEP_TABLES,   /* flushes and violations leave the cached pointers to tables */
	MUTANT_FREE_AT_ONCE,  /* what is retired is released at once */
	MUTANT_LEAVE_EARLY,   /* flush_leave() before the last access */
	MUTANT_OUT_IN_ROOT,   /* a vCPU in root mode writes while it says that it is out */
	MUTANT_MARK_FIRST,    /* root mode marks the log, then writes */
	MUTANT_NO_MARK,	      /* root mode does not mark the log */
	MUTANT_COPY_FIRST,    /* pages are read before the harvest that names them */
	MUTANT_OLD_WALK,      /* a vCPU's walk is used beyond its generation */
	MUTANT_NO_DRAIN,      /* PML entries are drained only when the list is full */
	MUTANTS,
};

struct tlb {
	bool valid, write, dirty;
	uint64_t page, pfn;
};

#define TLB 128
#define PML 8

struct vcpu {
	uint32_t slot;
	uint32_t kicked;
	uint64_t random;
	uint64_t version;
	struct tlb tlb[TLB];
	uint64_t *table[SPANS]; /* as paging-structure caches hold them */
	struct npt_walk walk;
	unsigned pml_count;
	uint64_t pml[PML];
	uint64_t accesses, faults, fast;
};

struct stress {
	struct npt_fmt fmt;
	enum mutant mutant;
	struct npt n;
	struct npt_env npt_env;
	struct flush f;
	struct flush_env flush_env;
	struct region_map regions;
	struct vcpu vcpu[VCPUS];
	uint32_t stand_still, standing, finished;
	uint64_t wrote[PAGES];	/* the stamp that each page's writer wrote last */
	uint64_t copied[PAGES]; /* the harvester's copy */
	uint64_t harvests, moved, removed, promoted, aged, compared;
};

extern struct stress st;

/* Ends this run, which has failed. */
_Noreturn void failed(const char *what, uint64_t a, uint64_t b);

static inline uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random * 0x2545f4914f6cdd1dULL >> 16;
}

static inline bool finished(void)
{
	return __atomic_load_n(&st.finished, __ATOMIC_ACQUIRE);
}

/* pool.c: frames, tables and what waits for release. */
void pool_init(void);
hpa_t frames_alloc(unsigned order);
void frames_free(hpa_t hpa, unsigned order);
void frames_clear(hpa_t hpa, unsigned order);
uint64_t frame_read(uint64_t pfn);
void frame_write(uint64_t pfn, uint64_t stamp);
void table_check(const uint64_t *e);
void retire(void *ctx, unsigned list, enum flush_kind kind, hpa_t hpa, uint64_t pages);
void release(void *ctx, unsigned list);
unsigned frames_in_use(void);
unsigned tables_in_use(void);
uint64_t *table_alloc(void *ctx);
void table_free(void *ctx, uint64_t *t);
uint64_t pool_offset(void);

/* The frame that a leaf maps @page to. */
static inline uint64_t leaf_pfn(const struct npt_leaf *l, uint64_t page)
{
	return (l->hpa.v >> PAGE_SHIFT) + (page & (BIT64(l->shift - PAGE_SHIFT) - 1));
}

/* vcpu.c, mutate.c: the threads. */
void *vcpu_thread(void *arg);
void *harvest_thread(void *arg);
void *mutate_thread(void *arg);
