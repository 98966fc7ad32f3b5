/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npt: the nested page-table engine, one for EPT and NPT.
 *
 * Nested tables are a cache of the region map: any entry may be dropped and
 * filled again.  Filling, write grants and the splitting of large leaves are
 * lock-free from any CPU, one compare-and-swap each (mm/npte_edge.h has all
 * edges).  Removal, moving, promotion and protection are exclusive, under the
 * VM's mutation lock, and own what they change by freezing it.
 * A table page, once unlinked, is retired (mm/flush.h), so a walker never holds
 * a dead pointer; a slot of a table stands for one gpa as long as it exists.
 * Pure over the injected environment (tests/host/test_npt*.c).
 * Spec: SDM 3C 29.3, APM 2 15.25.
 *
 *   gpa 47..39   38..30   29..21   20..12   11..0
 *       root  -> PDPT  -> PD    -> PT    -> frame
 *                  \1 GiB   \2 MiB    \4 KiB leaves
 */
#pragma once

#include "hv/status.h"
#include "mm/npte.h"

#define NPT_GPA_BITS   48
#define NPT_ROOT_SHIFT 39
#define NPT_ENTRIES    512

struct dirty_log;
struct npt_audit;

struct npt_env {
	void *ctx;
	/* One zeroed table page, or NULL; takes no lock. */
	uint64_t *(*alloc_table)(void *ctx);
	/* Of a table that no CPU has seen. */
	void (*free_table)(void *ctx, uint64_t *table);
	/* Where table pages are: pointer minus physical address. */
	uint64_t offset;
};

struct npt {
	const struct npt_fmt *fmt;
	const struct npt_env *env;
	uint64_t *root;
	struct dirty_log *log;	 /* NULL: writes are not logged; atomic */
	struct npt_audit *audit; /* of a build with HV_DEBUG */
};

struct npt_leaf {
	hpa_t hpa;	/* of the frame's first byte */
	uint8_t shift;
	uint8_t perms;
};

typedef void (*npt_leaf_fn)(void *arg, const struct npt_leaf *leaf);

/* Neighbouring entries of one table. */
struct npt_run {
	uint64_t *e;
	uint64_t count;
	gpa_t gpa; /* of the first */
	unsigned shift;
};

static inline uint64_t npt_load(const uint64_t *e)
{
	return __atomic_load_n(e, __ATOMIC_ACQUIRE);
}

static inline unsigned npt_index(gpa_t gpa, unsigned shift)
{
	return gpa.v >> shift & (NPT_ENTRIES - 1);
}

static inline uint64_t *npt_table_of(const struct npt *n, uint64_t e)
{
	return (uint64_t *)(npte_hpa(n->fmt, e).v + n->env->offset);
}

static inline hpa_t npt_table_hpa(const struct npt *n, const uint64_t *table)
{
	return HPA((uint64_t)table - n->env->offset);
}

enum hv_status npt_create(struct npt *n, const struct npt_fmt *fmt, const struct npt_env *env)
	__must_check;

/* Frees all tables and hands every leaf to @fn; no CPU may still use them. */
void npt_destroy(struct npt *n, npt_leaf_fn fn, void *arg);

/*
 * Installs @leaf, of 2^shift bytes.  HV_EXIST: something is mapped or being
 * removed there, or a table hangs where the large leaf would go (the caller
 * keeps its frame and lets the guest fault again); HV_NOMEM: no table page.
 * Not-present to present: no flush is owed.
 */
enum hv_status npt_map(struct npt *n, gpa_t gpa, unsigned shift, uint64_t leaf) __must_check;

/* The entry for @gpa that would be a leaf of 2^shift bytes, with tables made above it; as npt_map(). */
enum hv_status npt_reach(struct npt *n, gpa_t gpa, unsigned shift, uint64_t **e) __must_check;

/*
 * The table below *e, made if there is none.  HV_EXIST: a leaf is there, or it
 * is being removed; HV_NOMEM: no table page.
 */
enum hv_status npt_descend(struct npt *n, uint64_t *e, unsigned shift, uint64_t **table)
	__must_check;

/* The entry that a walk to @gpa (below 2^48) ends at: a leaf, empty or frozen. */
static inline uint64_t *npt_find(const struct npt *n, gpa_t gpa, unsigned *shift, uint64_t *value)
{
	const uint64_t addr = n->fmt->addr, table = NPTE_SW_P | n->fmt->large;
	const uint64_t offset = n->env->offset;
	uint64_t *e = &n->root[npt_index(gpa, NPT_ROOT_SHIFT)], v = npt_load(e);
	unsigned s = NPT_ROOT_SHIFT;

	while (s > NPT_SHIFT_4K && (v & table) == NPTE_SW_P) {
		s -= 9;
		e = (uint64_t *)((v & addr) + offset) + npt_index(gpa, s);
		v = npt_load(e);
	}
	*shift = s;
	*value = v;
	return e;
}

/*
 * Where the last fault of a vCPU ended, and the lowest table there, which spares
 * the walk to its neighbours.  The table is good for as long as the vCPU has
 * acknowledged no newer flush generation: only that could release it.
 */
struct npt_walk {
	uint64_t *e, v;
	unsigned shift;
	uint64_t *table, span, gen;
};

static inline void npt_walk(const struct npt *n, struct npt_walk *w, gpa_t gpa, uint64_t gen)
{
	if (w->table && w->span == gpa.v >> NPT_SHIFT_2M && w->gen == gen) {
		w->e = &w->table[npt_index(gpa, NPT_SHIFT_4K)];
		w->v = npt_load(w->e);
		return;
	}
	w->e = npt_find(n, gpa, &w->shift, &w->v);
	w->table = w->shift == NPT_SHIFT_4K ? w->e - npt_index(gpa, NPT_SHIFT_4K) : NULL;
	w->span = gpa.v >> NPT_SHIFT_2M;
	w->gen = gen;
}

/* The entry of the page directory that points to the lowest table of @gpa, or NULL. */
uint64_t *npt_parent(const struct npt *n, gpa_t gpa, uint64_t *value);

/* The leaf that maps @gpa, if there is one. */
bool npt_lookup(const struct npt *n, gpa_t gpa, struct npt_leaf *leaf);

/*
 * The next entries at or after *at and below @end that are not known to be
 * empty, moving *at behind them: a run inside one lowest table, or a single
 * larger entry, which is no table.
 */
bool npt_next_run(const struct npt *n, uint64_t *at, uint64_t end, struct npt_run *run);
