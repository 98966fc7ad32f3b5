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
				uint64_t e = npte_leaf(fmts[f], hpa, shifts[i], perms);

				assert_true(npte_present(fmts[f], e));
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

		assert_true(npte_present(fmts[f], e));
		assert_false(npte_is_leaf(fmts[f], e, NPT_SHIFT_2M));
		assert_false(npte_is_leaf(fmts[f], e, NPT_SHIFT_1G));
		assert_int_equal(npte_hpa(fmts[f], e).v, 0x123456789000);
	}
}

static void not_present_values(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		assert_false(npte_present(fmts[f], NPTE_EMPTY));
		assert_false(npte_present(fmts[f], NPTE_FROZEN));
	}
}

/* SDM 3C 29.3.2: the bits as the processor reads them. */
static void ept_bits(void **s)
{
	(void)s;
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x1000), 12, NPT_RWX), 0x1037);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x200000), 21, NPT_RWX), 0x2000b7);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0x40000000), 30, NPT_READ), 0x400000b1);
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0), 12, NPT_READ | NPT_EXEC), 0x35);
	assert_int_equal(npte_table(&npt_fmt_ept, HPA(0x1000)), 0x1007);
	/* Write without read is a misconfiguration: there is no such leaf. */
	assert_int_equal(npte_leaf(&npt_fmt_ept, HPA(0), 12, NPT_WRITE) & 1, 1);
}

/* APM 2 5.3, 15.25.5: nested entries must be user entries. */
static void npt_bits(void **s)
{
	(void)s;
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0x1000), 12, NPT_RWX), 0x1007);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0x200000), 21, NPT_RWX), 0x200087);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0), 12, NPT_READ | NPT_WRITE), 0x8000000000000007);
	assert_int_equal(npte_leaf(&npt_fmt_npt, HPA(0), 12, NPT_READ), 0x8000000000000005);
	assert_int_equal(npte_table(&npt_fmt_npt, HPA(0x1000)), 0x1007);
}

static void accessed_and_dirty_do_not_disturb(void **s)
{
	(void)s;
	for (unsigned f = 0; f < ARRAY_SIZE(fmts); f++) {
		uint64_t e = npte_leaf(fmts[f], HPA(0x200000), 21, NPT_RWX);

		e |= fmts[f]->accessed | fmts[f]->dirty;
		assert_true(npte_is_leaf(fmts[f], e, 21));
		assert_int_equal(npte_hpa(fmts[f], e).v, 0x200000);
		assert_int_equal(npte_perms(fmts[f], e), NPT_RWX);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(leaves_come_back),   cmocka_unit_test(tables_come_back),
		cmocka_unit_test(not_present_values), cmocka_unit_test(ept_bits),
		cmocka_unit_test(npt_bits),	      cmocka_unit_test(accessed_and_dirty_do_not_disturb),
	};
	return cmocka_run_group_tests_name("npte", t, NULL, NULL);
}
