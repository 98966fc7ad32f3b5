/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region: what a VM's guest-physical addresses mean.
 *
 * A sorted array of non-overlapping ranges.  A map in use is constant, so that
 * readers need no lock: to change it is to publish another (hv/vm_mutate.c).
 * The truth, of which the nested tables (mm/npt.h) are a cache.
 * Pure (tests/host/test_region.c).
 */
#pragma once

#include "hv/status.h"
#include "mm/addr.h"

#define REGION_MAX 32

enum region_kind {
	REGION_NONE, /* not in the map: reads all-ones, writes vanish */
	REGION_RAM,
	REGION_MMIO, /* an emulated device; never mapped */
};

struct region {
	uint64_t base, len; /* multiples of the page size */
	enum region_kind kind;
};

struct region_map {
	uint32_t count;
	struct region r[REGION_MAX];
};

/* HV_INVAL: unaligned or empty; HV_RANGE: wraps or beyond 2^48; HV_EXIST: overlaps; HV_NOMEM: full. */
enum hv_status region_add(struct region_map *m, uint64_t base, uint64_t len, enum region_kind kind)
	__must_check;

/* Cuts the range out of what is there.  HV_INVAL as above; HV_NOMEM: full. */
enum hv_status region_remove(struct region_map *m, uint64_t base, uint64_t len) __must_check;

/* The region that holds @gpa, or NULL. */
const struct region *region_find(const struct region_map *m, gpa_t gpa);

/*
 * The largest leaf (12, 21 or 30, at most @max_shift) that holds @gpa, is
 * naturally aligned and lies wholly inside @r.
 */
unsigned region_leaf_shift(const struct region *r, gpa_t gpa, unsigned max_shift);
