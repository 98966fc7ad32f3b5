/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame_cache: each CPU's own stock of frames and table pages.
 *
 * What a fault needs it takes from here without a lock; the run loop fills the
 * stock between faults, from the pools of mm/frame.h.  Idle CPUs clear 2 MiB
 * blocks ahead of time, so that a fault need not.
 * Every function works on the calling CPU's own cache, interrupts off; taking a
 * frame takes no lock, nor does taking a table unless may_fill says so.
 */
#pragma once

#include "hv/status.h"
#include "mm/addr.h"

#define FRAME_CACHE_SMALL 64
#define FRAME_CACHE_LARGE 2
#define FRAME_CACHE_TABLE 32

struct frame_cache_block {
	hpa_t hpa;
	bool is_clear;
};

struct frame_cache {
	bool low;      /* the run loop should fill it */
	bool may_fill; /* this CPU is not in a fault: table pages may come from the pool at once */
	uint32_t small_count, large_count, table_count;
	uint32_t open_left;  /* 4 KiB frames left of a clear 2 MiB block, at its end */
	hpa_t open_end;
	bool want_huge;	     /* a fault would have taken 1 GiB */
	hpa_t huge;	     /* HPA_NONE: there is none */
	uint64_t dry[3];     /* frames freed so far when the pool had no 4 KiB, 2 MiB, 1 GiB */
	struct frame_cache_block large[FRAME_CACHE_LARGE];
	hpa_t small[FRAME_CACHE_SMALL]; /* not cleared */
	void *table[FRAME_CACHE_TABLE]; /* zeroed */
	/* The block that is being cleared while the CPU idles. */
	hpa_t cleaning;
	uint32_t cleaned;
	uint32_t drained; /* the last lowmem_gather() that it has answered */
};

void frame_cache_init(struct frame_cache *c);

/*
 * 2^order frames (order 0, 9 or 18) with their content undefined or zero.
 * HV_RETRY: frame_cache_fill() may have some; HV_NOMEM: it has none either.
 */
enum hv_status frame_cache_take(struct frame_cache *c, unsigned order, hpa_t *hpa, bool *is_clear)
	__must_check;
void frame_cache_give(struct frame_cache *c, hpa_t hpa, unsigned order);

/* A zeroed table page or NULL; giving one back zeroed or not. */
void *frame_cache_take_table(struct frame_cache *c);
void frame_cache_give_table(struct frame_cache *c, void *table);

/* Fills what is low.  False: nothing at all could be had. */
bool frame_cache_fill(struct frame_cache *c);

/* Everything back to the pools. */
void frame_cache_drain(struct frame_cache *c);

/* Clears a little of a block for later; false: there is enough, or nothing to clear. */
bool frame_cache_clean_ahead(struct frame_cache *c, void (*clear)(hpa_t hpa, unsigned order));

/* 4 KiB frames that it holds for guests. */
uint64_t frame_cache_guest_frames(const struct frame_cache *c);
