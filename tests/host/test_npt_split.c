/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_vm.h"

#include "mm/fault_fast.h"
#include "mm/npt_split.h"

static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};

static void children_say_the_same(void **s)
{
	(void)s;
	for (unsigned i = 0; i < 2 * 2 * 4; i++) {
		const struct npt_fmt *f = fmts[i % 2];
		unsigned shift = i / 2 % 2 ? 30 : 21, kind = i / 4;
		uint64_t old, size = BIT64(shift - 9);

		fake_vm_create(f);
		fake_vm_map(0x40000000, 0x80000000, shift, kind == 1 ? NPT_READ : NPT_RWX);
		old = *fake_vm_entry(0x40000000);
		if (kind == 2)
			old |= f->accessed | f->dirty;
		if (kind == 3)
			old = npte_aged(f, old);
		*fake_vm_entry(0x40000000) = old;
		assert_int_equal(npt_split(&vm.n, fake_vm_entry(0x40000000), shift, old, false), HV_OK);
		for (unsigned c = 0; c < 512; c++) {
			uint64_t v = *fake_vm_entry(0x40000000 + c * size);

			assert_true(fake_vm_maps(0x40000000 + c * size + 5, 0x80000000 + c * size + 5));
			assert_int_equal(npte_state(f, v, shift - 9), npte_state(f, old, shift));
			assert_int_equal(npte_perms(f, v), npte_perms(f, old));
			assert_int_equal(v & (f->accessed | f->dirty), old & (f->accessed | f->dirty));
		}
		fake_vm_destroy(BIT64(shift - 12));
	}
}

static void grant_makes_writable_and_clean(void **s)
{
	uint64_t old;

	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		fake_vm_create(fmts[f]);
		fake_vm_map(0x200000, 0x400000, 21, NPT_READ | NPT_EXEC);
		*fake_vm_entry(0x200000) |= fmts[f]->dirty;
		old = *fake_vm_entry(0x200000);
		assert_int_equal(npt_split(&vm.n, fake_vm_entry(0x200000), 21, old, true), HV_OK);
		for (uint64_t at = 0x200000; at < 0x400000; at += 0x1000)
			assert_int_equal(fake_vm_state(at, 12), NPTE_WC);
		fake_vm_destroy(512);
	}
}

/* The CPU, or another one, changes the entry while the children are made. */
static void set_dirty(void *arg)
{
	*fake_vm_entry(*(uint64_t *)arg) |= vm.fmt.dirty;
}

static void lost_race(void **s)
{
	uint64_t gpa = 0x200000, old, *e;

	(void)s;
	fake_vm_create(&npt_fmt_ept);
	fake_vm_map(gpa, 0x400000, 21, NPT_RWX);
	e = fake_vm_entry(gpa);
	old = *e;
	fake_npt.race = set_dirty;
	fake_npt.race_arg = &gpa;
	assert_int_equal(npt_split(&vm.n, e, 21, old, false), HV_RETRY);
	assert_int_equal(*e, old | vm.fmt.dirty);
	assert_int_equal(fake_npt.in_use, 3);
	/* With the way to look again built in, nothing is lost. */
	*e = old;
	fake_npt.race = set_dirty;
	assert_int_equal(npt_split_at(&vm.n, GPA(gpa + 0x1000)), HV_OK);
	assert_int_equal(fake_vm_state(gpa + 0x5000, 12), NPTE_WD);
	fake_vm_destroy(512);
}

static void split_at(void **s)
{
	(void)s;
	for (int left = 0; left <= 2; left++) {
		fake_vm_create(&npt_fmt_npt);
		fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
		/* Nothing to split: an edge.  An empty place: no leaf will cross it. */
		fake_npt.left = 0;
		assert_int_equal(npt_split_at(&vm.n, GPA(0x40000000)), HV_OK);
		assert_int_equal(npt_split_at(&vm.n, GPA(0x80000000)), HV_OK);
		assert_int_equal(npt_split_at(&vm.n, GPA(0x1000)), HV_NOMEM);
		fake_npt.left = 2;
		assert_int_equal(npt_split_at(&vm.n, GPA(0x1000)), HV_OK);
		assert_int_equal(npt_map(&vm.n, GPA(0), 21, npte_leaf(&vm.fmt, HPA(0), 21, NPT_RWX, true)),
				 HV_EXIST);
		fake_npt.left = left;
		assert_int_equal(npt_split_at(&vm.n, GPA(0x40201000)), left < 2 ? HV_NOMEM : HV_OK);
		for (uint64_t at = 0x40000000; at < 0x80000000; at += 0x1000)
			assert_true(fake_vm_maps(at, at + 0x40000000));
		fake_vm_state(0x40201000, 30 - 9 * (unsigned)left);
		fake_vm_destroy(512 * 512);
	}
}

/* ---- promotion ---------------------------------------------------------------- */

static void map_span(const struct npt_fmt *fmt, unsigned perms)
{
	fake_vm_create(fmt);
	for (uint64_t i = 0; i < 512; i++)
		fake_vm_map(0x200000 + i * 0x1000, 0x400000 + i * 0x1000, 12, perms);
}

static void joins_a_span(void **s)
{
	(void)s;
	for (unsigned i = 0; i < 4; i++) {
		const struct npt_fmt *f = fmts[i % 2];

		map_span(f, i / 2 ? NPT_READ : NPT_RWX);
		*fake_vm_entry(0x201000) |= f->dirty;
		*fake_vm_entry(0x205000) |= f->accessed;
		assert_true(npt_promote(&vm.n, &vm.f, GPA(0x1fffff), 0x200001));
		/* Dirty if one page was; upgradable is as good as writable. */
		assert_int_equal(fake_vm_state(0x200000, 21), NPTE_WD);
		assert_true(*fake_vm_entry(0x200000) & f->accessed);
		assert_true(fake_vm_maps(0x3ff123, 0x5ff123));
		assert_false(npt_promote(&vm.n, &vm.f, GPA(0x200000), 0x200000));
		fake_vm_destroy(512);
	}
}

/* Whole spans only, those that fit, a few with each wait. */
static void joins_many(void **s)
{
	const uint64_t base = 0x40000000;
	uint64_t gen;

	(void)s;
	fake_vm_create(&npt_fmt_ept);
	for (uint64_t i = 0; i < 20 * 512; i++)
		fake_vm_map(base + i * 0x1000, 0x80000000 + i * 0x1000, 12,
			    i == 7 * 512 + 3 ? NPT_READ | NPT_EXEC : NPT_RWX);
	*fake_vm_entry(base + (7 * 512 + 3) * 0x1000ULL) &= ~NPTE_MW;
	gen = vm.f.gen;
	assert_int_equal(npt_promote(&vm.n, &vm.f, GPA(base + 0x1000), 19 * 0x200000), 17);
	assert_in_range(vm.f.gen - gen, 2, 4);
	fake_vm_state(base, 12);
	fake_vm_state(base + 19 * 0x200000, 12);
	for (uint64_t i = 1; i < 19; i++)
		assert_int_equal(fake_vm_state(base + i * 0x200000, i == 7 ? 12 : 21), NPTE_WC);
	for (uint64_t at = base; at < base + 20 * 0x200000; at += 0x1000)
		assert_true(fake_vm_maps(at, at + 0x40000000));
	fake_vm_destroy(20 * 512);
}

static void assert_not_joined(uint64_t pages)
{
	uint64_t was[512];

	for (unsigned i = 0; i < 512; i++)
		was[i] = *fake_vm_entry(0x200000 + i * 0x1000ULL);
	assert_false(npt_promote(&vm.n, &vm.f, GPA(0x200000), 0x200000));
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(was[i], *fake_vm_entry(0x200000 + i * 0x1000ULL));
	fake_vm_destroy(pages);
}

static void what_cannot_be_joined(void **s)
{
	(void)s;
	fake_vm_create(&npt_fmt_ept);
	assert_not_joined(0);
	for (unsigned page = 0; page < 512; page += 73) {
		uint64_t gpa = 0x200000 + page * 0x1000;

		map_span(&npt_fmt_ept, NPT_RWX);
		*fake_vm_entry(gpa) = NPTE_EMPTY;
		assert_not_joined(511);
		map_span(&npt_fmt_ept, NPT_RWX);
		*fake_vm_entry(gpa) += 0x1000;
		assert_not_joined(512);
		map_span(&npt_fmt_ept, NPT_READ);
		*fake_vm_entry(gpa) &= ~NPTE_MW;
		assert_not_joined(512);
		map_span(&npt_fmt_ept, NPT_RWX);
		*fake_vm_entry(gpa) &= ~vm.fmt.exec;
		assert_not_joined(512);
		map_span(&npt_fmt_ept, NPT_RWX);
		*fake_vm_entry(gpa) = npte_aged(&vm.fmt, *fake_vm_entry(gpa));
		assert_not_joined(512);
	}
	/* Contiguous, but not aligned. */
	fake_vm_create(&npt_fmt_ept);
	for (uint64_t i = 0; i < 512; i++)
		fake_vm_map(0x200000 + i * 0x1000, 0x401000 + i * 0x1000, 12, NPT_RWX);
	assert_not_joined(512);
	map_span(&npt_fmt_ept, NPT_RWX);
	fake_npt.left = 0;
	assert_not_joined(512);
}

static void unmap_one(void *arg)
{
	*fake_vm_entry(*(uint64_t *)arg) = NPTE_EMPTY;
}

static void touch_parent(void *arg)
{
	uint64_t value, *parent = npt_parent(&vm.n, GPA(*(uint64_t *)arg), &value);

	*parent |= vm.fmt.accessed;
}

/* After the first look something changes: all is put back. */
static void changes_after_the_first_look(void **s)
{
	uint64_t gpa = 0x234000;

	(void)s;
	map_span(&npt_fmt_ept, NPT_RWX);
	fake_npt.race = unmap_one;
	fake_npt.race_arg = &gpa;
	assert_false(npt_promote(&vm.n, &vm.f, GPA(0x200000), 0x200000));
	assert_int_equal(fake_vm_state(gpa, 12), NPTE_E);
	assert_int_equal(fake_vm_state(0x200000, 12), NPTE_WC);
	assert_int_equal(fake_vm_state(0x3ff000, 12), NPTE_WC);
	fake_vm_destroy(511);

	map_span(&npt_fmt_ept, NPT_RWX);
	fake_npt.race = touch_parent;
	fake_npt.race_arg = &gpa;
	assert_true(npt_promote(&vm.n, &vm.f, GPA(0x200000), 0x200000));
	assert_int_equal(fake_vm_state(gpa, 21), NPTE_WC);
	fake_vm_destroy(512);
}

static void fault_meanwhile(void)
{
	struct npt_walk w = {0};

	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_WRITE, &w, 1), FAST_NONE);
	assert_int_equal(w.v, NPTE_FROZEN);
	assert_int_equal(w.shift, 21);
}

static void faults_meanwhile_find_it_frozen(void **s)
{
	(void)s;
	map_span(&npt_fmt_ept, NPT_RWX);
	flush_enter(&vm.f, 0);
	vm.in_flush = fault_meanwhile;
	assert_true(npt_promote(&vm.n, &vm.f, GPA(0x200000), 0x200000));
	assert_null(vm.in_flush);
	fake_vm_destroy(512);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(children_say_the_same),
		cmocka_unit_test(grant_makes_writable_and_clean),
		cmocka_unit_test(lost_race),
		cmocka_unit_test(split_at),
		cmocka_unit_test(joins_a_span),
		cmocka_unit_test(joins_many),
		cmocka_unit_test(what_cannot_be_joined),
		cmocka_unit_test(changes_after_the_first_look),
		cmocka_unit_test(faults_meanwhile_find_it_frozen),
	};
	return cmocka_run_group_tests_name("npt_split", t, NULL, NULL);
}
