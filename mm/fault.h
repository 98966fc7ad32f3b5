/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault: what a nested page fault means and, for RAM, its resolution: the
 * largest leaf that region and pool allow, zero-filled, installed by one
 * compare-and-swap.  Takes no lock but the frame pool's.
 * Pure over the injected environment (tests/host/test_fault.c).
 */
#pragma once

#include "hv/status.h"
#include "mm/npt.h"
#include "mm/region.h"

enum fault_result {
	FAULT_RESOLVED, /* enter the guest again */
	FAULT_DEVICE,	/* an emulated device or nothing at all: decode the access */
	FAULT_NOMEM,	/* no frame or table page is left */
};

struct fault_env {
	void *ctx;
	hpa_t (*alloc_frames)(void *ctx, unsigned order);
	void (*free_frames)(void *ctx, hpa_t hpa, unsigned order);
	void (*clear_frames)(void *ctx, hpa_t hpa, unsigned order);
	/* @bytes of guest RAM have become resident. */
	void (*account)(void *ctx, uint64_t bytes);
};

enum fault_result fault_resolve(struct npt *npt, const struct region_map *regions, gpa_t gpa,
				unsigned max_leaf_shift, const struct fault_env *env);
