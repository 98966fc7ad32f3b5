/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_vm.h"

#include "mm/age.h"

static struct npt_fmt bare; /* EPT without accessed and dirty bits */
static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt, &bare};
static uint16_t used[1024];

static void touch(uint64_t gpa)
{
	uint64_t *e = fake_vm_entry(gpa);

	if (vm.fmt.accessed)
		*e |= vm.fmt.accessed;
	else if (npte_is_aged(&vm.fmt, *e))
		*e = npte_unaged(&vm.fmt, *e, *e & NPTE_MW);
}

static uint64_t age(uint64_t gpa, uint64_t len)
{
	memset(used, 0xff, sizeof(used));
	return age_range(&vm.n, &vm.f, GPA(gpa), len, used);
}

static void begin(unsigned f)
{
	bare = npt_fmt_ept;
	bare.accessed = bare.dirty = 0;
	fake_vm_create(fmts[f]);
}

static void counts_what_was_used(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		begin(f);
		assert_int_equal(age(0, 0x800000), 0);
		for (uint64_t p = 0; p < 600; p++)
			fake_vm_map(p * 0x1000, 0x1000000 + p * 0x1000, 12, NPT_RWX);
		fake_vm_map(0x600000, 0x2000000, 21, NPT_RWX);
		age(0, 0x800000);
		assert_int_equal(age(0, 0x800000), 0);
		touch(0x1000);
		touch(0x1000);
		touch(0x1ff000);
		touch(0x200000);
		touch(0x654000);
		assert_int_equal(age(0, 0x800000), 3 + 512);
		assert_int_equal(used[0], 2);
		assert_int_equal(used[1], 1);
		assert_int_equal(used[2], 0);
		assert_int_equal(used[3], 512);
		assert_int_equal(used[4], 0xffff); /* not ours */
		assert_int_equal(age(0, 0x800000), 0);
		/* Without room for the spans. */
		touch(0x1000);
		assert_int_equal(age_range(&vm.n, &vm.f, GPA(0), 0x800000, NULL), 1);
		fake_vm_destroy(600 + 512);
	}
}

static void only_the_range(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		begin(f);
		for (uint64_t p = 0; p < 1024; p++)
			fake_vm_map(p * 0x1000, 0x1000000 + p * 0x1000, 12, NPT_RWX);
		fake_vm_map(0x400000, 0x2000000, 21, NPT_RWX);
		for (uint64_t at = 0; at < 0x600000; at += 0x1000)
			touch(at);
		assert_int_equal(age(0x1ff000, 0x2000), 2);
		assert_int_equal(used[0], 1);
		assert_int_equal(used[1], 1);
		assert_int_equal(used[2], 0xffff);
		/* A large leaf that the range holds a part of is left alone. */
		assert_int_equal(age(0x3ff000, 0x2000), 1);
		assert_int_equal(age(0x500000, 0x100000), 0);
		assert_int_equal(age(0x400000, 0x200000), 512);
		assert_int_equal(age(0, 0x600000), 1024 - 3);
		assert_int_equal(age(0x1000, 0), 0);
		fake_vm_destroy(1024 + 512);
	}
}

static void huge_leaves_fill_their_spans(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		begin(f);
		fake_vm_map(0x40000000, 0x80000000, 30, NPT_RWX);
		touch(0x40000000);
		assert_int_equal(age(0x3fe00000, 0x40200000), 512 * 512);
		assert_int_equal(used[0], 0);
		for (unsigned i = 1; i <= 512; i++)
			assert_int_equal(used[i], 512);
		assert_int_equal(used[513], 0xffff);
		fake_vm_destroy(512 * 512);
	}
}

static void all_else_stays(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		uint64_t was;

		begin(f);
		fake_vm_map(0x1000, 0x5000, 12, NPT_RWX);
		fake_vm_map(0x2000, 0x6000, 12, NPT_READ);
		fake_vm_map(0x3000, 0x7000, 12, NPT_RWX);
		*fake_vm_entry(0x3000) = NPTE_FROZEN;
		touch(0x1000);
		*fake_vm_entry(0x1000) |= vm.fmt.dirty;
		was = *fake_vm_entry(0x1000);
		age(0, 0x200000);
		if (vm.fmt.accessed) {
			assert_int_equal(*fake_vm_entry(0x1000), was & ~vm.fmt.accessed);
			assert_int_equal(fake_vm_state(0x2000, 12), NPTE_RL);
		} else {
			/* No access is left, and all of it comes back. */
			assert_int_equal(fake_vm_state(0x1000, 12), NPTE_AG);
			assert_int_equal(fake_vm_state(0x2000, 12), NPTE_AG);
			assert_int_equal(npte_unaged(&vm.fmt, *fake_vm_entry(0x1000), true), was);
		}
		assert_int_equal(fake_vm_state(0x3000, 12), NPTE_Z);
		assert_int_equal(fake_vm_state(0x4000, 12), NPTE_E);
		*fake_vm_entry(0x3000) = NPTE_EMPTY;
		fake_vm_destroy(2);
	}
}

/* Nobody is kicked for it; every vCPU flushes when it enters next. */
static void owes_a_flush_but_waits_for_nobody(void **s)
{
	(void)s;
	begin(0);
	flush_enter(&vm.f, 0);
	age(0, 0x200000);
	assert_int_equal(vm.f.slot[0].state, FLUSH_GUEST);
	flush_leave(&vm.f, 0, FLUSH_ROOT);
	assert_true(flush_enter(&vm.f, 0));
	flush_leave(&vm.f, 0, FLUSH_OUT);
	fake_vm_destroy(0);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(counts_what_was_used),
		cmocka_unit_test(only_the_range),
		cmocka_unit_test(huge_leaves_fill_their_spans),
		cmocka_unit_test(all_else_stays),
		cmocka_unit_test(owes_a_flush_but_waits_for_nobody),
	};
	return cmocka_run_group_tests_name("age", t, NULL, NULL);
}
