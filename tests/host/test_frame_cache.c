/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mm/frame.h"
#include "mm/frame_cache.h"
#include "tests/host/random.h"

/* It is no PURE file, but all that it needs of the machine are these. */
#include "mm/frame_cache.c"

static struct {
	uint64_t left;	/* frames */
	bool no_large, no_huge;
	unsigned blocks; /* clear ones */
	bool wanted;
	unsigned given;
	uint64_t next, freed;
	int tables; /* pages of the hypervisor pool */
} pool;

static struct frame_cache c;

hpa_t guest_frames_alloc(unsigned order)
{
	uint64_t size = PAGE_SIZE << order;

	if (BIT64(order) > pool.left || (order == 9 && pool.no_large) || (order == 18 && pool.no_huge))
		return HPA_NONE;
	pool.left -= BIT64(order);
	pool.next = align_up(pool.next, size) + size;
	return HPA(pool.next - size);
}

void guest_frames_free(hpa_t a, unsigned order)
{
	assert_int_equal(a.v & ((PAGE_SIZE << order) - 1), 0);
	pool.left += BIT64(order);
	pool.freed++;
}

uint32_t guest_frames_alloc_many(hpa_t *a, uint32_t n)
{
	uint32_t got = 0;

	while (got < n && pool.left)
		a[got++] = guest_frames_alloc(0);
	return got;
}

uint64_t guest_frames_freed(void)
{
	return pool.freed;
}

hpa_t frame_clear_block_take(void)
{
	if (!pool.blocks)
		return HPA_NONE;
	pool.blocks--;
	pool.next = align_up(pool.next, 2 * MIB) + 2 * MIB;
	return HPA(pool.next - 2 * MIB);
}

void frame_clear_block_give(hpa_t a)
{
	assert_int_equal(a.v % (2 * MIB), 0);
	pool.blocks++;
	pool.given++;
}

bool frame_clear_blocks_wanted(void)
{
	return pool.wanted;
}

void *hv_pages_alloc(unsigned order)
{
	assert_int_equal(order, 0);
	if (!pool.tables)
		return NULL;
	pool.tables--;
	return calloc(1, PAGE_SIZE);
}

void hv_pages_free(void *p, unsigned order)
{
	assert_int_equal(order, 0);
	pool.tables++;
	free(p);
}

static void begin(uint64_t frames, int tables)
{
	memset(&pool, 0, sizeof(pool));
	pool.next = GIB;
	pool.left = frames;
	pool.tables = tables;
	frame_cache_init(&c);
}

static void give_back_tables(void)
{
	while (c.table_count)
		hv_pages_free(c.table[--c.table_count], 0);
}

static enum hv_status take(unsigned order, hpa_t *hpa, bool *is_clear)
{
	return frame_cache_take(&c, order, hpa, is_clear);
}

static void empty_until_filled(void **s)
{
	hpa_t hpa;
	bool clear;

	(void)s;
	begin(100000, 100);
	assert_true(c.low);
	assert_int_equal(take(0, &hpa, &clear), HV_RETRY);
	assert_int_equal(take(9, &hpa, &clear), HV_RETRY);
	assert_null(frame_cache_take_table(&c));
	assert_true(frame_cache_fill(&c));
	assert_false(c.low);
	assert_int_equal(take(0, &hpa, &clear), HV_OK);
	assert_false(clear);
	assert_int_equal(take(9, &hpa, &clear), HV_OK);
	assert_int_equal(hpa.v % (2 * MIB), 0);
	assert_true(c.low);
	give_back_tables();
}

static void no_memory_is_told_from_an_empty_stock(void **s)
{
	hpa_t hpa;
	bool clear;

	(void)s;
	begin(0, 100);
	assert_false(frame_cache_fill(&c));
	assert_int_equal(take(0, &hpa, &clear), HV_NOMEM);
	assert_int_equal(take(9, &hpa, &clear), HV_NOMEM);
	/* 1 GiB is looked for only when a fault has asked for it. */
	assert_int_equal(take(18, &hpa, &clear), HV_RETRY);
	assert_false(frame_cache_fill(&c));
	assert_int_equal(take(18, &hpa, &clear), HV_NOMEM);
	/* Something has come back: worth another try. */
	guest_frames_free(HPA(0), 0);
	assert_int_equal(take(0, &hpa, &clear), HV_RETRY);
	assert_int_equal(take(9, &hpa, &clear), HV_RETRY);
	assert_true(frame_cache_fill(&c));
	assert_int_equal(take(0, &hpa, &clear), HV_OK);
	assert_int_equal(take(0, &hpa, &clear), HV_RETRY);
	assert_false(frame_cache_fill(&c));
	assert_int_equal(take(0, &hpa, &clear), HV_NOMEM);
	give_back_tables();
}

static void one_gib(void **s)
{
	hpa_t hpa;
	bool clear;

	(void)s;
	begin(BIT64(18) + 2000, 100);
	assert_int_equal(take(18, &hpa, &clear), HV_RETRY);
	assert_true(frame_cache_fill(&c));
	assert_int_equal(take(18, &hpa, &clear), HV_OK);
	assert_false(clear);
	assert_int_equal(hpa.v % GIB, 0);
	assert_int_equal(take(18, &hpa, &clear), HV_RETRY);
	give_back_tables();
}

/* The last of the memory may be in blocks that are held back. */
static void large_blocks_are_broken_up(void **s)
{
	hpa_t hpa;
	bool clear;
	unsigned got = 0;

	(void)s;
	begin(1024 + 32, 100);
	assert_true(frame_cache_fill(&c));
	assert_int_equal(c.large_count, 2);
	assert_int_equal(pool.left, 0);
	do
		while (!take(0, &hpa, &clear))
			got++;
	while (frame_cache_fill(&c));
	assert_int_equal(got, 1024 + 32);
	assert_int_equal(take(0, &hpa, &clear), HV_NOMEM);
	give_back_tables();
}

static void clear_blocks_first(void **s)
{
	hpa_t hpa, first = HPA_NONE;
	bool clear;

	(void)s;
	begin(100000, 100);
	pool.blocks = 2;
	assert_true(frame_cache_fill(&c));
	for (uint64_t i = 0; i < 512; i++) {
		assert_int_equal(take(0, &hpa, &clear), HV_OK);
		assert_true(clear);
		if (!i)
			first = hpa;
		assert_int_equal(hpa.v, first.v + i * PAGE_SIZE);
	}
	assert_int_equal(first.v % (2 * MIB), 0);
	assert_int_equal(take(0, &hpa, &clear), HV_RETRY);
	/* The second is a large one; it is taken before it has been broken up. */
	assert_int_equal(take(9, &hpa, &clear), HV_OK);
	assert_false(clear);
	assert_int_equal(take(9, &hpa, &clear), HV_OK);
	assert_true(clear);
	give_back_tables();
}

static unsigned cleared;
static hpa_t last_cleared;

static void clear_frame(hpa_t hpa, unsigned order)
{
	assert_int_equal(order, 0);
	assert_true(!cleared || hpa.v == last_cleared.v + PAGE_SIZE);
	last_cleared = hpa;
	cleared++;
}

static void clears_ahead(void **s)
{
	(void)s;
	begin(512, 0);
	cleared = 0;
	assert_false(frame_cache_clean_ahead(&c, clear_frame));
	pool.wanted = true;
	for (unsigned i = 0; i < 512; i++) {
		assert_int_equal(pool.given, 0);
		assert_true(frame_cache_clean_ahead(&c, clear_frame));
		assert_int_equal(frame_cache_guest_frames(&c), i < 511 ? 512 : 0);
	}
	assert_int_equal(cleared, 512);
	assert_int_equal(pool.given, 1);
	/* No other block is left. */
	assert_false(frame_cache_clean_ahead(&c, clear_frame));
	assert_int_equal(cleared, 512);
}

static void tables(void **s)
{
	uint64_t *t[FRAME_CACHE_TABLE + 2];
	unsigned n = 0;

	(void)s;
	begin(1000, FRAME_CACHE_TABLE + 2);
	/* In a fault the pool is not asked. */
	assert_null(frame_cache_take_table(&c));
	c.may_fill = true;
	while (n < ARRAY_SIZE(t) && (t[n] = frame_cache_take_table(&c))) {
		for (unsigned i = 0; i < 512; i++)
			assert_int_equal(t[n][i], 0);
		memset(t[n++], 0xff, PAGE_SIZE);
	}
	assert_int_equal(n, FRAME_CACHE_TABLE + 2);
	assert_null(frame_cache_take_table(&c));
	while (n)
		frame_cache_give_table(&c, t[--n]);
	assert_int_equal(c.table_count, FRAME_CACHE_TABLE);
	assert_int_equal(pool.tables, 2);
	/* Zeroed again. */
	t[0] = frame_cache_take_table(&c);
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(t[0][i], 0);
	frame_cache_give_table(&c, t[0]);
	give_back_tables();
	assert_int_equal(pool.tables, FRAME_CACHE_TABLE + 2);
}

/* Whatever is done: no frame is lost, and the count is right. */
static void nothing_is_lost(void **s)
{
	static struct {
		hpa_t hpa;
		unsigned order;
	} out[4096];
	const uint64_t total = BIT64(19);

	(void)s;
	for (unsigned round = 0; round < 30; round++) {
		unsigned n = 0;
		uint64_t held = 0;

		begin(total, 100);
		pool.wanted = round % 2;
		cleared = 0;
		for (unsigned i = 0; i < 2000; i++) {
			static const unsigned orders[] = {0, 0, 0, 0, 0, 0, 9, 18};
			unsigned what = below(8), order = orders[below(8)];
			bool clear;

			pool.no_huge = below(4);
			if (what < 4 && !take(order, &out[n].hpa, &clear)) {
				out[n++].order = order;
				held += BIT64(order);
			} else if (what == 4 && n) {
				unsigned k = below(n);

				frame_cache_give(&c, out[k].hpa, out[k].order);
				held -= BIT64(out[k].order);
				out[k] = out[--n];
			} else if (what == 5) {
				(void)frame_cache_fill(&c);
			} else if (what == 6) {
				cleared = 0;
				frame_cache_clean_ahead(&c, clear_frame);
			} else if (what == 7 && !below(50)) {
				frame_cache_drain(&c);
				assert_int_equal(frame_cache_guest_frames(&c), 0);
			}
			assert_int_equal(held + frame_cache_guest_frames(&c) + pool.left +
						 pool.blocks * 512, total);
		}
		while (n) {
			n--;
			frame_cache_give(&c, out[n].hpa, out[n].order);
		}
		frame_cache_drain(&c);
		assert_int_equal(pool.left + pool.blocks * 512, total);
		/* Tables too; and nothing is fetched back before somebody needs it. */
		assert_int_equal(c.table_count, 0);
		assert_false(c.low);
		give_back_tables();
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(empty_until_filled),
		cmocka_unit_test(no_memory_is_told_from_an_empty_stock),
		cmocka_unit_test(one_gib),
		cmocka_unit_test(large_blocks_are_broken_up),
		cmocka_unit_test(clear_blocks_first),
		cmocka_unit_test(clears_ahead),
		cmocka_unit_test(tables),
		cmocka_unit_test(nothing_is_lost),
	};
	return cmocka_run_group_tests_name("frame_cache", t, NULL, NULL);
}
