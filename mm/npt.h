/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npt: the nested page-table engine, one for EPT and NPT.
 *
 * Nested tables are a cache of the region map: any entry may be dropped and
 * filled again.  Filling is lock-free from any CPU (compare-and-swap from
 * EMPTY only); removal is exclusive, under the VM's mutation lock: entries are
 * FROZEN, the caller flushes, then npt_thaw() empties them.  Tables once linked
 * stay until npt_destroy(), so a walker never holds a dead pointer.
 * Pure over the injected environment (tests/host/test_npt.c).
 * Spec: SDM 3C 29.3, APM 2 15.25.
 *
 *   gpa 47..39   38..30   29..21   20..12   11..0
 *       root  -> PDPT  -> PD    -> PT    -> frame
 *                  \1 GiB   \2 MiB    \4 KiB leaves
 */
#pragma once

#include "hv/status.h"
#include "mm/npte.h"

#define NPT_GPA_BITS 48

struct npt_env {
	void *ctx;
	/* One zeroed table page, or NULL. */
	uint64_t *(*alloc_table)(void *ctx);
	void (*free_table)(void *ctx, uint64_t *table);
	hpa_t (*to_hpa)(const void *table);
	void *(*to_ptr)(hpa_t a);
};

struct npt {
	const struct npt_fmt *fmt;
	const struct npt_env *env;
	uint64_t *root;
};

struct npt_leaf {
	hpa_t hpa;	/* of the frame's first byte */
	uint8_t shift;
	uint8_t perms;
};

typedef void (*npt_leaf_fn)(void *arg, const struct npt_leaf *leaf);

enum hv_status npt_create(struct npt *n, const struct npt_fmt *fmt, const struct npt_env *env)
	__must_check;

/* Frees all tables and hands every leaf to @fn; no CPU may still use them. */
void npt_destroy(struct npt *n, npt_leaf_fn fn, void *arg);

/*
 * Installs one leaf of 2^shift bytes.  HV_EXIST: something is mapped or being
 * removed there, or a table hangs where the large leaf would go (the caller
 * keeps its frame and lets the guest fault again); HV_NOMEM: no table page.
 * Not-present to present: no flush is owed.
 */
enum hv_status npt_map(struct npt *n, gpa_t gpa, hpa_t hpa, unsigned shift, unsigned perms)
	__must_check;

/* The leaf that maps @gpa, if there is one. */
bool npt_lookup(const struct npt *n, gpa_t gpa, struct npt_leaf *leaf);

/*
 * The span (as a shift) of the empty entry that a walk to @gpa ends at: no
 * larger leaf can be installed there.  0: it is mapped or being removed.
 */
unsigned npt_room(const struct npt *n, gpa_t gpa);

/*
 * Freezes every leaf that maps a part of [gpa, gpa + len), which is below
 * 2^48, and hands it to @fn.  Returns how many there were.  Under the mutation lock; a flush is owed before
 * any of the frames is used again and before npt_thaw().
 */
uint64_t npt_freeze(struct npt *n, gpa_t gpa, uint64_t len, npt_leaf_fn fn, void *arg);

/* Empties the frozen entries of the range again; only after the flush. */
void npt_thaw(struct npt *n, gpa_t gpa, uint64_t len);
