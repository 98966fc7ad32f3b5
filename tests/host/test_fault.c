/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_npt.h"

#include "mm/dirty.h"
#include "mm/fault.h"

static struct npt n;
static struct region_map regions;

/* The frame pool: hands out ascending addresses, and counts. */
static struct {
	uint64_t next;
	unsigned max_order; /* nothing larger is left */
	int left;	    /* allocations until nothing at all is left; negative: never */
	uint64_t out;	    /* bytes allocated and not freed */
	uint64_t cleared;
	uint64_t accounted;
	hpa_t last;
	bool may_fill, is_clear;
	void (*race)(void);
} pool;

static enum hv_status alloc_frames(void *ctx, unsigned order, hpa_t *hpa, bool *is_clear)
{
	void (*race)(void) = pool.race;
	uint64_t size = PAGE_SIZE << order;

	assert_ptr_equal(ctx, &pool);
	pool.race = NULL;
	if (race)
		race();
	if (!pool.left || order > pool.max_order)
		return pool.may_fill ? HV_RETRY : HV_NOMEM;
	pool.left -= pool.left > 0;
	pool.next = align_up(pool.next, size);
	pool.last = HPA(pool.next);
	pool.next += size;
	pool.out += size;
	*hpa = pool.last;
	*is_clear = pool.is_clear;
	return HV_OK;
}

static void free_frames(void *ctx, hpa_t hpa, unsigned order)
{
	assert_ptr_equal(ctx, &pool);
	assert_int_equal(hpa.v, pool.last.v);
	pool.out -= PAGE_SIZE << order;
}

static void clear_frames(void *ctx, hpa_t hpa, unsigned order)
{
	struct npt_leaf l;

	assert_ptr_equal(ctx, &pool);
	assert_int_equal(hpa.v, pool.last.v);
	/* Cleared before the guest can see it. */
	assert_true(!npt_lookup(&n, GPA(0x40200000), &l) || l.hpa.v != hpa.v);
	pool.cleared += PAGE_SIZE << order;
}

static void account(void *ctx, uint64_t bytes)
{
	assert_ptr_equal(ctx, &pool);
	pool.accounted += bytes;
}

static const struct fault_env env = {&pool, alloc_frames, free_frames, clear_frames, account};

static void begin(void)
{
	memset(&pool, 0, sizeof(pool));
	pool.next = 0x100000000;
	pool.max_order = 18;
	pool.left = -1;
	memset(&regions, 0, sizeof(regions));
	assert_int_equal(region_add(&regions, 0, 0xa0000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&regions, 0x100000, 0xbff00000, REGION_RAM), HV_OK);
	assert_int_equal(region_add(&regions, 0xfee00000, 0x1000, REGION_MMIO), HV_OK);
	fake_npt_init();
	assert_int_equal(npt_create(&n, &npt_fmt_ept, &fake_npt.env), HV_OK);
}

static enum fault_result resolve(uint64_t gpa, unsigned max_shift)
{
	return fault_resolve(&n, &regions, GPA(gpa), NPT_READ, max_shift, &env, NULL);
}

static void assert_leaf(uint64_t gpa, unsigned shift)
{
	struct npt_leaf l;

	assert_true(npt_lookup(&n, GPA(gpa), &l));
	assert_int_equal(l.shift, shift);
	assert_int_equal(l.perms, NPT_RWX);
	assert_int_equal(l.hpa.v & (BIT64(shift) - 1), 0);
}

static void assert_nothing_out(void)
{
	assert_int_equal(pool.out, 0);
	assert_int_equal(pool.accounted, 0);
}

static void devices_and_holes(void **s)
{
	static const uint64_t gpa[] = {0xa0000, 0xfffff, 0xc0000000, 0xfee00000, 0xfee00fff, BIT64(47),
				       BIT64(48), UINT64_MAX};

	(void)s;
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(gpa); i++)
		assert_int_equal(resolve(gpa[i], 30), FAULT_DEVICE);
	assert_nothing_out();
	assert_int_equal(fake_npt.in_use, 1);
}

static void largest_leaf_that_fits(void **s)
{
	(void)s;
	begin();
	assert_int_equal(resolve(0x9f123, 30), FAULT_RESOLVED);
	assert_leaf(0x9f000, 12);
	assert_int_equal(resolve(0x2fffff, 30), FAULT_RESOLVED);
	assert_leaf(0x200000, 21);
	assert_int_equal(resolve(0x7fffffff, 30), FAULT_RESOLVED);
	assert_leaf(0x40000000, 30);
	assert_int_equal(pool.out, GIB + 2 * MIB + 4 * KIB);
	assert_int_equal(pool.cleared, pool.out);
	assert_int_equal(pool.accounted, pool.out);
	/* Again: it is there. */
	assert_int_equal(resolve(0x40000000, 30), FAULT_RESOLVED);
	assert_int_equal(pool.accounted, GIB + 2 * MIB + 4 * KIB);
}

static void limits_of_vm_and_cpu(void **s)
{
	struct npt_fmt no_1g = npt_fmt_ept;

	(void)s;
	begin();
	assert_int_equal(resolve(0x40000000, 21), FAULT_RESOLVED);
	assert_leaf(0x40000000, 21);
	assert_int_equal(resolve(0x80000000, 12), FAULT_RESOLVED);
	assert_leaf(0x80000000, 12);
	begin();
	no_1g.max_leaf_shift = 21;
	n.fmt = &no_1g;
	assert_int_equal(resolve(0x40000000, 30), FAULT_RESOLVED);
	assert_leaf(0x40000000, 21);
}

static void smaller_when_frames_are_scattered(void **s)
{
	(void)s;
	begin();
	pool.max_order = 17;
	assert_int_equal(resolve(0x40000000, 30), FAULT_RESOLVED);
	assert_leaf(0x40000000, 21);
	pool.max_order = 0;
	assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
	assert_leaf(0x40200000, 12);
	/* A table hangs where the larger leaves would go: none of them is cleared for nothing. */
	pool.max_order = 18;
	assert_int_equal(resolve(0x40201000, 30), FAULT_RESOLVED);
	assert_leaf(0x40201000, 12);
	assert_int_equal(resolve(0x40400000, 30), FAULT_RESOLVED);
	assert_leaf(0x40400000, 21);
	assert_int_equal(pool.out, 4 * MIB + 8 * KIB);
	assert_int_equal(pool.accounted, pool.out);
	assert_int_equal(pool.cleared, pool.out);
}

static void no_frames(void **s)
{
	(void)s;
	begin();
	pool.left = 0;
	assert_int_equal(resolve(0x40200000, 30), FAULT_REFILL);
	assert_nothing_out();
	pool.left = -1;
	assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
}

static void no_table_pages(void **s)
{
	(void)s;
	for (int left = 0; left < 3; left++) {
		begin();
		pool.max_order = 0;
		fake_npt.left = left;
		assert_int_equal(resolve(0x40200000, 30), FAULT_REFILL);
		assert_nothing_out();
		assert_int_equal(pool.cleared, 0);
		fake_npt.left = -1;
		assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
		assert_int_equal(pool.out, PAGE_SIZE);
	}
}

static void map_small(void)
{
	assert_int_equal(npt_map(&n, GPA(0x40200000), 12, npte_leaf(n.fmt, HPA(0x5000), 12, NPT_RWX, true)), HV_OK);
}

static void map_neighbour(void)
{
	assert_int_equal(npt_map(&n, GPA(0x40201000), 12, npte_leaf(n.fmt, HPA(0x5000), 12, NPT_RWX, true)), HV_OK);
}

/* Another CPU fills the same page, or one beside it, while we clear ours. */
static void races(void **s)
{
	(void)s;
	begin();
	pool.race = map_small;
	assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
	assert_leaf(0x40200000, 12);
	assert_nothing_out();
	begin();
	pool.race = map_neighbour;
	assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
	assert_leaf(0x40200000, 12);
	assert_int_equal(pool.out, PAGE_SIZE);
	assert_int_equal(pool.accounted, PAGE_SIZE);
}

/* The last frame went to another CPU's fault on the same page: that is no shortage. */
static void race_for_the_last_frame(void **s)
{
	(void)s;
	begin();
	pool.race = map_small;
	pool.left = 0;
	assert_int_equal(resolve(0x40200000, 12), FAULT_RESOLVED);
	assert_nothing_out();
}

/* The guest faults again until the owner is done. */
static void frozen(void **s)
{
	unsigned shift;
	uint64_t v, *e;

	(void)s;
	begin();
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	e = npt_find(&n, GPA(0x40200000), &shift, &v);
	*e = NPTE_FROZEN;
	memset(&pool, 0, sizeof(pool));
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_nothing_out();
	assert_int_equal(pool.cleared, 0);
	assert_int_equal(*e, NPTE_FROZEN);
}

/* No smaller leaf for want of a refill. */
static void stock_is_filled_first(void **s)
{
	(void)s;
	begin();
	pool.max_order = 0;
	pool.may_fill = true;
	assert_int_equal(resolve(0x40200000, 21), FAULT_REFILL);
	assert_nothing_out();
	pool.may_fill = false;
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_leaf(0x40200000, 12);
}

static void clear_frames_are_not_cleared(void **s)
{
	(void)s;
	begin();
	pool.is_clear = true;
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_int_equal(pool.cleared, 0);
	assert_int_equal(pool.accounted, 2 * MIB);
}

static uint64_t bits[0x80000 / 64];

static enum npte_state state_at(uint64_t gpa, unsigned want_shift)
{
	unsigned shift;
	uint64_t v;

	npt_find(&n, GPA(gpa), &shift, &v);
	assert_int_equal(shift, want_shift);
	return npte_state(n.fmt, v, shift);
}

static bool logged(uint64_t gpa)
{
	return bits[gpa / PAGE_SIZE / 64] >> (gpa / PAGE_SIZE % 64) & 1;
}

static void with_log(struct dirty_log *log, enum dirty_mode mode)
{
	memset(bits, 0, sizeof(bits));
	*log = (struct dirty_log){mode, 0x80000, bits};
	n.log = log;
}

static void fills_under_a_log(void **s)
{
	struct dirty_log log;

	(void)s;
	for (enum dirty_mode mode = DIRTY_PROTECT; mode <= DIRTY_PML; mode++) {
		begin();
		with_log(&log, mode);
		/* What is only read: not logged, and the next write is noticed. */
		assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
		assert_int_equal(state_at(0x40200000, 12), mode == DIRTY_PROTECT ? NPTE_RL : NPTE_WC);
		assert_false(logged(0x40200000));
		assert_int_equal(fault_resolve(&n, &regions, GPA(0x40201000), NPT_WRITE, 30, &env, NULL),
				 FAULT_RESOLVED);
		assert_int_equal(state_at(0x40201000, 12), NPTE_WC);
		assert_true(logged(0x40201000));
		n.log = NULL;
	}
}

static void splits_large_leaves_under_a_log(void **s)
{
	struct dirty_log log;
	unsigned shift;
	uint64_t v, *e;

	(void)s;
	for (enum dirty_mode mode = DIRTY_PROTECT; mode <= DIRTY_DBIT; mode++) {
		begin();
		assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
		e = npt_find(&n, GPA(0x40200000), &shift, &v);
		*e = v & ~n.fmt->write;
		with_log(&log, mode);
		fake_npt.left = 0;
		assert_int_equal(fault_resolve(&n, &regions, GPA(0x40205000), NPT_WRITE, 30, &env, NULL),
				 FAULT_REFILL);
		/* The old mapping is intact. */
		assert_int_equal(state_at(0x40205000, 21), NPTE_RL);
		fake_npt.left = -1;
		assert_int_equal(fault_resolve(&n, &regions, GPA(0x40205000), NPT_WRITE, 30, &env, NULL),
				 FAULT_RESOLVED);
		assert_int_equal(state_at(0x40205000, 12), NPTE_WC);
		assert_int_equal(state_at(0x40206000, 12), mode == DIRTY_PROTECT ? NPTE_RL : NPTE_WC);
		assert_true(mode == DIRTY_DBIT || logged(0x40205000));
		assert_false(logged(0x40206000));
		n.log = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(devices_and_holes),
		cmocka_unit_test(largest_leaf_that_fits),
		cmocka_unit_test(limits_of_vm_and_cpu),
		cmocka_unit_test(smaller_when_frames_are_scattered),
		cmocka_unit_test(no_frames),
		cmocka_unit_test(no_table_pages),
		cmocka_unit_test(races),
		cmocka_unit_test(race_for_the_last_frame),
		cmocka_unit_test(frozen),
		cmocka_unit_test(stock_is_filled_first),
		cmocka_unit_test(clear_frames_are_not_cleared),
		cmocka_unit_test(fills_under_a_log),
		cmocka_unit_test(splits_large_leaves_under_a_log),
	};
	return cmocka_run_group_tests_name("fault", t, NULL, NULL);
}
