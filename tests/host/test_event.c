/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/event.h"

static struct hv_event exception(uint8_t vector)
{
	return (struct hv_event){.valid = true, .vector = vector, .type = EVENT_EXCEPTION};
}

static enum event_meeting meet(uint8_t first, uint8_t second)
{
	struct hv_event a = exception(first), b = exception(second);

	return event_meet(&a, &b);
}

static const uint8_t benign[] = {VEC_DB, VEC_NMI, VEC_BP, VEC_OF, VEC_BR, VEC_UD,
				 VEC_NM, VEC_MF,  VEC_AC, VEC_MC, VEC_XM};
static const uint8_t contributory[] = {VEC_DE, VEC_TS, VEC_NP, VEC_SS, VEC_GP, VEC_CP};

/* SDM 3A table 6-5, a row after the other. */
static void table(void **s)
{
	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(benign); i++) {
		for (unsigned j = 0; j < 32; j++) {
			assert_int_equal(meet(benign[i], (uint8_t)j), EVENT_SECOND);
			if (j != VEC_DF)
				assert_int_equal(meet((uint8_t)j, benign[i]), EVENT_SECOND);
		}
	}
	for (unsigned i = 0; i < ARRAY_SIZE(contributory); i++) {
		uint8_t c = contributory[i];

		for (unsigned j = 0; j < ARRAY_SIZE(contributory); j++)
			assert_int_equal(meet(c, contributory[j]), EVENT_DOUBLE_FAULT);
		assert_int_equal(meet(c, VEC_PF), EVENT_SECOND);
		assert_int_equal(meet(VEC_PF, c), EVENT_DOUBLE_FAULT);
		assert_int_equal(meet(VEC_DF, c), EVENT_SHUTDOWN);
	}
	assert_int_equal(meet(VEC_PF, VEC_PF), EVENT_DOUBLE_FAULT);
	assert_int_equal(meet(VEC_DF, VEC_PF), EVENT_SHUTDOWN);
	assert_int_equal(meet(VEC_DF, VEC_DB), EVENT_SECOND);
}

/* Only exceptions count: INT 14 is no page fault, nor is interrupt 14. */
static void other_types_are_benign(void **s)
{
	static const uint8_t types[] = {EVENT_EXTINT, EVENT_NMI, EVENT_SOFT_INT, EVENT_PRIV_SOFT_EXC,
					EVENT_SOFT_EXC};
	struct hv_event pf = exception(VEC_PF), none = {.vector = VEC_PF, .type = EVENT_EXCEPTION};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		struct hv_event first = {.valid = true, .vector = VEC_PF, .type = types[i]};

		assert_int_equal(event_meet(&first, &pf), EVENT_SECOND);
	}
	assert_int_equal(event_meet(&none, &pf), EVENT_SECOND);
}

static void error_codes(void **s)
{
	static const uint8_t with[] = {VEC_DF, VEC_TS, VEC_NP, VEC_SS, VEC_GP, VEC_PF, VEC_AC, VEC_CP};

	(void)s;
	for (unsigned v = 0; v < 256; v++) {
		bool expect = false;

		for (unsigned i = 0; i < ARRAY_SIZE(with); i++)
			expect |= with[i] == v;
		assert_int_equal(event_has_error((uint8_t)v), expect);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(other_types_are_benign),
		cmocka_unit_test(error_codes),
	};
	return cmocka_run_group_tests_name("event", t, NULL, NULL);
}
