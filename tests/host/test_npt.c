/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_npt.h"

#include <stdlib.h>

static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};
static struct npt n;

static void create(const struct npt_fmt *fmt)
{
	fake_npt_init();
	assert_int_equal(npt_create(&n, fmt, &fake_npt.env), HV_OK);
	assert_int_equal(fake_npt.in_use, 1);
}

struct seen {
	unsigned count;
	struct npt_leaf leaf[600];
};

static void see(void *arg, const struct npt_leaf *leaf)
{
	struct seen *s = arg;

	assert_true(s->count < ARRAY_SIZE(s->leaf));
	s->leaf[s->count++] = *leaf;
}

/* Everything goes back, and the leaves are those expected. */
static void destroy(unsigned leaves)
{
	struct seen s = {0};

	npt_destroy(&n, see, &s);
	assert_int_equal(s.count, leaves);
	assert_int_equal(fake_npt.in_use, 0);
	assert_null(n.root);
	npt_destroy(&n, see, &s);
	assert_int_equal(s.count, leaves);
}

static void map(uint64_t gpa, uint64_t hpa, unsigned shift)
{
	assert_int_equal(npt_map(&n, GPA(gpa), HPA(hpa), shift, NPT_RWX), HV_OK);
}

static void assert_maps(uint64_t gpa, uint64_t hpa, unsigned shift, unsigned perms)
{
	struct npt_leaf l;

	assert_true(npt_lookup(&n, GPA(gpa), &l));
	assert_int_equal(l.hpa.v, hpa);
	assert_int_equal(l.shift, shift);
	assert_int_equal(l.perms, perms);
}

static bool maps(uint64_t gpa)
{
	struct npt_leaf l;

	return npt_lookup(&n, GPA(gpa), &l);
}

static void every_level(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (unsigned shift = 12; shift <= 30; shift += 9) {
			uint64_t size = BIT64(shift), gpa = 0x7fc0000000, hpa = 0x40000000;

			create(fmts[f]);
			assert_false(maps(gpa));
			assert_int_equal(npt_map(&n, GPA(gpa), HPA(hpa), shift, NPT_READ | NPT_EXEC), HV_OK);
			assert_maps(gpa, hpa, shift, NPT_READ | NPT_EXEC);
			assert_maps(gpa + size - 1, hpa, shift, NPT_READ | NPT_EXEC);
			assert_false(maps(gpa + size));
			assert_false(maps(gpa - 1));
			assert_int_equal(fake_npt.in_use, 1 + (39 - shift) / 9);
			destroy(1);
		}
	}
}

static void room(void **s)
{
	struct seen seen = {0};

	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		create(fmts[f]);
		assert_int_equal(npt_room(&n, GPA(0)), 39);
		assert_int_equal(npt_room(&n, GPA(BIT64(48) - 1)), 39);
		assert_int_equal(npt_room(&n, GPA(BIT64(48))), 0);
		map(0x40201000, 0x5000, 12);
		assert_int_equal(npt_room(&n, GPA(0x40201fff)), 0);
		assert_int_equal(npt_room(&n, GPA(0x40200000)), 12);
		assert_int_equal(npt_room(&n, GPA(0x40400000)), 21);
		assert_int_equal(npt_room(&n, GPA(0x80000000)), 30);
		assert_int_equal(npt_room(&n, GPA(BIT64(39))), 39);
		map(0x80000000, 0x40000000, 30);
		assert_int_equal(npt_room(&n, GPA(0xbfffffff)), 0);
		assert_int_equal(npt_freeze(&n, GPA(0x40201000), 0x1000, see, &seen), 1);
		assert_int_equal(npt_room(&n, GPA(0x40201000)), 0);
		npt_thaw(&n, GPA(0x40201000), 0x1000);
		assert_int_equal(npt_room(&n, GPA(0x40201000)), 12);
		destroy(1);
		seen.count = 0;
	}
}

static void out_of_range(void **s)
{
	(void)s;
	create(&npt_fmt_ept);
	assert_int_equal(npt_map(&n, GPA(BIT64(48)), HPA(0), 12, NPT_RWX), HV_RANGE);
	assert_int_equal(npt_map(&n, GPA(UINT64_MAX & ~0xfffULL), HPA(0), 12, NPT_RWX), HV_RANGE);
	assert_false(maps(BIT64(48)));
	assert_false(maps(UINT64_MAX));
	map(BIT64(48) - 0x1000, 0x1000, 12);
	assert_false(maps(BIT64(49) - 0x1000));
	destroy(1);
}

static void no_table_page(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (int left = 0; left < 3; left++) {
			create(fmts[f]);
			map(0x200000, 0x200000, 21);
			fake_npt.left = left;
			/* Three tables are missing. */
			assert_int_equal(npt_map(&n, GPA(BIT64(40)), HPA(0x1000), 12, NPT_RWX), HV_NOMEM);
			assert_false(maps(BIT64(40)));
			assert_maps(0x200000, 0x200000, 21, NPT_RWX);
			fake_npt.left = 3 - left;
			map(BIT64(40), 0x1000, 12);
			destroy(2);
		}
	}
	fake_npt_init();
	fake_npt.left = 0;
	assert_int_equal(npt_create(&n, &npt_fmt_ept, &fake_npt.env), HV_NOMEM);
	destroy(0);
}

static void exists(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		create(fmts[f]);
		map(0x201000, 0x5000, 12);
		map(0x40000000, 0x80000000, 30);
		map(0x600000, 0xa00000, 21);
		/* The same again. */
		assert_int_equal(npt_map(&n, GPA(0x201000), HPA(0x9000), 12, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x600000), HPA(0x9000), 21, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x40000000), HPA(0), 30, NPT_RWX), HV_EXIST);
		/* Below a larger leaf. */
		assert_int_equal(npt_map(&n, GPA(0x40001000), HPA(0x9000), 12, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x40200000), HPA(0x9000), 21, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x601000), HPA(0x9000), 12, NPT_RWX), HV_EXIST);
		/* Above a table. */
		assert_int_equal(npt_map(&n, GPA(0x200000), HPA(0), 21, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0), HPA(0), 30, NPT_RWX), HV_EXIST);
		assert_maps(0x201000, 0x5000, 12, NPT_RWX);
		assert_maps(0x40001000, 0x80000000, 30, NPT_RWX);
		destroy(3);
	}
}

static void map_first(void *arg)
{
	const uint64_t *gpa = arg;

	map(*gpa, 0x111000, 12);
}

/* Another CPU links the table between the look and the swap. */
static void lost_race_frees_its_table(void **s)
{
	uint64_t neighbour = 0x202000, same = 0x201000;

	(void)s;
	create(&npt_fmt_ept);
	fake_npt.race = map_first;
	fake_npt.race_arg = &neighbour;
	map(0x201000, 0x222000, 12);
	assert_maps(0x201000, 0x222000, 12, NPT_RWX);
	assert_maps(0x202000, 0x111000, 12, NPT_RWX);
	assert_int_equal(fake_npt.in_use, 4);
	destroy(2);

	create(&npt_fmt_ept);
	fake_npt.race = map_first;
	fake_npt.race_arg = &same;
	assert_int_equal(npt_map(&n, GPA(0x201000), HPA(0x222000), 12, NPT_RWX), HV_EXIST);
	assert_maps(0x201000, 0x111000, 12, NPT_RWX);
	assert_int_equal(fake_npt.in_use, 4);
	destroy(1);
}

static void freeze_and_thaw(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		struct seen seen = {0};

		create(fmts[f]);
		map(0x1ff000, 0x1000, 12);
		map(0x200000, 0x200000, 21);
		map(0x400000, 0x3000, 12);
		map(0x401000, 0x4000, 12);
		assert_int_equal(npt_freeze(&n, GPA(0x200000), 0x201000, see, &seen), 2);
		assert_int_equal(seen.count, 2);
		assert_int_equal(seen.leaf[0].hpa.v, 0x200000);
		assert_int_equal(seen.leaf[0].shift, 21);
		assert_int_equal(seen.leaf[1].hpa.v, 0x3000);
		assert_int_equal(seen.leaf[1].shift, 12);
		assert_false(maps(0x200000) || maps(0x400000));
		assert_true(maps(0x1ff000) && maps(0x401000));
		/* Nothing can be put there until the flush is over. */
		assert_int_equal(npt_map(&n, GPA(0x200000), HPA(0), 21, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x201000), HPA(0), 12, NPT_RWX), HV_EXIST);
		assert_int_equal(npt_map(&n, GPA(0x400000), HPA(0), 12, NPT_RWX), HV_EXIST);
		/* A second time finds nothing. */
		assert_int_equal(npt_freeze(&n, GPA(0x200000), 0x201000, see, &seen), 0);
		npt_thaw(&n, GPA(0x200000), 0x201000);
		assert_true(maps(0x1ff000) && maps(0x401000));
		map(0x201000, 0x7000, 12);
		map(0x400000, 0x8000, 12);
		destroy(4);
	}
}

static void frozen_at_the_end(void **s)
{
	struct seen seen = {0};

	(void)s;
	create(&npt_fmt_npt);
	map(0x1000, 0x1000, 12);
	map(0x2000, 0x2000, 12);
	assert_int_equal(npt_freeze(&n, GPA(0x1000), 0x1000, see, &seen), 1);
	destroy(1);
}

/* Its frame must not stay mapped when only a part of it goes. */
static void freeze_takes_the_leaf_around(void **s)
{
	struct seen seen = {0};

	(void)s;
	create(&npt_fmt_ept);
	map(0x40000000, 0x40000000, 30);
	assert_int_equal(npt_freeze(&n, GPA(0x40201000), 0x1000, see, &seen), 1);
	assert_int_equal(seen.leaf[0].hpa.v, 0x40000000);
	npt_thaw(&n, GPA(0x40201000), 0x1000);
	map(0x40000000, 0x40000000, 30);
	destroy(1);
}

static void freeze_of_nothing(void **s)
{
	struct seen seen = {0};

	(void)s;
	create(&npt_fmt_ept);
	map(0x200000, 0x1000, 12);
	assert_int_equal(npt_freeze(&n, GPA(0x200000), 0, see, &seen), 0);
	assert_int_equal(npt_freeze(&n, GPA(0x201000), BIT64(47), see, &seen), 0);
	npt_thaw(&n, GPA(0), BIT64(48));
	assert_maps(0x200000, 0x1000, 12, NPT_RWX);
	assert_int_equal(npt_freeze(&n, GPA(0), BIT64(48), see, &seen), 1);
	destroy(0);
}

/* ---- random operations against a map with an entry a page ----------------------- */

#define PAGES 4096 /* 16 MiB: eight areas of 2 MiB */

struct model {
	uint64_t hpa[PAGES]; /* of the leaf; 0: not mapped, 1: frozen */
	uint8_t shift[PAGES];
	bool table[PAGES / 512]; /* below the 2 MiB entry; stays for ever */
	unsigned leaves;
};

static struct model model;
static uint64_t next_hpa;

static void random_map(void)
{
	unsigned shift = rand() % 4 ? 12 : 21, page = (unsigned)rand() % PAGES, span = 1u << (shift - 12);
	unsigned first = page & ~(span - 1);
	bool blocked = model.hpa[first];
	uint64_t hpa = next_hpa += 0x200000;

	if (shift == 21)
		blocked |= model.table[first / 512];
	if (blocked) {
		assert_int_equal(npt_map(&n, GPA(first * PAGE_SIZE), HPA(hpa), shift, NPT_RWX), HV_EXIST);
		return;
	}
	map(first * PAGE_SIZE, hpa, shift);
	model.leaves++;
	model.table[first / 512] |= shift == 12;
	for (unsigned p = first; p < first + span; p++) {
		model.hpa[p] = hpa;
		model.shift[p] = (uint8_t)shift;
	}
}

static void random_freeze(void)
{
	unsigned page = (unsigned)rand() % PAGES, count = (unsigned)rand() % 600, leaves = 0;
	struct seen seen = {0};

	count = count < PAGES - page ? count : PAGES - page;
	for (unsigned p = page; p < page + count; p++) {
		unsigned span = 1u << (model.shift[p] - 12), first = p & ~(span - 1);

		if (model.hpa[p] < 2)
			continue;
		leaves++;
		for (unsigned i = first; i < first + span; i++)
			model.hpa[i] = 1;
	}
	assert_int_equal(npt_freeze(&n, GPA(page * PAGE_SIZE), count * PAGE_SIZE, see, &seen), leaves);
	model.leaves -= leaves;
	if (rand() % 2)
		return;
	npt_thaw(&n, GPA(0), PAGES * PAGE_SIZE);
	for (unsigned p = 0; p < PAGES; p++)
		if (model.hpa[p] == 1)
			model.hpa[p] = 0;
}

static void compare(void)
{
	for (unsigned p = 0; p < PAGES; p++) {
		if (model.hpa[p] > 1)
			assert_maps(p * PAGE_SIZE, model.hpa[p], model.shift[p], NPT_RWX);
		else
			assert_false(maps(p * PAGE_SIZE));
	}
}

static void random_operations(void **s)
{
	(void)s;
	srand(3);
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (unsigned round = 0; round < 20; round++) {
			struct seen seen = {0};

			memset(&model, 0, sizeof(model));
			memset(model.shift, 12, sizeof(model.shift));
			create(fmts[f]);
			for (unsigned i = 0; i < 600; i++) {
				if (rand() % 10)
					random_map();
				else
					random_freeze();
				if (i % 100 == 0)
					compare();
			}
			compare();
			npt_destroy(&n, see, &seen);
			assert_int_equal(seen.count, model.leaves);
			assert_int_equal(fake_npt.in_use, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(every_level),
		cmocka_unit_test(room),
		cmocka_unit_test(out_of_range),
		cmocka_unit_test(no_table_page),
		cmocka_unit_test(exists),
		cmocka_unit_test(lost_race_frees_its_table),
		cmocka_unit_test(freeze_and_thaw),
		cmocka_unit_test(frozen_at_the_end),
		cmocka_unit_test(freeze_takes_the_leaf_around),
		cmocka_unit_test(freeze_of_nothing),
		cmocka_unit_test(random_operations),
	};
	return cmocka_run_group_tests_name("npt", t, NULL, NULL);
}
