/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame: all page frames of the machine, in two pools.
 *
 * The hypervisor pool holds what we keep for ourselves (page tables, nested
 * tables, vCPUs, stacks) and is mapped supervisor-only.  The guest pool holds
 * guest RAM and is mapped as user pages, so that with SMAP a stray access to
 * guest memory faults; hv/guest_mem.c is the one place that opens that door.
 * Exhaustion is a status, never a panic.
 * Called from any CPU; takes the frame lock.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/status.h"
#include "mm/addr.h"

struct frame_stats {
	uint64_t hv_total, hv_free;	  /* frames */
	uint64_t guest_total, guest_free;
};

/* Splits the machine's free ranges into the two pools.  Boot CPU, once. */
enum hv_status frame_init(const struct handoff *h) __must_check;

/* The range that the hypervisor pool lies in. */
struct handoff_range frame_hv_range(void);

/* The order of the smallest block that holds @size bytes. */
static inline unsigned frame_order(uint64_t size)
{
	unsigned order = 0;

	while (PAGE_SIZE << order < size)
		order++;
	return order;
}

/* 2^order zeroed frames of the hypervisor pool as a pointer, or NULL. */
void *hv_pages_alloc(unsigned order);
void hv_pages_free(void *p, unsigned order);

/* 2^order frames for guests, content undefined, or HPA_NONE. */
hpa_t guest_frames_alloc(unsigned order);
void guest_frames_free(hpa_t a, unsigned order);
/* Up to @n single frames; returns how many. */
uint32_t guest_frames_alloc_many(hpa_t *a, uint32_t n);
/* How often frames have come back: while it stands still, what failed fails again. */
uint64_t guest_frames_freed(void);

/* A few cleared blocks of 2 MiB: taking one (or HPA_NONE), giving one; are more wanted? */
hpa_t frame_clear_block_take(void);
void frame_clear_block_give(hpa_t a);
bool frame_clear_blocks_wanted(void);

/*
 * Runs of allocated frames on a list that costs no memory; frame_list_free()
 * takes the lock once.  Owned by whoever holds the list.
 */
struct frame_list {
	uint32_t guest, hv;
};
void frame_list_add(struct frame_list *l, hpa_t a, uint64_t pages);
void frame_list_add_hv(struct frame_list *l, hpa_t a, uint64_t pages);
void frame_list_free(struct frame_list *l);

/* Of the pools alone; the CPUs' caches (mm/frame_cache.h) hold some more. */
struct frame_stats frame_stats(void);

/*
 * Physical memory as the hypervisor sees it.  Before paging_init() that is the
 * firmware's identity map, afterwards the direct map.
 */
void *hpa_to_ptr(hpa_t a);
hpa_t ptr_to_hpa(const void *p);
void frame_use_direct_map(void);
