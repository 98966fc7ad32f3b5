/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_npt.h"

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
	void (*race)(void);
} pool;

static hpa_t alloc_frames(void *ctx, unsigned order)
{
	void (*race)(void) = pool.race;
	uint64_t size = PAGE_SIZE << order;

	assert_ptr_equal(ctx, &pool);
	pool.race = NULL;
	if (race)
		race();
	if (!pool.left || order > pool.max_order)
		return HPA_NONE;
	pool.left -= pool.left > 0;
	pool.next = align_up(pool.next, size);
	pool.last = HPA(pool.next);
	pool.next += size;
	pool.out += size;
	return pool.last;
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
	return fault_resolve(&n, &regions, GPA(gpa), max_shift, &env);
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
	assert_int_equal(resolve(0x40200000, 30), FAULT_NOMEM);
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
		assert_int_equal(resolve(0x40200000, 30), FAULT_NOMEM);
		assert_nothing_out();
		fake_npt.left = -1;
		assert_int_equal(resolve(0x40200000, 30), FAULT_RESOLVED);
		assert_int_equal(pool.out, PAGE_SIZE);
	}
}

static void map_small(void)
{
	assert_int_equal(npt_map(&n, GPA(0x40200000), HPA(0x5000), 12, NPT_RWX), HV_OK);
}

static void map_neighbour(void)
{
	assert_int_equal(npt_map(&n, GPA(0x40201000), HPA(0x5000), 12, NPT_RWX), HV_OK);
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

static void ignore(void *arg, const struct npt_leaf *leaf)
{
	(void)arg, (void)leaf;
}

/* The guest faults again until the removal is over. */
static void frozen(void **s)
{
	(void)s;
	begin();
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_int_equal(npt_freeze(&n, GPA(0x40200000), 2 * MIB, ignore, NULL), 1);
	memset(&pool, 0, sizeof(pool));
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_nothing_out();
	assert_int_equal(pool.cleared, 0);
	pool.max_order = 18;
	pool.left = -1;
	npt_thaw(&n, GPA(0x40200000), 2 * MIB);
	assert_int_equal(resolve(0x40200000, 21), FAULT_RESOLVED);
	assert_leaf(0x40200000, 21);
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
	};
	return cmocka_run_group_tests_name("fault", t, NULL, NULL);
}
