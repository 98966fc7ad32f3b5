/* SPDX-License-Identifier: BSD-2-Clause */
/* vmx_caps: the words of a real capability set, then each needed bit taken away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmx/vmx_caps.h"

/* As corei7_skylake_x of Bochs has them. */
static const struct vmx_words skylake = {
	.cpuid1_ecx = 0x77faf3bf,
	.feature_control = 0,
	.basic = 0x00d810000000002b,
	.pin = 0x0000007f00000016,
	.cpu = 0xf7f9fffe0401e172,
	.exit = 0x007fffff00036dff,
	.entry = 0x0000ffff000011ff,
	.misc = 0x600401e0,
	.cr0_fixed0 = 0x80000021,
	.cr0_fixed1 = 0xffffffff,
	.cr4_fixed0 = 0x2000,
	.cr4_fixed1 = 0x3727ff,
	.cpu2 = 0x02177fff00000000,
	.ept_vpid = 0x00000f0106334141,
	.true_pin = 0x0000007f00000016,
	.true_cpu = 0xf7f9fffe04006172,
	.true_exit = 0x007fffff00036dfb,
	.true_entry = 0x0000ffff000011fb,
};

static bool compute(const struct vmx_words *w, struct vmx_caps *c, const char **missing)
{
	memset(c, 0xa5, sizeof(*c));
	return vmx_caps_compute(w, c, missing);
}

static void accepts_a_real_cpu(void **state)
{
	const char *missing;
	struct vmx_caps c;

	(void)state;
	assert_true(compute(&skylake, &c, &missing));
	assert_null(missing);
	assert_int_equal(c.revision, 0x2b);
	assert_int_equal(c.pin, 0x16 | 1 | 1 << 3 | 1 << 5 | 1 << 6);
	/* No window is open, CR3 and INVLPG do not exit. */
	assert_int_equal(c.cpu, 0x04006172u | 1u << 3 | 1u << 7 | 1u << 10 | 1u << 11 | 1u << 19 |
					1u << 20 | 1u << 25 | 1u << 28 | 1u << 29 | 1u << 31);
	assert_int_equal(c.cpu & (1u << 2 | 1u << 9 | 1u << 15 | 1u << 16 | 1u << 22), 0);
	assert_int_equal(c.cpu2, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 12);
	assert_int_equal(c.exit, 0x36dfb | 1 << 2 | 1 << 9 | 0xf << 18);
	assert_int_equal(c.entry, 0x11fb | 1 << 2 | 3 << 14);
	assert_true(c.preemption_timer && c.ept_1g && c.ept_ad && c.pml && c.invept_single);
	assert_true(c.vpid && c.invvpid_single);
	assert_int_equal(c.preemption_shift, 0);
	assert_int_equal(c.cr0_fixed0, 0x20); /* NE: PE and PG are an unrestricted guest's own */
	assert_int_equal(c.cr4_fixed0, 0x2000);
	assert_int_equal(c.cr4_fixed1, 0x3727ff);
}

/* What is computed stays within what the MSRs allow. */
static void obeys_the_words(void **state)
{
	const char *missing;
	struct vmx_caps c;

	(void)state;
	assert_true(compute(&skylake, &c, &missing));
#define OBEYS(word, value)                                                                         \
	do {                                                                                       \
		assert_int_equal((uint32_t)(word) & ~(value), 0);                                  \
		assert_int_equal((value) & ~(uint32_t)((word) >> 32), 0);                          \
	} while (0)
	OBEYS(skylake.true_pin, c.pin);
	OBEYS(skylake.true_cpu, c.cpu);
	OBEYS(skylake.cpu2, c.cpu2);
	OBEYS(skylake.true_exit, c.exit);
	OBEYS(skylake.true_entry, c.entry);
#undef OBEYS
}

struct word {
	const char *msr;
	size_t offset;
	uint64_t needed; /* bits as they stand in the MSR */
};

static uint64_t *word_of(struct vmx_words *w, const struct word *d)
{
	return (uint64_t *)(void *)((char *)w + d->offset);
}

#define ALLOWED(bits) ((uint64_t)(bits) << 32)

static const struct word words[] = {
	{"IA32_VMX_PINBASED_CTLS", offsetof(struct vmx_words, true_pin), ALLOWED(0x29)},
	{"IA32_VMX_PROCBASED_CTLS", offsetof(struct vmx_words, true_cpu),
	 ALLOWED(1u << 2 | 1u << 3 | 1u << 7 | 1u << 10 | 1u << 11 | 1u << 19 | 1u << 20 |
		 1u << 22 | 1u << 25 | 1u << 28 | 1u << 29 | 1u << 31)},
	{"IA32_VMX_PROCBASED_CTLS2", offsetof(struct vmx_words, cpu2), ALLOWED(1 << 1 | 1 << 7)},
	{"IA32_VMX_EXIT_CTLS", offsetof(struct vmx_words, true_exit),
	 ALLOWED(1 << 2 | 1 << 9 | 0xf << 18)},
	{"IA32_VMX_ENTRY_CTLS", offsetof(struct vmx_words, true_entry),
	 ALLOWED(1 << 2 | 1 << 9 | 3 << 14)},
	{"IA32_VMX_EPT_VPID_CAP", offsetof(struct vmx_words, ept_vpid),
	 1 << 6 | 1 << 14 | 1 << 16 | 1 << 20},
};

/* One needed bit less: refused, and the line names the MSR and the bit. */
static void misses_each_bit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (unsigned bit = 0; bit < 64; bit++) {
			struct vmx_words w = skylake;
			const char *missing;
			struct vmx_caps c;
			char name[64];

			*word_of(&w, &words[i]) &= ~(1ULL << bit);
			if (!(words[i].needed >> bit & 1)) {
				assert_true(compute(&w, &c, &missing));
				continue;
			}
			assert_false(compute(&w, &c, &missing));
			snprintf(name, sizeof(name), "%s bit %u is 0: ", words[i].msr, bit);
			assert_non_null(strstr(missing, name));
		}
}

/* A control that is forced on although we cannot live with it. */
static void refuses_forced_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < 5; i++)
		for (unsigned bit = 0; bit < 32; bit++) {
			static const uint32_t harmless[] = {
				0x16 | 1 << 0 | 1 << 3 | 1 << 5 | 1 << 6,
				0x04006172u | 0xb2180c88u,
				0x10ea,
				0x36dff | 1 << 9 | 0xf << 18,
				0x11ff | 3 << 14,
			};
			struct vmx_words w = skylake;
			const char *missing;
			struct vmx_caps c;

			*word_of(&w, &words[i]) |= 1ULL << bit | ALLOWED(1ULL << bit);
			if (harmless[i] >> bit & 1) {
				assert_true(compute(&w, &c, &missing));
			} else {
				assert_false(compute(&w, &c, &missing));
				assert_non_null(strstr(missing, words[i].msr));
			}
		}
}

static void reads_feature_control(void **state)
{
	static const struct {
		uint64_t value;
		bool ok;
	} cases[] = {{0, true}, {4, true}, {5, true}, {7, true}, {1, false}, {3, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vmx_words w = skylake;
		const char *missing;
		struct vmx_caps c;

		w.feature_control = cases[i].value;
		assert_int_equal(compute(&w, &c, &missing), cases[i].ok);
		if (!cases[i].ok)
			assert_non_null(strstr(missing, "enable VT-x in the firmware"));
	}
}

static void refuses_odd_basics(void **state)
{
	struct vmx_words w = skylake;
	const char *missing;
	struct vmx_caps c;

	(void)state;
	w.cpuid1_ecx &= ~BIT(5);
	assert_false(compute(&w, &c, &missing));
	assert_non_null(strstr(missing, "no VMX"));
	w = skylake;
	w.basic = (w.basic & ~(0x1fffULL << 32)) | 0x1001ULL << 32;
	assert_false(compute(&w, &c, &missing));
	w = skylake;
	w.basic &= ~(0xfULL << 50);
	assert_false(compute(&w, &c, &missing));
	/* Without the TRUE words CR3 exits cannot be turned off. */
	w = skylake;
	w.basic &= ~BIT64(55);
	assert_false(compute(&w, &c, &missing));
	assert_non_null(strstr(missing, "CR3"));
	w = skylake;
	w.ept_vpid &= ~(BIT64(25) | BIT64(26));
	assert_false(compute(&w, &c, &missing));
	assert_non_null(strstr(missing, "INVEPT"));
}

static void does_without_options(void **state)
{
	struct vmx_words w = skylake;
	const char *missing;
	struct vmx_caps c;

	(void)state;
	w.true_pin &= ~ALLOWED(1 << 6);
	w.cpu2 &= ~ALLOWED(1 << 3 | 1 << 12);
	w.ept_vpid &= ~(BIT64(17) | BIT64(21) | BIT64(25) | BIT64(41));
	w.misc |= 5;
	assert_true(compute(&w, &c, &missing));
	assert_false(c.preemption_timer || c.ept_1g || c.ept_ad || c.pml || c.invept_single);
	assert_int_equal(c.pin & 1 << 6, 0);
	assert_int_equal(c.cpu2 & (1 << 3 | 1 << 12), 0);
	assert_int_equal(c.preemption_shift, 5);
	assert_true(c.vpid);
	assert_false(c.invvpid_single);
	/* A page-modification log by itself: nothing else is lost. */
	w = skylake;
	w.cpu2 &= ~ALLOWED(1 << 17);
	assert_true(compute(&w, &c, &missing));
	assert_true(c.ept_ad && !c.pml);
}

static void takes_no_vpid_that_it_cannot_flush(void **state)
{
	static const uint64_t lost[] = {1ULL << 32, 3ULL << 41};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		struct vmx_words w = skylake;
		const char *missing;
		struct vmx_caps c;

		w.ept_vpid &= ~lost[i];
		assert_true(compute(&w, &c, &missing));
		assert_false(c.vpid);
		assert_int_equal(c.cpu2 & 1 << 5, 0);
	}
}

static void knows_which_msrs_exist(void **state)
{
	(void)state;
	assert_true(vmx_caps_has_true(skylake.basic));
	assert_false(vmx_caps_has_true(skylake.basic & ~BIT64(55)));
	assert_true(vmx_caps_has_cpu2(skylake.cpu));
	assert_false(vmx_caps_has_cpu2(skylake.cpu & ~BIT64(63)));
	assert_true(vmx_caps_has_ept_vpid(skylake.cpu2));
	assert_false(vmx_caps_has_ept_vpid(skylake.cpu2 & ~(BIT64(33) | BIT64(37))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_a_real_cpu),
		cmocka_unit_test(obeys_the_words),
		cmocka_unit_test(misses_each_bit),
		cmocka_unit_test(refuses_forced_bits),
		cmocka_unit_test(reads_feature_control),
		cmocka_unit_test(refuses_odd_basics),
		cmocka_unit_test(does_without_options),
		cmocka_unit_test(takes_no_vpid_that_it_cannot_flush),
		cmocka_unit_test(knows_which_msrs_exist),
	};

	return cmocka_run_group_tests_name("vmx_caps", tests, NULL, NULL);
}
