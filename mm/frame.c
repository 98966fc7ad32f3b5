/* SPDX-License-Identifier: BSD-2-Clause */
/* frame: all page frames of the machine, in two pools. */
#include "mm/frame.h"

#include "hv/lock.h"
#include "hv/assert.h"
#include "mm/buddy.h"
#include "mm/paging.h"

#define HV_POOL_MIN   (16 * MIB)
#define HV_POOL_SHARE 32 /* a 32nd of all memory: nested tables need a 512th */

static struct lock frame_lock;
static struct buddy hv_pool, guest_pool;
static struct handoff_range hv_range;
static uint64_t direct_offset;

#define CLEAR_BLOCKS 16
/* Frames that stay free while blocks are cleared ahead: who runs short finds them. */
#define CLEAR_LEAVES (2 * CLEAR_BLOCKS * BIT64(BUDDY_ORDER_2M))
static hpa_t clear_block[CLEAR_BLOCKS];
static uint32_t clear_count;
static uint64_t guest_freed;

void *hpa_to_ptr(hpa_t a)
{
	return (void *)(a.v + direct_offset);
}

hpa_t ptr_to_hpa(const void *p)
{
	uint64_t v = (uint64_t)p;

	return HPA(v >= DIRECT_MAP_BASE ? v - DIRECT_MAP_BASE : v);
}

void frame_use_direct_map(void)
{
	hv_pool.meta = (void *)((uint64_t)hv_pool.meta + DIRECT_MAP_BASE);
	guest_pool.meta = (void *)((uint64_t)guest_pool.meta + DIRECT_MAP_BASE);
	direct_offset = DIRECT_MAP_BASE;
}

struct handoff_range frame_hv_range(void)
{
	return hv_range;
}

static uint64_t total_memory(const struct handoff *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->range_count; i++)
		sum += h->range[i].len;
	return sum;
}

/* Metadata for the frames [first, end) taken from the front of *at. */
static void make_pool(struct buddy *b, uint64_t first, uint64_t end, uint64_t *at)
{
	uint64_t base = align_down(first, BIT64(BUDDY_ORDER_1G)), n = end - base;
	struct buddy_meta *meta = (void *)*at;

	memset(meta, 0, n * sizeof(*meta));
	*at += align_up(n * sizeof(*meta), PAGE_SIZE);
	buddy_init(b, meta, base, n);
}

enum hv_status frame_init(const struct handoff *h)
{
	uint64_t top = 0, size, at, end, meta_size;
	const struct handoff_range *best = NULL;

	for (uint32_t i = 0; i < h->range_count; i++) {
		const struct handoff_range *r = &h->range[i];

		top = max_u64(top, r->base.v + r->len);
		/* Below 4 GiB: the other CPUs load CR3 while they are in 32-bit mode. */
		if (r->base.v + r->len <= 4 * GIB && (!best || r->len > best->len))
			best = r;
	}
	size = align_up(max_u64(total_memory(h) / HV_POOL_SHARE, HV_POOL_MIN), 2 * MIB);
	meta_size = align_up((top + GIB) / PAGE_SIZE * sizeof(struct buddy_meta), PAGE_SIZE);
	if (!best || best->len < size + 2 * meta_size + 2 * MIB)
		return HV_NOMEM;
	at = align_up(best->base.v, 2 * MIB);
	end = at + align_up(size + 2 * meta_size, 2 * MIB);
	if (end > best->base.v + best->len)
		return HV_NOMEM;
	hv_range = (struct handoff_range){ HPA(at), end - at };
	make_pool(&hv_pool, at / PAGE_SIZE, end / PAGE_SIZE, &at);
	make_pool(&guest_pool, 0, top / PAGE_SIZE, &at);
	buddy_add(&hv_pool, at / PAGE_SIZE, (end - at) / PAGE_SIZE);
	for (uint32_t i = 0; i < h->range_count; i++) {
		uint64_t b0 = h->range[i].base.v, e0 = b0 + h->range[i].len;

		if (&h->range[i] != best) {
			buddy_add(&guest_pool, b0 / PAGE_SIZE, (e0 - b0) / PAGE_SIZE);
			continue;
		}
		buddy_add(&guest_pool, b0 / PAGE_SIZE, (hv_range.base.v - b0) / PAGE_SIZE);
		buddy_add(&guest_pool, end / PAGE_SIZE, (e0 - end) / PAGE_SIZE);
	}
	return HV_OK;
}

static uint64_t pool_alloc(struct buddy *b, unsigned order)
{
	uint64_t pfn;

	lock(&frame_lock);
	pfn = buddy_alloc(b, order);
	unlock(&frame_lock);
	return pfn;
}

static void pool_free(struct buddy *b, uint64_t pfn, unsigned order)
{
	lock(&frame_lock);
	buddy_free(b, pfn, order);
	unlock(&frame_lock);
}

void *hv_pages_alloc(unsigned order)
{
	uint64_t pfn = pool_alloc(&hv_pool, order);
	void *p;

	if (pfn == BUDDY_NONE)
		return NULL;
	p = hpa_to_ptr(HPA(pfn << PAGE_SHIFT));
	memset(p, 0, PAGE_SIZE << order);
	return p;
}

void hv_pages_free(void *p, unsigned order)
{
	pool_free(&hv_pool, ptr_to_hpa(p).v >> PAGE_SHIFT, order);
}

hpa_t guest_frames_alloc(unsigned order)
{
	uint64_t pfn = pool_alloc(&guest_pool, order);

	return pfn == BUDDY_NONE ? HPA_NONE : HPA(pfn << PAGE_SHIFT);
}

void guest_frames_free(hpa_t a, unsigned order)
{
	pool_free(&guest_pool, a.v >> PAGE_SHIFT, order);
	__atomic_add_fetch(&guest_freed, 1, __ATOMIC_RELAXED);
}

uint32_t guest_frames_alloc_many(hpa_t *a, uint32_t n)
{
	uint32_t got = 0;

	lock(&frame_lock);
	for (; got < n; got++) {
		uint64_t pfn = buddy_alloc(&guest_pool, 0);

		if (pfn == BUDDY_NONE)
			break;
		a[got] = HPA(pfn << PAGE_SHIFT);
	}
	unlock(&frame_lock);
	return got;
}

uint64_t guest_frames_freed(void)
{
	return READ_ONCE(guest_freed);
}

/* ---- cleared blocks -------------------------------------------------------------- */

hpa_t frame_clear_block_take(void)
{
	hpa_t a = HPA_NONE;

	lock(&frame_lock);
	if (clear_count)
		a = clear_block[--clear_count];
	unlock(&frame_lock);
	return a;
}

void frame_clear_block_give(hpa_t a)
{
	lock(&frame_lock);
	if (clear_count < CLEAR_BLOCKS) {
		clear_block[clear_count++] = a;
		a = HPA_NONE;
	}
	unlock(&frame_lock);
	if (hpa_valid(a))
		guest_frames_free(a, BUDDY_ORDER_2M);
}

bool frame_clear_blocks_wanted(void)
{
	return READ_ONCE(clear_count) < CLEAR_BLOCKS && READ_ONCE(guest_pool.free) > CLEAR_LEAVES;
}

/* ---- lists --------------------------------------------------------------------------- */

void frame_list_add(struct frame_list *l, hpa_t a, uint64_t pages)
{
	buddy_chain(&guest_pool, &l->guest, a.v >> PAGE_SHIFT, (uint32_t)pages);
}

void frame_list_add_hv(struct frame_list *l, hpa_t a, uint64_t pages)
{
	buddy_chain(&hv_pool, &l->hv, a.v >> PAGE_SHIFT, (uint32_t)pages);
}

void frame_list_free(struct frame_list *l)
{
	lock(&frame_lock);
	if (l->guest)
		__atomic_add_fetch(&guest_freed, 1, __ATOMIC_RELAXED);
	buddy_free_chain(&guest_pool, &l->guest);
	buddy_free_chain(&hv_pool, &l->hv);
	unlock(&frame_lock);
}

struct frame_stats frame_stats(void)
{
	struct frame_stats s;

	lock(&frame_lock);
	s = (struct frame_stats){ hv_pool.total, hv_pool.free, guest_pool.total,
				  guest_pool.free + clear_count * BIT64(BUDDY_ORDER_2M) };
	unlock(&frame_lock);
	return s;
}
