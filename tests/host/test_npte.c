/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mm/npte.h"

static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};
static const unsigned shifts[] = {NPT_SHIFT_4K, NPT_SHIFT_2M, NPT_SHIFT_1G};

static void leaves_come_back(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (unsigned i = 0; i < ARRAY_SIZE(shifts); i++) {
			for (unsigned perms = NPT_READ; perms <= NPT_RWX; perms += 2) {
				hpa_t hpa = HPA(0x000fffffc0000000);
				uint64_t e = npte_leaf(fmts[f], hpa, shifts[i], perms, false);

				assert_true(npte_present(e));
				assert_true(npte_is_leaf(fmts[f], e, shifts[i]));
				assert_int_equal(npte_hpa(fmts[f], e).v, hpa.v);
				assert_int_equal(npte_perms(fmts[f], e), perms);
			}
		}
	}
}

static void tables_come_back(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		uint64_t e = npte_table(fmts[f], HPA(0x123456789000));

		assert_true(npte_present(e));
		assert_false(npte_is_leaf(fmts[f], e, NPT_SHIFT_2M));
		assert_false(npte_is_leaf(fmts[f], e, NPT_SHIFT_1G));
		assert_int_equal(npte_hpa(fmts[f], e).v, 0x123456789000);
	}
}

static void not_present_values(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		assert_false(npte_present(NPTE_EMPTY));
		assert_false(npte_present(NPTE_FROZEN));
		/* mm/dirty.c takes W and D without a look at P. */
		assert_int_equal(NPTE_FROZEN & (fmts[f]->write | fmts[f]->dirty), 0);
	}
}

/* SDM 3C 29.3.2: the bits as the processor reads them. */
static void ept_bits(void **s)
{
	(void)s;
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x1000), 12, NPT_RWX, false), 0x0020000000001837);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x200000), 21, NPT_RWX, false), 0x00200000002008b7);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x40000000), 30, NPT_READ, false), 0x400008b1);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0), 12, NPT_READ | NPT_EXEC, false), 0x835);
	assert_int_equal(npte_table(&npt_fmt_ept, HPA(0x1000)), 0x1807);
	/* Write without read is a misconfiguration: there is no such leaf. */
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0), 12, NPT_WRITE, false) & 1, 1);
}

/* APM 2 5.3, 15.25.5: nested entries must be user entries. */
static void npt_bits(void **s)
{
	(void)s;
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0x1000), 12, NPT_RWX, false), 0x0020000000001807);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0x200000), 21, NPT_RWX, false), 0x0020000000200887);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0), 12, NPT_READ | NPT_WRITE, false), 0x8020000000000807);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0), 12, NPT_READ, false), 0x8000000000000805);
	assert_int_equal(npte_table(&npt_fmt_npt, HPA(0x1000)), 0x1807);
}

static void accessed_and_dirty_do_not_disturb(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		uint64_t e = npte_leaf(fmts[f], HPA(0x200000), 21, NPT_RWX, false);

		e |= fmts[f]->accessed | fmts[f]->dirty;
		assert_true(npte_is_leaf(fmts[f], e, 21));
		assert_int_equal(npte_hpa(fmts[f], e).v, 0x200000);
		assert_int_equal(npte_perms(fmts[f], e), NPT_RWX);
	}
}

static unsigned state_of(unsigned f, uint64_t e)
{
	return npte_state(fmts[f], e, NPT_SHIFT_4K);
}

static void states(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		uint64_t ro = npte_leaf(fmts[f], HPA(0x5000), 12, NPT_READ | NPT_EXEC, false);
		uint64_t rl = npte_leaf(fmts[f], HPA(0x5000), 12, NPT_READ | NPT_EXEC, true);
		uint64_t w = npte_leaf(fmts[f], HPA(0x5000), 12, NPT_RWX, true);

		assert_int_equal(state_of(f, NPTE_EMPTY), NPTE_E);
		assert_int_equal(state_of(f, NPTE_FROZEN), NPTE_Z);
		assert_int_equal(state_of(f, ro), NPTE_RO);
		assert_int_equal(state_of(f, rl), NPTE_RL);
		assert_int_equal(state_of(f, w), NPTE_WC);
		assert_int_equal(state_of(f, w | fmts[f]->dirty), NPTE_WD);
		assert_int_equal(state_of(f, npte_aged(fmts[f], w)), NPTE_AG);
		assert_int_equal(npte_state(fmts[f], npte_table(fmts[f], HPA(0x5000)), 21), NPTE_TB);
		/* Writable but not upgradable, a frame number in what is not present, ... */
		assert_int_equal(state_of(f, w & ~NPTE_MW), NPTE_ILLEGAL);
		assert_int_equal(state_of(f, 0x5000), NPTE_ILLEGAL);
		assert_int_equal(state_of(f, w & ~NPTE_SW_P), NPTE_ILLEGAL);
		assert_int_equal(state_of(f, w & ~fmts[f]->read), NPTE_ILLEGAL);
		assert_int_equal(state_of(f, w | NPTE_SAVED_X), NPTE_ILLEGAL);
		assert_int_equal(npte_state(fmts[f], NPTE_SW_P | 1, 21), NPTE_ILLEGAL);
	}
}

static void without_dirty_bits_writable_is_dirty(void **s)
{
	struct npt_fmt f = npt_fmt_ept;

	(void)s;
	f.accessed = f.dirty = 0;
	assert_int_equal(npte_state(&f, npte_leaf(&f, HPA(0), 12, NPT_RWX, true), 12), NPTE_WD);
}

static void aging_comes_back(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		for (unsigned perms = NPT_READ; perms <= NPT_RWX; perms += 2) {
			uint64_t e = npte_leaf(fmts[f], HPA(0x7000), 12, perms, true);
			uint64_t a = npte_aged(fmts[f], e);

			assert_true(npte_is_aged(fmts[f], a));
			/* Nothing that the CPU could use. */
			assert_int_equal(a & (fmts[f]->read | fmts[f]->write | fmts[f]->exec), 0);
			assert_int_equal(npte_perms(fmts[f], a), perms & ~NPT_WRITE);
			assert_int_equal(npte_unaged(fmts[f], a, perms & NPT_WRITE), e);
		}
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(leaves_come_back),   cmocka_unit_test(tables_come_back),
		cmocka_unit_test(not_present_values), cmocka_unit_test(ept_bits),
		cmocka_unit_test(npt_bits),	      cmocka_unit_test(accessed_and_dirty_do_not_disturb),
		cmocka_unit_test(states),	      cmocka_unit_test(aging_comes_back),
		cmocka_unit_test(without_dirty_bits_writable_is_dirty),
	};
	return cmocka_run_group_tests_name("npte", t, NULL, NULL);
}
