/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault: what a nested page fault means and, for RAM, its resolution: the
 * largest leaf that region and pool allow, zero-filled, installed by one
 * compare-and-swap; or a large leaf split for the log of writes.  Takes no lock:
 * frames and tables come from this CPU's own stock (mm/frame_cache.h).
 * Pure over the injected environment (tests/host/test_fault.c).
 */
#pragma once

#include "hv/status.h"
#include "mm/npt.h"
#include "mm/region.h"

enum fault_result {
	FAULT_RESOLVED, /* enter the guest again */
	FAULT_DEVICE,	/* an emulated device or nothing at all: decode the access */
	FAULT_REFILL,	/* this CPU's stock has no frame or table page: fill it, fault again */
};

struct fault_env {
	void *ctx;
	/* HV_NOMEM: there are none; HV_RETRY: the stock may be filled with some. */
	enum hv_status (*alloc_frames)(void *ctx, unsigned order, hpa_t *hpa, bool *is_clear);
	void (*free_frames)(void *ctx, hpa_t hpa, unsigned order);
	void (*clear_frames)(void *ctx, hpa_t hpa, unsigned order);
	/* @bytes of guest RAM have become resident. */
	void (*account)(void *ctx, uint64_t bytes);
};

/* @w: where fault_fast() ended just now, or NULL. */
enum fault_result fault_resolve(struct npt *npt, const struct region_map *regions, gpa_t gpa,
				unsigned access, unsigned max_leaf_shift,
				const struct fault_env *env, const struct npt_walk *w);
