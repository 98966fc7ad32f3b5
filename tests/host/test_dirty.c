/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_vm.h"

#include "mm/fault_fast.h"
#include "mm/npt_remove.h"

#define PAGES 2048u

static uint64_t bits[PAGES / 64 + 2]; /* a guard at either end */
static uint64_t bitmap[PAGES / 64 + 2];
static struct dirty_log dirty = {DIRTY_PROTECT, PAGES, bits + 1};

static void begin(const struct npt_fmt *fmt, enum dirty_mode mode)
{
	fake_vm_create(fmt);
	memset(bits, 0, sizeof(bits));
	memset(bitmap, 0, sizeof(bitmap));
	dirty.mode = mode;
}

static void enable(bool eager)
{
	assert_int_equal(dirty_enable(&vm.n, &vm.f, &dirty, eager), HV_OK);
}

static void end(uint64_t pages)
{
	assert_ptr_equal(dirty_disable(&vm.n, &vm.f), &dirty);
	assert_null(dirty_log_of(&vm.n));
	assert_null(dirty_disable(&vm.n, &vm.f));
	assert_int_equal(bits[0] | bits[PAGES / 64 + 1], 0);
	assert_int_equal(bitmap[0] | bitmap[PAGES / 64 + 1], 0);
	fake_vm_destroy(pages);
}

static enum hv_status try_harvest(uint64_t gpa, uint64_t len, unsigned flags)
{
	uint64_t count;

	return dirty_harvest(&vm.n, &vm.f, GPA(gpa), len, flags, bitmap + 1, &count);
}

static uint64_t harvest(unsigned flags)
{
	uint64_t count = ~0ULL;

	assert_int_equal(dirty_harvest(&vm.n, &vm.f, GPA(0), PAGES * PAGE_SIZE, flags, bitmap + 1, &count),
			 HV_OK);
	return count;
}

static bool named(uint64_t gpa)
{
	return bitmap[1 + (gpa >> 18)] >> (gpa >> 12 & 63) & 1;
}

/* The guest writes: by itself if it may, and the CPU sets D; else by a fault. */
static void write_page(uint64_t gpa)
{
	uint64_t *e = fake_vm_entry(gpa);
	struct npt_walk w = {0};

	if (!(*e & vm.fmt.write))
		assert_int_equal(fault_fast(&vm.n, GPA(gpa), NPT_WRITE, &w, 1), FAST_WRITE);
	if (vm.n.log && dirty.mode == DIRTY_PML && !(*e & vm.fmt.dirty))
		dirty_mark(&dirty, GPA(gpa));
	*e |= vm.fmt.dirty | vm.fmt.accessed;
}

static void bad_harvests(void **s)
{
	(void)s;
	begin(&npt_fmt_ept, DIRTY_PROTECT);
	assert_int_equal(try_harvest(0, 0x40000, DIRTY_GET), HV_NOENT);
	enable(false);
	assert_int_equal(try_harvest(0, 0x40000, 0), HV_INVAL);
	assert_int_equal(try_harvest(0, 0x40000, 4 | DIRTY_GET), HV_INVAL);
	assert_int_equal(try_harvest(0x1000, 0x40000, DIRTY_GET), HV_INVAL);
	assert_int_equal(try_harvest(0, 0x41000, DIRTY_GET), HV_INVAL);
	assert_int_equal(try_harvest(0, 0x40001, DIRTY_GET), HV_INVAL);
	assert_int_equal(try_harvest(0, 0x840000, DIRTY_GET), HV_RANGE);
	assert_int_equal(try_harvest(0x7c0000, 0x80000, DIRTY_GET), HV_RANGE);
	assert_int_equal(try_harvest(0x840000, 0, DIRTY_GET), HV_RANGE);
	/* Wrapping, in all ways. */
	assert_int_equal(try_harvest(0x40000, -0x40000ULL, DIRTY_GET), HV_RANGE);
	assert_int_equal(try_harvest(-0x40000ULL, 0x40000, DIRTY_GET | DIRTY_CLEAR), HV_RANGE);
	assert_int_equal(try_harvest(-0x40000ULL, 0x80000, DIRTY_GET), HV_RANGE);
	assert_int_equal(try_harvest(BIT64(63), BIT64(63), DIRTY_CLEAR), HV_RANGE);
	/* The last word, and nothing at its end. */
	assert_int_equal(try_harvest(0x7c0000, 0x40000, DIRTY_GET), HV_OK);
	assert_int_equal(try_harvest(0x800000, 0, DIRTY_GET | DIRTY_CLEAR), HV_OK);
	end(0);
}

static void switched_twice(void **s)
{
	struct dirty_log other = {DIRTY_DBIT, 64, bits};

	(void)s;
	begin(&npt_fmt_ept, DIRTY_PROTECT);
	assert_null(dirty_disable(&vm.n, &vm.f));
	fake_vm_map(0x1000, 0x5000, 12, NPT_RWX);
	enable(false);
	write_page(0x1000);
	assert_int_equal(dirty_enable(&vm.n, &vm.f, &other, true), HV_EXIST);
	assert_ptr_equal(dirty_log_of(&vm.n), &dirty);
	assert_int_equal(harvest(DIRTY_GET), 1);
	memset(bits, 0, sizeof(bits));
	end(1);
}

static const struct {
	const struct npt_fmt *fmt;
	enum dirty_mode mode;
} all[] = {
	{&npt_fmt_ept, DIRTY_PROTECT}, {&npt_fmt_ept, DIRTY_DBIT}, {&npt_fmt_ept, DIRTY_PML},
	{&npt_fmt_npt, DIRTY_PROTECT}, {&npt_fmt_npt, DIRTY_DBIT},
};

static void every_write_is_named_once(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		for (uint64_t p = 0; p < PAGES; p++)
			fake_vm_map(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE, 12, NPT_RWX);
		write_page(0x3000); /* before there was a log */
		enable(false);
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 0);
		for (unsigned round = 0; round < 3; round++) {
			for (uint64_t p = round; p < PAGES; p += 7)
				write_page(p * PAGE_SIZE);
			/* To look changes nothing. */
			assert_int_equal(harvest(DIRTY_GET), (PAGES - round + 6) / 7);
			assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), (PAGES - round + 6) / 7);
			for (uint64_t p = 0; p < PAGES; p++)
				assert_int_equal(named(p * PAGE_SIZE), p >= round && (p - round) % 7 == 0);
			assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 0);
		}
		/* Written again after the harvest. */
		write_page(0x3000);
		write_page(0x3000);
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 1);
		assert_true(named(0x3000));
		end(PAGES);
	}
}

static void clears_by_name(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		for (uint64_t p = 0; p < 128; p++)
			fake_vm_map(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE, 12, NPT_RWX);
		enable(false);
		write_page(0x1000);
		write_page(0x2000);
		write_page(0x41000);
		bitmap[1] = BIT64(1) | BIT64(9);
		assert_int_equal(harvest(DIRTY_CLEAR), 2);
		assert_int_equal(harvest(DIRTY_GET), 2);
		assert_false(named(0x1000));
		assert_true(named(0x2000) && named(0x41000));
		write_page(0x1000);
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 3);
		end(128);
	}
}

/* Only the words that are asked for. */
static void part_of_the_log(void **s)
{
	uint64_t count;

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		for (uint64_t p = 0; p < 192; p++)
			fake_vm_map(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE, 12, NPT_RWX);
		enable(false);
		write_page(0x3f000);
		write_page(0x40000);
		write_page(0x80000);
		assert_int_equal(dirty_harvest(&vm.n, &vm.f, GPA(0x40000), 0x40000, DIRTY_GET | DIRTY_CLEAR,
					       bitmap + 1, &count), HV_OK);
		assert_int_equal(count, 1);
		assert_int_equal(bitmap[1], 1);
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 2);
		end(192);
	}
}

/* What lies behind it in the same table keeps its rights. */
static void log_ends_inside_a_table(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		for (uint64_t p = 0; p < 128; p++)
			fake_vm_map(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE, 12, NPT_RWX);
		write_page(0x3f000);
		write_page(0x40000);
		dirty.pages = 64;
		enable(false);
		assert_int_equal(fake_vm_state(0x3f000, 12), dirty.mode == DIRTY_PROTECT ? NPTE_RL : NPTE_WC);
		assert_int_equal(fake_vm_state(0x40000, 12), NPTE_WD);
		dirty.pages = PAGES;
		end(128);
	}
}

/* One harvest over tables, nothing and a large leaf; some pages are written by ourselves. */
static void spans_of_all_kinds(void **s)
{
	static const uint64_t by_guest[] = {0x0, 0x1ff000, 0x600000, 0x7ff000};
	static const uint64_t by_us[] = {0x1000, 0x1ff000, 0x200000, 0x400000, 0x5ff000};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		for (uint64_t p = 0; p < PAGES; p++)
			if (p < 512 || p >= 1536)
				fake_vm_map(p * PAGE_SIZE, 0x100000000 + p * PAGE_SIZE, 12, NPT_RWX);
		fake_vm_map(0x400000, 0x40000000, 21, NPT_RWX);
		enable(false);
		for (unsigned k = 0; k < ARRAY_SIZE(by_guest); k++)
			write_page(by_guest[k]);
		for (unsigned k = 0; k < ARRAY_SIZE(by_us); k++)
			dirty_mark(&dirty, GPA(by_us[k]));
		assert_int_equal(harvest(DIRTY_GET), 8);
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 8);
		for (unsigned k = 0; k < ARRAY_SIZE(by_guest); k++)
			assert_true(named(by_guest[k]));
		for (unsigned k = 0; k < ARRAY_SIZE(by_us); k++)
			assert_true(named(by_us[k]));
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 0);
		end(1536);
	}
}

static void marks_stay_inside(void **s)
{
	(void)s;
	begin(&npt_fmt_ept, DIRTY_PROTECT);
	enable(false);
	dirty_mark(&dirty, GPA(PAGES * PAGE_SIZE));
	dirty_mark(&dirty, GPA(UINT64_MAX));
	assert_int_equal(harvest(DIRTY_GET), 0);
	dirty_mark_range(&dirty, GPA(0x1fff), 2);
	assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 2);
	assert_int_equal(bitmap[1], 6);
	dirty_mark_range(&dirty, GPA(0x1fff), 1);
	dirty_mark_range(&dirty, GPA(0x5000), 0);
	dirty_mark_range(&dirty, GPA((PAGES - 1) * PAGE_SIZE), 4 * PAGE_SIZE);
	assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 2);
	assert_int_equal(bitmap[PAGES / 64], BIT64(63));
	assert_int_equal(dirty_bytes(1), 8);
	assert_int_equal(dirty_bytes(64), 8);
	assert_int_equal(dirty_bytes(65), 16);
	end(0);
}

static void large_leaves(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all) * 2; i++) {
		bool eager = i & 1;

		begin(all[i / 2].fmt, all[i / 2].mode);
		fake_vm_map(0x200000, 0x400000, 21, NPT_RWX);
		fake_vm_map(0x600000, 0x800000, 21, NPT_READ);
		enable(eager);
		if (!eager) {
			assert_int_equal(fake_vm_state(0x200000, 21), NPTE_RL);
			assert_int_equal(fake_vm_state(0x600000, 21), NPTE_RL);
		} else {
			assert_int_equal(fake_vm_state(0x2ff000, 12),
					 dirty.mode == DIRTY_PROTECT ? NPTE_RL : NPTE_WC);
			assert_int_equal(fake_vm_state(0x6ff000, 12), NPTE_RL);
			write_page(0x2ff000);
			write_page(0x6ff000);
			assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 2);
		}
		end(1024);
	}
}

/* Out of tables after each split: the rest is large and write-protected, nothing is lost. */
static void no_table_for_eager_splits(void **s)
{
	(void)s;
	for (int left = 0; left <= 3; left++) {
		begin(&npt_fmt_ept, DIRTY_PROTECT);
		for (uint64_t at = 0x200000; at < 0x800000; at += 0x200000)
			fake_vm_map(at, at + 0x400000, 21, NPT_RWX);
		fake_npt.left = left;
		assert_int_equal(dirty_enable(&vm.n, &vm.f, &dirty, true), left < 3 ? HV_NOMEM : HV_OK);
		for (uint64_t i = 0; i < 3; i++) {
			uint64_t at = 0x200000 + i * 0x200000;

			assert_int_equal(fake_vm_state(at, (int)i < left ? 12 : 21), NPTE_RL);
			for (uint64_t p = at; p < at + 0x200000; p += 0x1000)
				assert_true(fake_vm_maps(p, p + 0x400000));
		}
		end(3 * 512);
	}
}

static void log_while_entries_are_frozen_or_aged(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i].fmt, all[i].mode);
		fake_vm_map(0x1000, 0x5000, 12, NPT_RWX);
		fake_vm_map(0x2000, 0x6000, 12, NPT_RWX);
		*fake_vm_entry(0x1000) = NPTE_FROZEN;
		*fake_vm_entry(0x2000) = npte_aged(&vm.fmt, *fake_vm_entry(0x2000));
		enable(true);
		bitmap[1] = 7;
		assert_int_equal(harvest(DIRTY_CLEAR), 3);
		assert_int_equal(fake_vm_state(0x1000, 12), NPTE_Z);
		assert_int_equal(fake_vm_state(0x2000, 12), NPTE_AG);
		*fake_vm_entry(0x1000) = NPTE_EMPTY;
		end(1);
	}
}

static bool written;

/* A vCPU with a stale translation writes until it has been kicked. */
static void write_meanwhile(void)
{
	written = true;
	assert_int_equal(fake_vm_state(0x1000, 12), dirty.mode == DIRTY_PROTECT ? NPTE_RL : NPTE_WC);
}

/* The permission is gone before the flush that the return waits for. */
static void harvest_waits_for_the_guest(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].mode == DIRTY_PML)
			continue; /* its first flush empties the lists */
		begin(all[i].fmt, all[i].mode);
		fake_vm_map(0x1000, 0x5000, 12, NPT_RWX);
		enable(false);
		write_page(0x1000);
		flush_enter(&vm.f, 0);
		written = false;
		vm.in_flush = write_meanwhile;
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 1);
		assert_true(written);
		/* Also when there was nothing to clear. */
		flush_enter(&vm.f, 0);
		written = false;
		vm.in_flush = write_meanwhile;
		assert_int_equal(harvest(DIRTY_GET | DIRTY_CLEAR), 0);
		assert_true(written);
		end(1);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(bad_harvests),
		cmocka_unit_test(switched_twice),
		cmocka_unit_test(every_write_is_named_once),
		cmocka_unit_test(clears_by_name),
		cmocka_unit_test(part_of_the_log),
		cmocka_unit_test(log_ends_inside_a_table),
		cmocka_unit_test(spans_of_all_kinds),
		cmocka_unit_test(marks_stay_inside),
		cmocka_unit_test(large_leaves),
		cmocka_unit_test(no_table_for_eager_splits),
		cmocka_unit_test(log_while_entries_are_frozen_or_aged),
		cmocka_unit_test(harvest_waits_for_the_guest),
	};
	return cmocka_run_group_tests_name("dirty", t, NULL, NULL);
}
