/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buddy: a binary buddy allocator over page-frame numbers.
 *
 * Owns the metadata array it is given, never the frames: free frames are not
 * touched, so that guest memory needs no mapping to be managed.  Not locked;
 * mm/frame.c serializes.  Pure (tests/host/test_buddy.c).
 * Invariant: a frame is in at most one free block, and two free buddies of one
 * order are always merged.
 */
#pragma once

#include "hv/base.h"

#define BUDDY_ORDERS	19 /* orders 0 (4 KiB) to 18 (1 GiB) */
#define BUDDY_ORDER_2M	9
#define BUDDY_ORDER_1G	18
#define BUDDY_NONE	(~0ULL)

struct buddy_meta {
	uint32_t next, prev; /* links of a free block's head, index + 1, 0: none */
	uint8_t order;
	uint8_t state;
};

struct buddy {
	struct buddy_meta *meta;
	uint64_t base; /* first frame number covered; aligned to the largest order */
	uint64_t count;
	uint64_t free; /* frames */
	uint64_t total;
	uint32_t head[BUDDY_ORDERS];
};

/* @meta has @count entries, zeroed; at most 2^32 - 2 frames.  All frames start as holes. */
void buddy_init(struct buddy *b, struct buddy_meta *meta, uint64_t base, uint64_t count);

/* Gives the frames [pfn, pfn + n) to the allocator; they must be holes so far. */
void buddy_add(struct buddy *b, uint64_t pfn, uint64_t n);

/* 2^order contiguous, naturally aligned frames, or BUDDY_NONE. */
uint64_t buddy_alloc(struct buddy *b, unsigned order);

/*
 * Returns 2^order aligned frames, all of them allocated, be it as one block, as
 * a part of a larger one or as several smaller; anything else asserts.
 */
void buddy_free(struct buddy *b, uint64_t pfn, unsigned order);

/* A list of runs of @n allocated frames, through their metadata; *chain is 0 when empty. */
void buddy_chain(struct buddy *b, uint32_t *chain, uint64_t pfn, uint32_t n);
void buddy_free_chain(struct buddy *b, uint32_t *chain);
