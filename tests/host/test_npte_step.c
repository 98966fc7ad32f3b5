/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every operation on nested tables once for each of its compare-and-swaps, right
 * before and after which another CPU writes to the page in question: by itself
 * where it may (A and D), else by a fault.  Whatever the step, the mapping stays
 * and the write is found.  And faults with another CPU's harvest at each step.
 */
#include "tests/host/fake_vm.h"

#include "mm/age.h"
#include "mm/fault.h"
#include "mm/fault_fast.h"
#include "mm/npt_remove.h"
#include "mm/npt_split.h"
#include "mm/npte_edge.h"

#define SPAN  (512 * PAGE_SIZE)
#define SMALL 0ULL   /* 512 leaves of 4 KiB */
#define LARGE SPAN   /* one of 2 MiB */
#define PAGES 1024u
#define MOVED 0x200000000ULL

static uint64_t bits[PAGES / 64], bitmap[PAGES / 64], named[PAGES / 64];
static struct dirty_log dirty = {DIRTY_PROTECT, PAGES, bits};
static struct region_map regions;
static unsigned step, at; /* of the run; of the other CPU */
static uint64_t wrote; /* the page it wrote, or none */
#define NONE (~0ULL)

static const uint64_t *small; /* the table of the small leaves */

static bool find(const uint64_t *e, uint64_t *gpa)
{
	/* A CPU that has cached the way to a table goes on using it when it is detached. */
	if (e >= small && e < small + 512) {
		*gpa = SMALL + (uint64_t)(e - small) * PAGE_SIZE;
		return true;
	}
	for (*gpa = 0; *gpa < PAGES * PAGE_SIZE; *gpa += PAGE_SIZE)
		if (fake_vm_entry(*gpa) == e)
			return true;
	return false;
}

static enum hv_status no_frames(void *ctx, unsigned order, hpa_t *hpa, bool *is_clear)
{
	(void)ctx, (void)order, (void)hpa, (void)is_clear;
	return HV_NOMEM;
}

/* The long way: a large leaf under the log is split. */
static void split_and_write(uint64_t gpa)
{
	const struct fault_env env = {.alloc_frames = no_frames};
	struct npt_walk w = {0};

	assert_int_equal(fault_resolve(&vm.n, &regions, GPA(gpa), NPT_WRITE, 21, &env, NULL),
			 FAULT_RESOLVED);
	fault_fast(&vm.n, GPA(gpa), NPT_WRITE, &w, 1);
}

static void write_now(uint64_t *e, uint64_t gpa)
{
	struct npt_walk w = {0};
	enum fault_fast r;

	if (!npte_present(*e))
		return;
	if (!(*e & vm.fmt.write)) {
		r = fault_fast(&vm.n, GPA(gpa), NPT_WRITE, &w, 1);
		if (r == FAST_NONE && vm.n.log && gpa >= LARGE) {
			split_and_write(gpa);
			e = fake_vm_entry(gpa);
			r = *e & vm.fmt.write ? FAST_WRITE : FAST_NONE;
		}
		if (r != FAST_WRITE && r != FAST_ACCESS)
			return;
	}
	wrote = gpa;
	if (vm.n.log && dirty.mode == DIRTY_PML && !(*e & vm.fmt.dirty))
		dirty_mark(&dirty, GPA(gpa));
	*e |= vm.fmt.accessed | vm.fmt.dirty;
}

static void other_cpu(uint64_t *e)
{
	uint64_t gpa;

	if (step++ != at)
		return;
	if (find(e, &gpa))
		write_now(e, gpa);
	else if (npte_present(*e))
		*e |= vm.fmt.accessed; /* of a table entry, by a walk */
}

static void take_named(void)
{
	uint64_t count;

	assert_int_equal(dirty_harvest(&vm.n, &vm.f, GPA(0), PAGES * PAGE_SIZE, DIRTY_GET | DIRTY_CLEAR,
				       bitmap, &count), HV_OK);
	for (unsigned i = 0; i < ARRAY_SIZE(named); i++)
		named[i] |= bitmap[i];
}

/* ---- the operations ------------------------------------------------------------------- */

static void op_harvest(void)
{
	take_named();
}

static void op_age(void)
{
	age_range(&vm.n, &vm.f, GPA(0), PAGES * PAGE_SIZE, NULL);
}

static hpa_t frame;

static hpa_t alloc(void *ctx)
{
	(void)ctx;
	frame.v += PAGE_SIZE;
	return frame;
}

/* While it is copied nobody may write. */
static void copy(void *ctx, hpa_t to, hpa_t from)
{
	(void)ctx, (void)to, (void)from;
}

static void op_move(void)
{
	const struct npt_move_env env = {NULL, alloc, copy};
	uint64_t count;

	frame = HPA(MOVED);
	assert_int_equal(npt_move(&vm.n, &vm.f, GPA(SMALL), 16 * PAGE_SIZE, &env, &count), HV_OK);
	assert_int_equal(count, 16);
}

static void op_remove(void)
{
	uint64_t count;

	assert_int_equal(npt_remove(&vm.n, &vm.f, GPA(SMALL), SPAN, &count), HV_OK);
	assert_int_equal(count, 512);
}

/* Over the large leaf: a fault may split it at any step. */
static void op_move_large(void)
{
	const struct npt_move_env env = {NULL, alloc, copy};
	uint64_t count;

	frame = HPA(MOVED);
	assert_int_equal(npt_move(&vm.n, &vm.f, GPA(0), 2 * SPAN, &env, &count), HV_OK);
	assert_int_equal(count, 1024);
}

static void op_remove_large(void)
{
	uint64_t count;

	assert_int_equal(npt_remove(&vm.n, &vm.f, GPA(0), 2 * SPAN, &count), HV_OK);
	assert_int_equal(count, 1024);
}

static void op_split(void)
{
	assert_int_equal(npt_split_at(&vm.n, GPA(LARGE + 0x5000)), HV_OK);
}

static void op_promote(void)
{
	npt_promote(&vm.n, &vm.f, GPA(SMALL), SPAN);
}

static void op_enable(void)
{
	assert_int_equal(dirty_enable(&vm.n, &vm.f, &dirty, true), HV_OK);
}

static const struct {
	void (*run)(void);
	bool log;
	unsigned removed, moved; /* pages from SMALL on */
} ops[] = {
	{op_harvest, true, 0, 0}, {op_age, true, 0, 0},	    {op_age, false, 0, 0},
	{op_move, true, 0, 16},	  {op_move, false, 0, 16},  {op_remove, true, 512, 0},
	{op_remove, false, 512, 0}, {op_split, false, 0, 0}, {op_promote, false, 0, 0},
	{op_enable, false, 0, 0}, {op_move_large, true, 0, 1024}, {op_remove_large, true, 1024, 0},
};

static void prepare(const struct npt_fmt *fmt, enum dirty_mode mode, bool log)
{
	fake_vm_create(fmt);
	memset(bits, 0, sizeof(bits));
	memset(named, 0, sizeof(named));
	dirty.mode = mode;
	regions = (struct region_map){0};
	assert_int_equal(region_add(&regions, 0, 2 * SPAN, REGION_RAM), HV_OK);
	for (uint64_t i = 0; i < 512; i++)
		fake_vm_map(SMALL + i * PAGE_SIZE, 0x100000000 + i * PAGE_SIZE, 12, NPT_RWX);
	fake_vm_map(LARGE, 0x100000000 + SPAN, 21, NPT_RWX);
	if (log)
		assert_int_equal(dirty_enable(&vm.n, &vm.f, &dirty, false), HV_OK);
	small = fake_vm_entry(SMALL);
	for (uint64_t i = 0; i < 8; i++)
		*fake_vm_entry(i * PAGE_SIZE) |= vm.fmt.accessed;
	for (unsigned i = 0; log && i < 3; i++)
		write_now(fake_vm_entry(i * PAGE_SIZE), i * PAGE_SIZE);
	wrote = NONE;
	step = 0;
}

static void check(unsigned i)
{
	for (uint64_t p = 0; p < PAGES; p++)
		if (p < ops[i].moved)
			assert_true(fake_vm_maps(p * PAGE_SIZE, MOVED + (p + 1) * PAGE_SIZE));
		else
			assert_int_equal(fake_vm_maps(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE),
					 p >= ops[i].removed);
	if (vm.n.log) {
		take_named();
		/* What enabling found was there before the log. */
		for (unsigned p = 0; ops[i].log && p < 3; p++)
			assert_true(named[0] >> p & 1);
		if (wrote != NONE && ops[i].log)
			assert_true(named[wrote >> 18] >> (wrote >> 12 & 63) & 1);
		/* And the next write is found as well. */
		memset(named, 0, sizeof(named));
		for (uint64_t p = ops[i].removed; p < 512; p++)
			write_now(fake_vm_entry(p * PAGE_SIZE), p * PAGE_SIZE);
		take_named();
		for (uint64_t p = ops[i].removed; p < 512; p++)
			assert_true(named[p / 64] >> (p % 64) & 1);
		dirty_disable(&vm.n, &vm.f);
	} else if (wrote != NONE && vm.fmt.dirty && wrote >= ops[i].removed * PAGE_SIZE) {
		assert_true(*fake_vm_entry(wrote) & vm.fmt.dirty);
	}
	fake_vm_destroy(PAGES - ops[i].removed);
}

/* How many steps there were. */
static unsigned run(const struct npt_fmt *fmt, enum dirty_mode mode, unsigned i, unsigned n)
{
	prepare(fmt, mode, ops[i].log);
	at = n;
	npte_step = other_cpu;
	ops[i].run();
	npte_step = NULL;
	check(i);
	return step;
}

static void each_operation_at_each_step(void **s)
{
	static struct npt_fmt bare;
	const struct {
		const struct npt_fmt *fmt;
		enum dirty_mode mode;
	} all[] = {
		{&npt_fmt_ept, DIRTY_PROTECT}, {&npt_fmt_ept, DIRTY_DBIT}, {&npt_fmt_ept, DIRTY_PML},
		{&npt_fmt_npt, DIRTY_PROTECT}, {&npt_fmt_npt, DIRTY_DBIT}, {&bare, DIRTY_PROTECT},
	};

	(void)s;
	bare = npt_fmt_ept;
	bare.accessed = bare.dirty = 0;
	for (unsigned f = 0; f < ARRAY_SIZE(all); f++)
		for (unsigned i = 0; i < ARRAY_SIZE(ops); i++) {
			unsigned steps = run(all[f].fmt, all[f].mode, i, ~0u), n = 0;

			/* All of them are alike after a while. */
			for (; n < steps; n += n < 40 || n + 40 > steps ? 1 : 23)
				run(all[f].fmt, all[f].mode, i, n);
		}
}

/* ---- the other way round: a fault, and a harvest at each of its steps --------------------- */

static void harvester(uint64_t *e)
{
	(void)e;
	if (step++ == at)
		take_named();
}

static void write_fault_at(const struct npt_fmt *fmt, bool aged, unsigned n)
{
	struct npt_walk w = {0};

	prepare(fmt, DIRTY_PROTECT, true);
	if (aged)
		op_age();
	take_named();
	at = n;
	npte_step = harvester;
	fault_fast(&vm.n, GPA(0x9000), NPT_WRITE, &w, 1);
	npte_step = NULL;
	memset(named, 0, sizeof(named));
	if (*fake_vm_entry(0x9000) & vm.fmt.write) {
		take_named();
		assert_true(named[0] >> 9 & 1);
	}
	dirty_disable(&vm.n, &vm.f);
	fake_vm_destroy(PAGES);
}

static void a_harvest_at_each_step_of_a_fault(void **s)
{
	struct npt_fmt bare = npt_fmt_ept;

	(void)s;
	bare.accessed = bare.dirty = 0;
	for (unsigned n = 0; n < 4; n++) {
		write_fault_at(&npt_fmt_ept, false, n);
		write_fault_at(&npt_fmt_npt, false, n);
		write_fault_at(&bare, false, n);
		write_fault_at(&bare, true, n);
	}
}

/* It has looked before there was a log. */
static void finish_fault(void)
{
	fake_vm_map(2 * SPAN, 0x300000000, 12, NPT_RWX);
}

static void enabling_waits_for_faults(void **s)
{
	static uint64_t more[(PAGES + 64) / 64];
	struct dirty_log log = {DIRTY_PROTECT, PAGES + 64, more};

	(void)s;
	prepare(&npt_fmt_ept, DIRTY_PROTECT, false);
	flush_arrive(&vm.f, 0);
	vm.in_flush = finish_fault;
	assert_int_equal(dirty_enable(&vm.n, &vm.f, &log, false), HV_OK);
	assert_null(vm.in_flush);
	assert_false(*fake_vm_entry(2 * SPAN) & vm.fmt.write);
	dirty_disable(&vm.n, &vm.f);
	fake_vm_destroy(PAGES + 1);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(each_operation_at_each_step),
		cmocka_unit_test(a_harvest_at_each_step_of_a_fault),
		cmocka_unit_test(enabling_waits_for_faults),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
