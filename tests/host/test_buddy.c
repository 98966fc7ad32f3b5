/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mm/buddy.h"

#define FRAMES (3u << 18)

static struct buddy_meta *meta;
static struct buddy b;

static int setup(void **s)
{
	(void)s;
	meta = calloc(FRAMES, sizeof(*meta));
	buddy_init(&b, meta, 1u << 18, FRAMES);
	return 0;
}

static int teardown(void **s)
{
	(void)s;
	free(meta);
	return 0;
}

static void empty_gives_nothing(void **s)
{
	(void)s;
	assert_true(buddy_alloc(&b, 0) == BUDDY_NONE);
}

static void blocks_are_aligned_and_merge_again(void **s)
{
	uint64_t one, two, giga;

	(void)s;
	buddy_add(&b, 2u << 18, 1u << 18);
	one = buddy_alloc(&b, 0);
	two = buddy_alloc(&b, BUDDY_ORDER_2M);
	assert_true(one != BUDDY_NONE && two % 512 == 0);
	assert_true(buddy_alloc(&b, BUDDY_ORDER_1G) == BUDDY_NONE);
	buddy_free(&b, one, 0);
	buddy_free(&b, two, BUDDY_ORDER_2M);
	giga = buddy_alloc(&b, BUDDY_ORDER_1G);
	assert_true(giga == 2u << 18);
	assert_int_equal(b.free, 0);
}

static void holes_are_never_given(void **s)
{
	uint8_t *seen = calloc(FRAMES, 1);
	uint64_t p, n = 0;

	(void)s;
	buddy_add(&b, (1u << 18) + 5, 1000);
	buddy_add(&b, (2u << 18) + 511, 2);
	while ((p = buddy_alloc(&b, 0)) != BUDDY_NONE) {
		uint64_t i = p - (1u << 18);

		assert_false(seen[i]++);
		assert_true((i >= 5 && i < 1005) || (i >= FRAMES / 3 + 511 && i < FRAMES / 3 + 513));
		n++;
	}
	assert_int_equal(n, 1002);
	free(seen);
}

/* A block may go back in parts, and parts as one block. */
static void parts_and_wholes(void **s)
{
	uint64_t whole, part[8], free_before;
	uint32_t chain = 0;

	(void)s;
	buddy_add(&b, 1u << 18, 1024);
	free_before = b.free;
	whole = buddy_alloc(&b, 9);
	buddy_free(&b, whole + 256, 7);
	buddy_free(&b, whole + 5, 0);
	assert_int_equal(b.free, free_before - 512 + 128 + 1);
	buddy_free(&b, whole + 384, 7);
	buddy_free(&b, whole + 4, 0);
	buddy_free(&b, whole + 6, 1);
	buddy_free(&b, whole, 2);
	for (unsigned o = 3; o < 8; o++)
		buddy_free(&b, whole + (1u << o), o);
	assert_int_equal(b.free, free_before);
	assert_int_not_equal(buddy_alloc(&b, 9), BUDDY_NONE);
	whole = buddy_alloc(&b, 9);
	assert_int_not_equal(whole, BUDDY_NONE);
	/* All there is is out: cut into eight, and given back by one chain of two runs. */
	for (unsigned i = 0; i < 8; i++)
		buddy_free(&b, whole + i * 64, 6);
	for (unsigned i = 0; i < 8; i++)
		part[i] = buddy_alloc(&b, 6);
	assert_int_equal(b.free, 0);
	for (unsigned i = 0; i < 8; i++)
		assert_true(part[i] >= whole && part[i] < whole + 512);
	buddy_chain(&b, &chain, whole, 192);
	buddy_chain(&b, &chain, whole + 192, 320);
	buddy_free_chain(&b, &chain);
	assert_int_equal(chain, 0);
	assert_int_equal(b.free, 512);
	assert_int_equal(buddy_alloc(&b, 9), whole);
}

/* Random allocations and frees: no frame is out twice and the count stays true. */
static void random_traffic_keeps_the_books(void **s)
{
	enum { N = 400 };
	uint64_t pfn[N] = { 0 };
	unsigned order[N] = { 0 };
	uint8_t *owner = calloc(FRAMES, 1);
	uint64_t out = 0;

	(void)s;
	srand(7);
	buddy_add(&b, (1u << 18) + 3, FRAMES - 10);
	for (int turn = 0; turn < 40000; turn++) {
		int k = rand() % N;

		if (pfn[k]) {
			memset(owner + pfn[k] - (1u << 18), 0, 1u << order[k]);
			buddy_free(&b, pfn[k], order[k]);
			out -= 1u << order[k];
			pfn[k] = 0;
			continue;
		}
		order[k] = (unsigned)rand() % 11;
		pfn[k] = buddy_alloc(&b, order[k]);
		if (pfn[k] == BUDDY_NONE) {
			pfn[k] = 0;
			continue;
		}
		for (uint64_t i = 0; i < 1u << order[k]; i++)
			assert_false(owner[pfn[k] - (1u << 18) + i]++);
		out += 1u << order[k];
		assert_int_equal(b.free + out, b.total);
	}
	free(owner);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(empty_gives_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_are_aligned_and_merge_again, setup, teardown),
		cmocka_unit_test_setup_teardown(holes_are_never_given, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_and_wholes, setup, teardown),
		cmocka_unit_test_setup_teardown(random_traffic_keeps_the_books, setup, teardown),
	};
	return cmocka_run_group_tests_name("buddy", t, NULL, NULL);
}
