/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_vm.h"

#include "mm/fault_fast.h"
#include "mm/npt_remove.h"
#include "tests/host/random.h"

static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};

static enum hv_status try_remove(uint64_t gpa, uint64_t len, uint64_t *count)
{
	return npt_remove(&vm.n, &vm.f, GPA(gpa), len, count);
}

static uint64_t removed(uint64_t gpa, uint64_t len)
{
	uint64_t count = ~0ULL;

	assert_int_equal(try_remove(gpa, len, &count), HV_OK);
	return count;
}

static void removes_what_is_there(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		fake_vm_create(fmts[f]);
		assert_int_equal(removed(0, BIT64(48)), 0);
		assert_int_equal(removed(0x1000, 0), 0);
		fake_vm_map(0x1000, 0x5000, 12, NPT_RWX);
		fake_vm_map(0x200000, 0x400000, 21, NPT_READ);
		fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
		assert_int_equal(removed(0x2000, 0x1000), 0);
		assert_int_equal(removed(0x1000, 0x1000), 1);
		assert_int_equal(fake_vm_state(0x1000, 12), NPTE_E);
		assert_int_equal(removed(0x200000, 0x200000), 512);
		assert_int_equal(fake_vm_state(0x200000, 21), NPTE_E);
		assert_int_equal(removed(0, BIT64(48)), 512 * 512);
		assert_int_equal(fake_vm_state(0x40000000, 30), NPTE_E);
		/* May be filled again. */
		fake_vm_map(0x1000, 0x6000, 12, NPT_RWX);
		fake_vm_destroy(1);
	}
}

static void splits_at_both_ends(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		fake_vm_create(fmts[f]);
		fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
		assert_int_equal(removed(0x40201000, 0x1fe000 + 0x200000), 510 + 512);
		assert_true(fake_vm_maps(0x40200123, 0x80200123));
		assert_int_equal(fake_vm_state(0x40201000, 12), NPTE_E);
		assert_true(fake_vm_maps(0x40000000, 0x80000000));
		assert_int_equal(fake_vm_state(0x405fe000, 12), NPTE_E);
		assert_true(fake_vm_maps(0x405ff000, 0x805ff000));
		assert_true(fake_vm_maps(0x7fffffff, 0xbfffffff));
		fake_vm_destroy(512 * 512 - 1022);
	}
}

/* Out of tables at every step of a split: a status, all as it was, nothing leaked. */
static void no_table_for_a_split(void **s)
{
	uint64_t count;

	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (int left = 0; left <= 4; left++) {
			fake_vm_create(fmts[f]);
			fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
			fake_vm_map(0x80000000, 0xc0000000, 30, NPT_RWX);
			fake_npt.left = left;
			/* Two tables for each end. */
			assert_int_equal(try_remove(0x7fe01000, 0x400000, &count), left < 4 ? HV_NOMEM : HV_OK);
			assert_int_equal(vm.frames, left < 4 ? 0 : 1024);
			for (uint64_t at = 0x7fc00000; left < 4 && at < 0x80400000; at += 0x1000)
				assert_true(fake_vm_maps(at, at + 0x40000000));
			fake_vm_destroy(512 * 1024 - vm.frames);
		}
	}
}

static void logs_what_was_there(void **s)
{
	uint64_t bits[32] = {0};
	struct dirty_log log = {DIRTY_PROTECT, 2048, bits};

	(void)s;
	fake_vm_create(&npt_fmt_ept);
	fake_vm_map(0x1000, 0x5000, 12, NPT_READ);
	fake_vm_map(0x200000, 0x400000, 21, NPT_READ);
	vm.n.log = &log;
	assert_int_equal(removed(0, 0x800000), 513);
	assert_int_equal(bits[0], 2);
	for (unsigned i = 1; i < 32; i++)
		assert_int_equal(bits[i], i >= 8 && i < 16 ? ~0ULL : 0);
	fake_vm_destroy(0);
}

/* Side by side in memory as in the guest: one call, whatever the leaves' sizes and tables. */
static void neighbours_are_retired_at_once(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		fake_vm_create(fmts[f]);
		for (uint64_t at = 0x1fd000; at < 0x203000; at += PAGE_SIZE)
			fake_vm_map(at, 0x100000000 + at, 12, NPT_RWX);
		fake_vm_map(0x300000, 0x100203000, 12, NPT_READ);
		fake_vm_map(0x400000, 0x40000000, 21, NPT_RWX);
		fake_vm_map(0x600000, 0x40200000, 12, NPT_RWX);
		assert_int_equal(removed(0, 0x800000), 8 + 512);
		assert_int_equal(vm.runs, 2);
		/* Not what lies between, before, or the same way backwards; frame 0 is one like others. */
		fake_vm_map(0x1000, 0x0, 12, NPT_RWX);
		fake_vm_map(0x2000, 0x9000, 12, NPT_RWX);
		fake_vm_map(0x3000, 0x8000, 12, NPT_RWX);
		fake_vm_map(0x4000, 0xa000, 12, NPT_RWX);
		vm.runs = 0;
		vm.frame_sum = 0;
		assert_int_equal(removed(0, 0x800000), 4);
		assert_int_equal(vm.runs, 4);
		assert_int_equal(vm.frame_sum, 0x9 + 0x8 + 0xa);
		fake_vm_destroy(0);
	}
}

static void empty_tables_are_retired(void **s)
{
	unsigned before;

	(void)s;
	fake_vm_create(&npt_fmt_ept);
	fake_vm_map(0x200000, 0x5000, 12, NPT_RWX);
	before = fake_npt.in_use;
	flush_enter(&vm.f, 0);
	flush_leave(&vm.f, 0, FLUSH_ROOT);
	assert_int_equal(removed(0x200000, 0x200000), 1);
	assert_int_equal(fake_vm_state(0x200000, 21), NPTE_E);
	/* A vCPU in root mode may hold it: neither table nor frame comes back. */
	assert_false(flush_reclaim(&vm.f));
	assert_int_equal(fake_npt.in_use, before);
	assert_int_equal(vm.released, 0);
	flush_leave(&vm.f, 0, FLUSH_OUT);
	fake_vm_destroy(0);
}

static enum npte_state during;
static unsigned during_shift;

/* The vCPU's fault while the entry is frozen: it is not filled, and not waited for. */
static void fault_meanwhile(void)
{
	struct npt_walk w = {0};

	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_WRITE, &w, 1), FAST_NONE);
	during = npte_state(&vm.fmt, w.v, w.shift);
	during_shift = w.shift;
	assert_int_equal(npt_map(&vm.n, GPA(0x201000), 12, npte_leaf(&vm.fmt, HPA(0x9000), 12, NPT_RWX,
								     true)), HV_EXIST);
}

static void fault_while_frozen(void **s)
{
	(void)s;
	for (unsigned whole = 0; whole < 2; whole++) {
		fake_vm_create(&npt_fmt_ept);
		fake_vm_map(0x201000, 0x5000, 12, NPT_RWX);
		flush_enter(&vm.f, 0);
		vm.in_flush = fault_meanwhile;
		assert_int_equal(removed(whole ? 0x200000 : 0x201000, whole ? 0x200000 : 0x1000), 1);
		assert_null(vm.in_flush);
		assert_int_equal(during, NPTE_Z);
		assert_int_equal(during_shift, whole ? 21 : 12);
		fake_vm_destroy(0);
	}
}

/* ---- moving ------------------------------------------------------------------- */

static struct {
	uint64_t next, copies;
	int left;
} move;

static hpa_t move_alloc(void *ctx)
{
	assert_ptr_equal(ctx, &move);
	if (!move.left)
		return HPA_NONE;
	move.left--;
	return HPA(move.next += PAGE_SIZE);
}

static void move_copy(void *ctx, hpa_t to, hpa_t from)
{
	assert_ptr_equal(ctx, &move);
	assert_true(to.v > 0x1000000000 && from.v < 0x1000000000);
	move.copies++;
}

static const struct npt_move_env move_env = {&move, move_alloc, move_copy};

static enum hv_status do_move(uint64_t gpa, uint64_t len, int frames, uint64_t *count)
{
	move.next = 0x1000000000;
	move.copies = 0;
	move.left = frames;
	return npt_move(&vm.n, &vm.f, GPA(gpa), len, &move_env, count);
}

static void moves_pages(void **s)
{
	uint64_t count, was;

	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		fake_vm_create(fmts[f]);
		assert_int_equal(do_move(0, BIT64(40), 9, &count), HV_OK);
		assert_int_equal(count, 0);
		fake_vm_map(0x1000, 0x5000, 12, NPT_READ | NPT_EXEC);
		fake_vm_map(0x200000, 0x400000, 21, NPT_RWX);
		was = *fake_vm_entry(0x1000);
		assert_int_equal(do_move(0, 0x210000, 1000, &count), HV_OK);
		assert_int_equal(count, 17);
		assert_int_equal(move.copies, 17);
		assert_int_equal(vm.frames, 17);
		assert_int_equal(vm.runs, 2);
		/* All but the frame stays. */
		assert_int_equal(*fake_vm_entry(0x1000) ^ was, 0x5000 ^ 0x1000001000);
		assert_true(fake_vm_maps(0x20f000, 0x1000011000));
		assert_true(fake_vm_maps(0x210000, 0x410000));
		assert_int_equal(fake_vm_state(0x201000, 12), NPTE_WC);
		fake_vm_destroy(513);
	}
}

/* Out of frames after each number of pages: those before it are moved, the others stay. */
static void no_frame_for_a_move(void **s)
{
	uint64_t count;

	(void)s;
	for (int left = 0; left < 70; left++) {
		fake_vm_create(&npt_fmt_ept);
		for (uint64_t i = 0; i < 70; i++)
			fake_vm_map(i * 0x1000, 0x100000 + i * 0x1000, 12, NPT_RWX);
		assert_int_equal(do_move(0, 0x200000, left, &count), HV_NOMEM);
		assert_int_equal(move.copies, left);
		assert_int_equal(vm.frames, left);
		for (uint64_t i = 0; i < 70; i++)
			assert_true(fake_vm_maps(i * 0x1000, i < (uint64_t)left ? 0x1000001000 + i * 0x1000 :
										  0x100000 + i * 0x1000));
		fake_vm_destroy(70);
	}
}

static void no_table_for_a_move(void **s)
{
	uint64_t count;

	(void)s;
	for (int left = 0; left < 2; left++) {
		fake_vm_create(&npt_fmt_ept);
		fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
		fake_npt.left = left;
		assert_int_equal(do_move(0x40001000, 0x1000, 9, &count), HV_NOMEM);
		assert_int_equal(count, 0);
		assert_true(fake_vm_maps(0x40001000, 0x80001000));
		fake_vm_destroy(512 * 512);
	}
}

/* ---- random operations against a map with an entry a page ----------------------- */

#define PAGES 4096 /* 16 MiB: eight spans of 2 MiB */

static struct {
	uint64_t hpa[PAGES]; /* 0: not mapped */
	bool table[PAGES / 512]; /* a lowest table hangs there */
	uint64_t pages;
} model;

static uint64_t next_hpa;

static void random_map(void)
{
	unsigned shift = below(4) ? 12 : 21, span = 1u << (shift - 12);
	unsigned first = below(PAGES) & ~(span - 1);
	bool blocked = model.hpa[first] || (shift == 21 && model.table[first / 512]);
	uint64_t alone = next_hpa += 0x200000;
	uint64_t hpa = below(2) ? 0x100000000 + first * PAGE_SIZE : alone;

	assert_int_equal(npt_map(&vm.n, GPA(first * PAGE_SIZE), shift,
				 npte_leaf(&vm.fmt, HPA(hpa), shift, NPT_RWX, true)),
			 blocked ? HV_EXIST : HV_OK);
	if (blocked)
		return;
	model.table[first / 512] |= shift == 12;
	model.pages += span;
	for (unsigned p = first; p < first + span; p++)
		model.hpa[p] = hpa + (p - first) * PAGE_SIZE;
}

static void random_remove(void)
{
	unsigned from = below(PAGES), count = below(1500), pages = 0;
	unsigned end = from + count < PAGES ? from + count : PAGES;
	uint64_t frame_sum = vm.frame_sum;

	for (unsigned edge = 0; edge < 2; edge++) {
		unsigned at = edge ? end : from;

		/* A large leaf across an end is split; where nothing is, none may come. */
		if (at % 512)
			model.table[at / 512] = true;
	}
	for (unsigned p = from; p < end; p++) {
		pages += model.hpa[p] != 0;
		frame_sum += model.hpa[p] >> PAGE_SHIFT;
		model.hpa[p] = 0;
		if (p % 512 == 511 && p >= from + 511)
			model.table[p / 512] = false;
	}
	assert_int_equal(removed(from * PAGE_SIZE, (end - from) * PAGE_SIZE), pages);
	assert_int_equal(vm.frame_sum, frame_sum);
	model.pages -= pages;
	flush_reclaim(&vm.f);
}

static void compare(void)
{
	struct npt_leaf l;

	for (unsigned p = 0; p < PAGES; p++)
		if (model.hpa[p])
			assert_true(fake_vm_maps(p * PAGE_SIZE, model.hpa[p]));
		else
			assert_false(npt_lookup(&vm.n, GPA(p * PAGE_SIZE), &l));
}

static void random_operations(void **s)
{
	(void)s;
	for (unsigned round = 0; round < 20; round++) {
		memset(&model, 0, sizeof(model));
		next_hpa = 0;
		fake_vm_create(fmts[round % 2]);
		for (unsigned i = 0; i < 600; i++) {
			if (below(10))
				random_map();
			else
				random_remove();
			if (i % 100 == 0)
				compare();
		}
		compare();
		fake_vm_destroy(model.pages);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(removes_what_is_there),
		cmocka_unit_test(splits_at_both_ends),
		cmocka_unit_test(no_table_for_a_split),
		cmocka_unit_test(logs_what_was_there),
		cmocka_unit_test(neighbours_are_retired_at_once),
		cmocka_unit_test(empty_tables_are_retired),
		cmocka_unit_test(fault_while_frozen),
		cmocka_unit_test(moves_pages),
		cmocka_unit_test(no_frame_for_a_move),
		cmocka_unit_test(no_table_for_a_move),
		cmocka_unit_test(random_operations),
	};
	return cmocka_run_group_tests_name("npt_remove", t, NULL, NULL);
}
