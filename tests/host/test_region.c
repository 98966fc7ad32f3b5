/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mm/region.h"

static void refuses(void **s)
{
	struct region_map m = {0};

	(void)s;
	assert_int_equal(region_add(&m, 0, 0, REGION_RAM), HV_INVAL);
	assert_int_equal(region_add(&m, 1, 0x1000, REGION_RAM), HV_INVAL);
	assert_int_equal(region_add(&m, 0, 0x800, REGION_RAM), HV_INVAL);
	assert_int_equal(region_add(&m, BIT64(48), 0x1000, REGION_RAM), HV_RANGE);
	assert_int_equal(region_add(&m, BIT64(48) - 0x1000, 0x2000, REGION_RAM), HV_RANGE);
	assert_int_equal(region_add(&m, 0x1000, 0xfffffffffffff000, REGION_RAM), HV_RANGE);
	assert_int_equal(m.count, 0);
	assert_int_equal(region_add(&m, BIT64(48) - 0x1000, 0x1000, REGION_RAM), HV_OK);
}

static void refuses_overlap(void **s)
{
	struct region_map m = {0};

	(void)s;
	assert_int_equal(region_add(&m, 0x10000, 0x10000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0x10000, 0x10000, REGION_RAM), HV_EXIST);
	assert_int_equal(region_add(&m, 0xf000, 0x2000, REGION_MMIO), HV_EXIST);
	assert_int_equal(region_add(&m, 0x1f000, 0x2000, REGION_MMIO), HV_EXIST);
	assert_int_equal(region_add(&m, 0x14000, 0x1000, REGION_MMIO), HV_EXIST);
	assert_int_equal(region_add(&m, 0x0, 0x100000, REGION_MMIO), HV_EXIST);
	assert_int_equal(m.count, 1);
	assert_int_equal(region_add(&m, 0xf000, 0x1000, REGION_MMIO), HV_OK);
	assert_int_equal(region_add(&m, 0x20000, 0x1000, REGION_MMIO), HV_OK);
	assert_int_equal(m.count, 3);
}

static void is_full_once(void **s)
{
	struct region_map m = {0};

	(void)s;
	for (unsigned i = 0; i < REGION_MAX; i++)
		assert_int_equal(region_add(&m, i * 0x2000, 0x1000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0x1000, 0x1000, REGION_MMIO), HV_NOMEM);
	assert_int_equal(m.count, REGION_MAX);
	/* What joins its neighbours needs no room; a hole in the middle does. */
	assert_int_equal(region_add(&m, 0x1000, 0x1000, REGION_RAM), HV_OK);
	assert_int_equal(m.count, REGION_MAX - 1);
	assert_int_equal(region_remove(&m, 0x1000, 0x1000), HV_OK);
	assert_int_equal(m.count, REGION_MAX);
}

static void joins_neighbours(void **s)
{
	struct region_map m = {0};

	(void)s;
	assert_int_equal(region_add(&m, 0x10000, 0x10000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0x20000, 0x1000, REGION_MMIO), HV_OK);
	assert_int_equal(region_add(&m, 0x8000, 0x8000, REGION_RAM), HV_OK);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.r[0].base, 0x8000);
	assert_int_equal(m.r[0].len, 0x18000);
	assert_int_equal(m.r[1].kind, REGION_MMIO);
}

static void removes(void **s)
{
	struct region_map m = {0}, full = {0};

	(void)s;
	assert_int_equal(region_add(&m, 0x10000, 0x10000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0x30000, 0x10000, REGION_RAM), HV_OK);
	assert_int_equal(region_remove(&m, 0x10800, 0x1000), HV_INVAL);
	assert_int_equal(region_remove(&m, 0x10000, 0), HV_INVAL);
	assert_int_equal(region_remove(&m, 0xfffffffffffff000, 0x2000), HV_INVAL);
	assert_int_equal(region_remove(&m, 0x14000, 0x1000), HV_OK);
	assert_int_equal(m.count, 3);
	assert_null(region_find(&m, GPA(0x14000)));
	assert_non_null(region_find(&m, GPA(0x13fff)));
	assert_non_null(region_find(&m, GPA(0x15000)));
	/* Across several, and what was not there. */
	assert_int_equal(region_remove(&m, 0x18000, 0x20000), HV_OK);
	assert_int_equal(m.count, 3);
	assert_int_equal(m.r[1].len, 0x3000);
	assert_int_equal(m.r[2].base, 0x38000);
	assert_int_equal(region_remove(&m, 0, BIT64(40)), HV_OK);
	assert_int_equal(m.count, 0);
	for (unsigned i = 0; i < REGION_MAX; i++)
		assert_int_equal(region_add(&full, i * 0x4000, 0x3000, REGION_RAM), HV_OK);
	m = full;
	assert_int_equal(region_remove(&full, 0x1000, 0x1000), HV_NOMEM);
	assert_memory_equal(&m, &full, sizeof(m));
}

static void finds(void **s)
{
	struct region_map m = {0};

	(void)s;
	assert_null(region_find(&m, GPA(0)));
	assert_int_equal(region_add(&m, 0x100000, 0x100000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0, 0xa0000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&m, 0xfee00000, 0x1000, REGION_MMIO), HV_OK);
	assert_int_equal(region_find(&m, GPA(0))->len, 0xa0000);
	assert_int_equal(region_find(&m, GPA(0x9ffff))->len, 0xa0000);
	assert_null(region_find(&m, GPA(0xa0000)));
	assert_null(region_find(&m, GPA(0xfffff)));
	assert_int_equal(region_find(&m, GPA(0x1fffff))->base, 0x100000);
	assert_null(region_find(&m, GPA(0x200000)));
	assert_int_equal(region_find(&m, GPA(0xfee00fff))->kind, REGION_MMIO);
	assert_null(region_find(&m, GPA(UINT64_MAX)));
}

static void leaf_sizes(void **s)
{
	const struct region r = {0x100000, 4 * GIB - 0x100000, REGION_RAM};
	const struct region odd = {0x201000, 0x3ff000, REGION_RAM};

	(void)s;
	assert_int_equal(region_leaf_shift(&r, GPA(0x100000), 30), 12);
	assert_int_equal(region_leaf_shift(&r, GPA(0x1fffff), 30), 12);
	assert_int_equal(region_leaf_shift(&r, GPA(0x200000), 30), 21);
	assert_int_equal(region_leaf_shift(&r, GPA(0x3fffffff), 30), 21);
	assert_int_equal(region_leaf_shift(&r, GPA(0x40000000), 30), 30);
	assert_int_equal(region_leaf_shift(&r, GPA(0xffffffff), 30), 30);
	assert_int_equal(region_leaf_shift(&r, GPA(0xffffffff), 21), 21);
	assert_int_equal(region_leaf_shift(&r, GPA(0xffffffff), 12), 12);
	assert_int_equal(region_leaf_shift(&odd, GPA(0x3fffff), 30), 12);
	assert_int_equal(region_leaf_shift(&odd, GPA(0x400000), 30), 21);
}

/* Against one byte a page. */
static void random_maps(void **s)
{
	enum { PAGES = 256 };

	(void)s;
	srand(2);
	for (unsigned round = 0; round < 500; round++) {
		struct region_map m = {0};
		uint8_t owner[PAGES] = {0};

		for (unsigned i = 1; i < 60; i++) {
			unsigned at = (unsigned)rand() % PAGES, n = 1 + (unsigned)rand() % 12;
			bool free = true;
			enum hv_status st;

			n = n < PAGES - at ? n : PAGES - at;
			for (unsigned p = at; p < at + n; p++)
				free &= !owner[p];
			st = region_add(&m, at * PAGE_SIZE, n * PAGE_SIZE, i & 1 ? REGION_RAM : REGION_MMIO);
			if (!free)
				assert_int_equal(st, HV_EXIST);
			else if (st)
				assert_true(st == HV_NOMEM && m.count == REGION_MAX);
			for (unsigned p = at; p < at + n && !st; p++)
				owner[p] = (uint8_t)(1 + (i & 1));
		}
		for (unsigned p = 0; p < PAGES; p++) {
			const struct region *r = region_find(&m, GPA(p * PAGE_SIZE + 0xfff));

			assert_int_equal(!!r, !!owner[p]);
			if (r)
				assert_int_equal(r->kind, owner[p] == 2 ? REGION_RAM : REGION_MMIO);
		}
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refuses),	cmocka_unit_test(refuses_overlap),
		cmocka_unit_test(is_full_once), cmocka_unit_test(joins_neighbours), cmocka_unit_test(removes), cmocka_unit_test(finds),
		cmocka_unit_test(leaf_sizes),	cmocka_unit_test(random_maps),
	};
	return cmocka_run_group_tests_name("region", t, NULL, NULL);
}
