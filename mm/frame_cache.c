/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_cache: each CPU's own stock of frames and table pages. */
#include "mm/frame_cache.h"

#include "hv/assert.h"
#include "mm/buddy.h"
#include "mm/frame.h"

#define SMALL_LOW 8
#define TABLE_LOW 8
#define BLOCK_FRAMES BIT(BUDDY_ORDER_2M)

void frame_cache_init(struct frame_cache *c)
{
	*c = (struct frame_cache){ .low = true, .huge = HPA_NONE, .cleaning = HPA_NONE,
				   .dry = { ~0ULL, ~0ULL, ~0ULL } };
}

static unsigned dry_index(unsigned order)
{
	return order / BUDDY_ORDER_2M;
}

static enum hv_status none(struct frame_cache *c, unsigned order)
{
	c->low = true;
	if (order == BUDDY_ORDER_1G)
		c->want_huge = true;
	return c->dry[dry_index(order)] == guest_frames_freed() ? HV_NOMEM : HV_RETRY;
}

static enum hv_status take_small(struct frame_cache *c, hpa_t *hpa, bool *is_clear)
{
	*is_clear = c->open_left;
	if (c->open_left)
		*hpa = HPA(c->open_end.v - c->open_left-- * PAGE_SIZE);
	else if (c->small_count)
		*hpa = c->small[--c->small_count];
	else
		return none(c, 0);
	if (c->open_left + c->small_count < SMALL_LOW)
		c->low = true;
	return HV_OK;
}

enum hv_status frame_cache_take(struct frame_cache *c, unsigned order, hpa_t *hpa, bool *is_clear)
{
	if (!order)
		return take_small(c, hpa, is_clear);
	if (order == BUDDY_ORDER_2M && c->large_count) {
		*hpa = c->large[--c->large_count].hpa;
		*is_clear = c->large[c->large_count].is_clear;
		c->low = true;
		return HV_OK;
	}
	if (order == BUDDY_ORDER_1G && hpa_valid(c->huge)) {
		*hpa = c->huge;
		*is_clear = false;
		c->huge = HPA_NONE;
		return HV_OK;
	}
	return none(c, order);
}

void frame_cache_give(struct frame_cache *c, hpa_t hpa, unsigned order)
{
	if (!order && c->small_count < FRAME_CACHE_SMALL)
		c->small[c->small_count++] = hpa;
	else
		guest_frames_free(hpa, order);
}

static void fill_tables(struct frame_cache *c)
{
	while (c->table_count < FRAME_CACHE_TABLE) {
		void *t = hv_pages_alloc(0);

		if (!t)
			break;
		c->table[c->table_count++] = t;
	}
}

void *frame_cache_take_table(struct frame_cache *c)
{
	if (c->table_count <= TABLE_LOW)
		c->low = true;
	if (!c->table_count && c->may_fill)
		fill_tables(c);
	return c->table_count ? c->table[--c->table_count] : NULL;
}

void frame_cache_give_table(struct frame_cache *c, void *table)
{
	if (c->table_count == FRAME_CACHE_TABLE) {
		hv_pages_free(table, 0);
		return;
	}
	memset(table, 0, PAGE_SIZE);
	c->table[c->table_count++] = table;
}

/* ---- filling ----------------------------------------------------------------- */

/* The lowest on top: neighbours in use stay neighbours, and go back as one block. */
static void take_from_pool(struct frame_cache *c)
{
	hpa_t *low = c->small + c->small_count, *high;

	c->small_count += guest_frames_alloc_many(low, FRAME_CACHE_SMALL / 2);
	for (high = c->small + c->small_count - 1; low < high; low++, high--) {
		hpa_t a = *low;

		*low = *high;
		*high = a;
	}
}

static void fill_small(struct frame_cache *c)
{
	hpa_t block;

	if (!c->open_left) {
		block = frame_clear_block_take();
		if (hpa_valid(block)) {
			c->open_left = BLOCK_FRAMES;
			c->open_end = HPA(block.v + BLOCK_FRAMES * PAGE_SIZE);
			return;
		}
	}
	take_from_pool(c);
	/* The last of the memory may be in the large blocks that we hold back. */
	if (!c->small_count && !c->open_left && c->large_count) {
		guest_frames_free(c->large[--c->large_count].hpa, BUDDY_ORDER_2M);
		take_from_pool(c);
	}
	if (!c->small_count && !c->open_left)
		c->dry[0] = guest_frames_freed();
}

static void fill_large(struct frame_cache *c)
{
	while (c->large_count < FRAME_CACHE_LARGE) {
		struct frame_cache_block *b = &c->large[c->large_count];

		b->hpa = frame_clear_block_take();
		b->is_clear = hpa_valid(b->hpa);
		if (!b->is_clear)
			b->hpa = guest_frames_alloc(BUDDY_ORDER_2M);
		if (!hpa_valid(b->hpa)) {
			c->dry[1] = guest_frames_freed();
			break;
		}
		c->large_count++;
	}
}

static void fill_huge(struct frame_cache *c)
{
	c->want_huge = false;
	c->huge = guest_frames_alloc(BUDDY_ORDER_1G);
	if (!hpa_valid(c->huge))
		c->dry[2] = guest_frames_freed();
}

bool frame_cache_fill(struct frame_cache *c)
{
	if (c->want_huge)
		fill_huge(c);
	if (c->open_left + c->small_count < SMALL_LOW)
		fill_small(c);
	fill_large(c);
	if (c->table_count <= TABLE_LOW)
		fill_tables(c);
	c->low = false;
	return c->table_count && (c->open_left || c->small_count);
}

void frame_cache_drain(struct frame_cache *c)
{
	for (; c->open_left; c->open_left--)
		guest_frames_free(HPA(c->open_end.v - c->open_left * PAGE_SIZE), 0);
	while (c->small_count)
		guest_frames_free(c->small[--c->small_count], 0);
	while (c->large_count)
		guest_frames_free(c->large[--c->large_count].hpa, BUDDY_ORDER_2M);
	if (hpa_valid(c->huge))
		guest_frames_free(c->huge, BUDDY_ORDER_1G);
	if (hpa_valid(c->cleaning))
		guest_frames_free(c->cleaning, BUDDY_ORDER_2M);
	c->huge = c->cleaning = HPA_NONE;
	while (c->table_count)
		hv_pages_free(c->table[--c->table_count], 0);
	/* Whoever runs dry asks for more; until then all of it is for who does now. */
	c->low = false;
}

bool frame_cache_clean_ahead(struct frame_cache *c, void (*clear)(hpa_t hpa, unsigned order))
{
	if (!hpa_valid(c->cleaning)) {
		if (!frame_clear_blocks_wanted())
			return false;
		c->cleaning = guest_frames_alloc(BUDDY_ORDER_2M);
		c->cleaned = 0;
		if (!hpa_valid(c->cleaning))
			return false;
	}
	clear(HPA(c->cleaning.v + c->cleaned * PAGE_SIZE), 0);
	if (++c->cleaned == BLOCK_FRAMES) {
		frame_clear_block_give(c->cleaning);
		c->cleaning = HPA_NONE;
	}
	return true;
}

uint64_t frame_cache_guest_frames(const struct frame_cache *c)
{
	return c->open_left + c->small_count + c->large_count * BLOCK_FRAMES +
	       (hpa_valid(c->huge) ? BIT64(BUDDY_ORDER_1G) : 0) +
	       (hpa_valid(c->cleaning) ? BLOCK_FRAMES : 0);
}
