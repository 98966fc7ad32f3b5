/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_npt.h"

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

static enum hv_status map_perms(uint64_t gpa, uint64_t hpa, unsigned shift, unsigned perms)
{
	return npt_map(&n, GPA(gpa), shift, npte_leaf(n.fmt, HPA(hpa), shift, perms, true));
}

static void map(uint64_t gpa, uint64_t hpa, unsigned shift)
{
	assert_int_equal(map_perms(gpa, hpa, shift, NPT_RWX), HV_OK);
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
			assert_int_equal(map_perms(gpa, hpa, shift, NPT_READ | NPT_EXEC), HV_OK);
			assert_maps(gpa, hpa, shift, NPT_READ | NPT_EXEC);
			assert_maps(gpa + size - 1, hpa, shift, NPT_READ | NPT_EXEC);
			assert_false(maps(gpa + size));
			assert_false(maps(gpa - 1));
			assert_int_equal(fake_npt.in_use, 1 + (39 - shift) / 9);
			destroy(1);
		}
	}
}

static unsigned found_shift(uint64_t gpa, uint64_t value)
{
	unsigned shift;
	uint64_t v, *e = npt_find(&n, GPA(gpa), &shift, &v);

	assert_int_equal(v, value);
	assert_int_equal(*e, value);
	return shift;
}

static void finds_where_a_walk_ends(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		create(fmts[f]);
		assert_int_equal(found_shift(0, 0), 39);
		assert_int_equal(found_shift(BIT64(48) - 1, 0), 39);
		map(0x40201000, 0x5000, 12);
		assert_int_equal(found_shift(0x40201fff, npte_leaf(fmts[f], HPA(0x5000), 12, NPT_RWX,
								   true)), 12);
		assert_int_equal(found_shift(0x40200000, 0), 12);
		assert_int_equal(found_shift(0x40400000, 0), 21);
		assert_int_equal(found_shift(0x80000000, 0), 30);
		assert_int_equal(found_shift(BIT64(39), 0), 39);
		destroy(1);
	}
}

static void runs(void **s)
{
	uint64_t at = 0x1000, parent;
	struct npt_run run;

	(void)s;
	create(&npt_fmt_ept);
	map(0x3000, 0x5000, 12);
	map(0x600000, 0x600000, 21);
	map(0x40000000, 0x40000000, 30);
	/* From the middle of a table to its end; an empty span is passed over. */
	assert_true(npt_next_run(&n, &at, BIT64(48), &run));
	assert_int_equal(run.gpa.v, 0x1000);
	assert_int_equal(run.count, 511);
	assert_int_equal(run.shift, 12);
	assert_int_equal(npte_hpa(n.fmt, run.e[2]).v, 0x5000);
	assert_int_equal(at, 0x200000);
	assert_true(npt_next_run(&n, &at, BIT64(48), &run));
	assert_int_equal(run.gpa.v, 0x600000);
	assert_int_equal(run.count, 1);
	assert_true(npt_next_run(&n, &at, 0x40001000, &run));
	assert_int_equal(run.shift, 30);
	assert_false(npt_next_run(&n, &at, BIT64(48), &run));
	/* No further than asked. */
	at = 0x2000;
	assert_true(npt_next_run(&n, &at, 0x4000, &run));
	assert_int_equal(run.count, 2);
	assert_int_equal(at, 0x4000);
	assert_false(npt_next_run(&n, &at, 0x4000, &run));
	assert_non_null(npt_parent(&n, GPA(0x3000), &parent));
	assert_null(npt_parent(&n, GPA(0x600000), &parent));
	assert_null(npt_parent(&n, GPA(BIT64(39)), &parent));
	destroy(3);
}

static void out_of_range(void **s)
{
	(void)s;
	create(&npt_fmt_ept);
	assert_int_equal(map_perms(BIT64(48), 0, 12, NPT_RWX), HV_RANGE);
	assert_int_equal(map_perms(UINT64_MAX & ~0xfffULL, 0, 12, NPT_RWX), HV_RANGE);
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
			assert_int_equal(map_perms(BIT64(40), 0x1000, 12, NPT_RWX), HV_NOMEM);
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
		assert_int_equal(map_perms(0x201000, 0x9000, 12, NPT_RWX), HV_EXIST);
		assert_int_equal(map_perms(0x600000, 0x9000, 21, NPT_RWX), HV_EXIST);
		assert_int_equal(map_perms(0x40000000, 0, 30, NPT_RWX), HV_EXIST);
		/* Below a larger leaf. */
		assert_int_equal(map_perms(0x40001000, 0x9000, 12, NPT_RWX), HV_EXIST);
		assert_int_equal(map_perms(0x40200000, 0x9000, 21, NPT_RWX), HV_EXIST);
		assert_int_equal(map_perms(0x601000, 0x9000, 12, NPT_RWX), HV_EXIST);
		/* Above a table. */
		assert_int_equal(map_perms(0x200000, 0, 21, NPT_RWX), HV_EXIST);
		assert_int_equal(map_perms(0, 0, 30, NPT_RWX), HV_EXIST);
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
	assert_int_equal(map_perms(0x201000, 0x222000, 12, NPT_RWX), HV_EXIST);
	assert_maps(0x201000, 0x111000, 12, NPT_RWX);
	assert_int_equal(fake_npt.in_use, 4);
	destroy(1);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(every_level),
		cmocka_unit_test(finds_where_a_walk_ends),
		cmocka_unit_test(runs),
		cmocka_unit_test(out_of_range),
		cmocka_unit_test(no_table_page),
		cmocka_unit_test(exists),
		cmocka_unit_test(lost_race_frees_its_table),
	};
	return cmocka_run_group_tests_name("npt", t, NULL, NULL);
}
