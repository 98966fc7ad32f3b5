/* SPDX-License-Identifier: BSD-2-Clause */
/* svm_caps: the words of real CPUs, then each needed bit taken away. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "svm/svm_caps.h"

/* As ryzen of Bochs has them. */
static const struct svm_words ryzen = {
	.max_extended = 0x8000001f,
	.ext_ecx = BIT(2),
	.ext_edx = 0x2fd3fbff,
	.svm_ebx = 0x8000,
	.svm_edx = 0x44f,
};

static bool compute(const struct svm_words *w, struct svm_caps *c, const char **missing)
{
	memset(c, 0xa5, sizeof(*c));
	return svm_caps_compute(w, c, missing);
}

static void accepts_a_real_cpu(void **state)
{
	const char *missing;
	struct svm_caps c;

	(void)state;
	assert_true(compute(&ryzen, &c, &missing));
	assert_null(missing);
	assert_int_equal(c.asid_count, 0x8000);
	assert_true(c.nrip_save && c.flush_by_asid && c.page_1g);
	assert_false(c.decode_assists);
}

static void does_without_options(void **state)
{
	struct svm_words w = ryzen;
	const char *missing;
	struct svm_caps c;

	(void)state;
	w.svm_edx = 1;
	w.svm_ebx = 2;
	w.ext_edx &= ~BIT(26);
	assert_true(compute(&w, &c, &missing));
	assert_int_equal(c.asid_count, 2);
	assert_false(c.nrip_save || c.flush_by_asid || c.decode_assists || c.page_1g);
	w.svm_edx |= BIT(7);
	assert_true(compute(&w, &c, &missing));
	assert_true(c.decode_assists);
}

static void refused(const struct svm_words *w, const char *because)
{
	const char *missing;
	struct svm_caps c;

	assert_false(compute(w, &c, &missing));
	assert_non_null(missing);
	assert_non_null(strstr(missing, because));
}

static void misses_each_need(void **state)
{
	struct svm_words w = ryzen;

	(void)state;
	w.ext_ecx = 0;
	refused(&w, "no SVM");
	w = ryzen;
	w.max_extended = 0x80000009;
	refused(&w, "8000_000A is absent");
	w = ryzen;
	w.svm_edx &= ~BIT(0);
	refused(&w, "EDX.NP");
	w = ryzen;
	w.ext_edx &= ~BIT(20);
	refused(&w, "EDX.NX");
	w = ryzen;
	w.svm_ebx = 1;
	refused(&w, "ASID");
}

static void tells_what_the_firmware_did(void **state)
{
	struct svm_words w = ryzen;

	(void)state;
	w.vm_cr = VM_CR_SVMDIS;
	refused(&w, "is locked: enable virtualization");
	w.svm_edx &= ~BIT(2);
	refused(&w, "is set: enable virtualization");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_a_real_cpu),
		cmocka_unit_test(does_without_options),
		cmocka_unit_test(misses_each_need),
		cmocka_unit_test(tells_what_the_firmware_did),
	};

	return cmocka_run_group_tests_name("svm_caps", tests, NULL, NULL);
}
