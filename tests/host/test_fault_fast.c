/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_vm.h"

#include "mm/fault_fast.h"
#include "mm/npt_remove.h"

static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};
static uint64_t bits[16];
static struct dirty_log dirty = {DIRTY_PROTECT, 1024, bits};

static void begin(unsigned f, bool log)
{
	fake_vm_create(fmts[f]);
	memset(bits, 0, sizeof(bits));
	vm.n.log = log ? &dirty : NULL;
}

static enum fault_fast fast(uint64_t gpa, unsigned access)
{
	struct npt_walk w = {0};

	return fault_fast(&vm.n, GPA(gpa), access, &w, 1);
}

static bool logged(uint64_t gpa)
{
	uint64_t page = gpa >> PAGE_SHIFT;

	return bits[page / 64] >> (page % 64) & 1;
}

static void not_for_us(void **s)
{
	(void)s;
	for (unsigned i = 0; i < 4; i++) {
		begin(i % 2, i / 2);
		assert_int_equal(fast(0x1000, NPT_READ), FAST_NONE);
		assert_int_equal(fast(BIT64(48), NPT_READ), FAST_NONE);
		assert_int_equal(fast(UINT64_MAX, NPT_WRITE), FAST_NONE);
		fake_vm_map(0x1000, 0x5000, 12, NPT_READ);
		assert_int_equal(fast(0x1000, NPT_EXEC), FAST_NONE);
		*fake_vm_entry(0x1000) &= ~NPTE_MW;
		assert_int_equal(fast(0x1000, NPT_WRITE), FAST_NONE);
		*fake_vm_entry(0x1000) = npte_aged(&vm.fmt, *fake_vm_entry(0x1000));
		assert_int_equal(fast(0x1000, NPT_WRITE), FAST_NONE);
		*fake_vm_entry(0x1000) = NPTE_FROZEN;
		for (unsigned access = 1; access < 8; access++)
			assert_int_equal(fast(0x1000, access), FAST_NONE);
		assert_int_equal(*fake_vm_entry(0x1000), NPTE_FROZEN);
		assert_int_equal(bits[0], 0);
		*fake_vm_entry(0x1000) = NPTE_EMPTY;
		fake_vm_destroy(0);
	}
}

static void writes_are_granted_and_logged(void **s)
{
	(void)s;
	for (unsigned i = 0; i < 4; i++) {
		begin(i % 2, i / 2);
		fake_vm_map(0x1000, 0x5000, 12, NPT_READ | NPT_EXEC);
		assert_int_equal(fast(0x1000, NPT_READ), FAST_SPURIOUS);
		assert_int_equal(fast(0x1000, NPT_EXEC), FAST_SPURIOUS);
		assert_int_equal(fake_vm_state(0x1000, 12), NPTE_RL);
		assert_int_equal(fast(0x1fff, NPT_WRITE), FAST_WRITE);
		assert_int_equal(fake_vm_state(0x1000, 12), NPTE_WC);
		assert_int_equal(bits[0], i / 2 ? 2 : 0);
		bits[0] = 0;
		/* Another CPU was faster, and has logged it. */
		assert_int_equal(fast(0x1000, NPT_WRITE), FAST_SPURIOUS);
		assert_int_equal(bits[0], 0);
		fake_vm_destroy(1);
	}
}

static void large_leaves(void **s)
{
	(void)s;
	for (unsigned i = 0; i < 4; i++) {
		begin(i % 2, i / 2);
		fake_vm_map(0x200000, 0x400000, 21, NPT_READ | NPT_EXEC);
		/* Under a log it is split first. */
		assert_int_equal(fast(0x234000, NPT_WRITE), i / 2 ? FAST_NONE : FAST_WRITE);
		assert_int_equal(fake_vm_state(0x200000, 21), i / 2 ? NPTE_RL : NPTE_WC);
		*fake_vm_entry(0x200000) = npte_aged(&vm.fmt, *fake_vm_entry(0x200000));
		assert_int_equal(fast(0x234000, NPT_WRITE), i / 2 ? FAST_NONE : FAST_ACCESS);
		if (i / 2)
			assert_int_equal(fast(0x234000, NPT_READ), FAST_ACCESS);
		assert_int_equal(fake_vm_state(0x200000, 21), i / 2 ? NPTE_RL : NPTE_WC);
		assert_int_equal(bits[8], 0);
		fake_vm_destroy(512);
	}
}

static void aged_leaves(void **s)
{
	struct npt_fmt bare = npt_fmt_ept;

	(void)s;
	bare.accessed = bare.dirty = 0;
	for (unsigned i = 0; i < 2 * 2 * 2 * 2; i++) {
		bool log = i & 1, write = i & 2, upgradable = i & 4;
		uint64_t e;

		begin(0, log);
		if (i & 8)
			vm.fmt = bare;
		e = npte_leaf(&vm.fmt, HPA(0x5000), 12, NPT_READ | NPT_EXEC, upgradable);
		assert_int_equal(npt_map(&vm.n, GPA(0x3000), 12, e), HV_OK);
		*fake_vm_entry(0x3000) = npte_aged(&vm.fmt, e);
		assert_int_equal(fast(0x3000, write ? NPT_WRITE : NPT_EXEC),
				 write && !upgradable ? FAST_NONE : FAST_ACCESS);
		if (write && !upgradable)
			assert_int_equal(fake_vm_state(0x3000, 12), NPTE_AG);
		else if (!upgradable)
			assert_int_equal(fake_vm_state(0x3000, 12), NPTE_RO);
		else if (log && !write)
			assert_int_equal(fake_vm_state(0x3000, 12), NPTE_RL);
		else
			assert_int_equal(fake_vm_state(0x3000, 12), i & 8 ? NPTE_WD : NPTE_WC);
		assert_int_equal(logged(0x3000), log && write && upgradable);
		fake_vm_destroy(1);
	}
}

/* A write beyond the log is granted and harms nothing. */
static void beyond_the_log(void **s)
{
	(void)s;
	begin(0, true);
	fake_vm_map(0x400000, 0x5000, 12, NPT_READ);
	assert_int_equal(fast(0x400000, NPT_WRITE), FAST_WRITE);
	for (unsigned i = 0; i < ARRAY_SIZE(bits); i++)
		assert_int_equal(bits[i], 0);
	fake_vm_destroy(1);
}

static void walk_is_kept_for_a_generation(void **s)
{
	struct npt_walk w = {0};
	uint64_t count, *table;

	(void)s;
	begin(0, false);
	fake_vm_map(0x201000, 0x5000, 12, NPT_READ);
	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_WRITE, &w, 1), FAST_WRITE);
	table = w.table;
	assert_non_null(table);
	/* The neighbour by the same table, another span by another way. */
	assert_int_equal(fault_fast(&vm.n, GPA(0x202000), NPT_WRITE, &w, 1), FAST_NONE);
	assert_ptr_equal(w.e, &table[2]);
	assert_int_equal(fault_fast(&vm.n, GPA(0x401000), NPT_WRITE, &w, 1), FAST_NONE);
	assert_null(w.table);
	assert_int_equal(w.shift, 21);
	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_READ, &w, 1), FAST_SPURIOUS);
	assert_ptr_equal(w.table, table);
	assert_int_equal(npt_remove(&vm.n, &vm.f, GPA(0), 0x40000000, &count),
			 HV_OK);
	/* Retired, not yet released: what is found there is frozen or empty. */
	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_WRITE, &w, 1), FAST_NONE);
	assert_ptr_equal(w.table, table);
	while (!flush_reclaim(&vm.f))
		;
	/* The table is gone (ASan would tell); with the next generation it is not looked at. */
	assert_int_equal(fault_fast(&vm.n, GPA(0x201000), NPT_WRITE, &w, vm.f.gen), FAST_NONE);
	assert_null(w.table);
	fake_vm_destroy(0);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(not_for_us),	  cmocka_unit_test(writes_are_granted_and_logged),
		cmocka_unit_test(large_leaves),	  cmocka_unit_test(aged_leaves),
		cmocka_unit_test(beyond_the_log), cmocka_unit_test(walk_is_kept_for_a_generation),
	};
	return cmocka_run_group_tests_name("fault_fast", t, NULL, NULL);
}
