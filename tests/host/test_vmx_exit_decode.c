/* SPDX-License-Identifier: BSD-2-Clause */
/* vmx_exit_decode: values as the SDM and a real run give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "mm/npte.h"
#include "vmx/vmx_exit_decode.h"

static struct hv_exit decode(struct vmx_raw_exit raw)
{
	struct hv_exit e;

	memset(&e, 0xa5, sizeof(e));
	vmx_exit_decode(&raw, &e);
	assert_int_equal(e.reason, raw.reason);
	assert_int_equal(e.info1, raw.qualification);
	return e;
}

#define DECODE(...) decode((struct vmx_raw_exit){__VA_ARGS__})

static void classifies_reasons(void **state)
{
	static const struct {
		uint32_t reason;
		enum hv_exit_class class;
	} cases[] = {
		{1, EXIT_INTR},	      {2, EXIT_TRIPLE_FAULT}, {3, EXIT_INTR},
		{4, EXIT_INTR},	      {7, EXIT_IRQ_WINDOW},   {8, EXIT_NMI_WINDOW},
		{9, EXIT_UNKNOWN},    {10, EXIT_CPUID},	      {11, EXIT_UNDEFINED},
		{12, EXIT_HLT},	      {13, EXIT_INVD},	      {15, EXIT_GENERAL},
		{17, EXIT_UNKNOWN},   {18, EXIT_HYPERCALL},   {28, EXIT_CR},
		{31, EXIT_RDMSR},     {32, EXIT_WRMSR},	      {36, EXIT_UNDEFINED},
		{39, EXIT_UNDEFINED}, {49, EXIT_MISCONFIG},   {50, EXIT_UNDEFINED},
		{52, EXIT_TIMER},     {53, EXIT_UNDEFINED},   {54, EXIT_INVD},
		{55, EXIT_XSETBV},    {62, EXIT_LOG_FULL},   {35, EXIT_UNKNOWN},     {59, EXIT_UNDEFINED},
		{75, EXIT_UNKNOWN},   {0xffff, EXIT_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(DECODE(.reason = cases[i].reason).class, cases[i].class);
	for (uint32_t r = 19; r <= 27; r++)
		assert_int_equal(DECODE(.reason = r).class, EXIT_UNDEFINED);
}

static void ignores_the_upper_half_of_the_reason(void **state)
{
	(void)state;
	/* Bit 27: the guest was in an enclave. */
	assert_int_equal(DECODE(.reason = 1u << 27 | 10).class, EXIT_CPUID);
}

static void reports_failed_entries(void **state)
{
	struct hv_exit e;

	(void)state;
	for (uint32_t r = 33; r <= 41; r++)
		assert_int_equal(DECODE(.reason = 1u << 31 | r).class, EXIT_ENTRY_FAILED);
	e = DECODE(.reason = VMX_REASON_VMFAIL, .qualification = 7);
	assert_int_equal(e.class, EXIT_ENTRY_FAILED);
	assert_int_equal(e.info1, 7);
	assert_string_equal(vmx_exit_reason_name(VMX_REASON_VMFAIL), "VMfail");
	assert_string_equal(vmx_exit_reason_name(0x80000021), "entry failure: invalid guest state");
}

static void tells_nmis_from_exceptions(void **state)
{
	struct hv_exit e = DECODE(.reason = 0, .interruption = 0x80000202);

	(void)state;
	assert_int_equal(e.class, EXIT_HOST_NMI);
	e = DECODE(.reason = 0, .interruption = 0x80000312);
	assert_int_equal(e.class, EXIT_EXCEPTION);
	assert_int_equal(e.exception.vector, VEC_MC);
	assert_int_equal(e.exception.type, EVENT_EXCEPTION);
	assert_true(e.exception.valid);
	assert_false(e.exception.has_error);
	e = DECODE(.reason = 0, .interruption = 0x80000b0e, .interruption_error = 6);
	assert_true(e.exception.has_error);
	assert_int_equal(e.exception.vector, VEC_PF);
	assert_int_equal(e.exception.error, 6);
}

static void passes_the_length_on(void **state)
{
	(void)state;
	assert_int_equal(DECODE(.reason = 12, .length = 1).insn_len, 1);
	assert_int_equal(DECODE(.reason = 18, .length = 3).insn_len, 3);
	assert_int_equal(DECODE(.reason = 28).insn_len, 0);
}

static void decodes_io(void **state)
{
	struct hv_exit e = DECODE(.reason = 30, .qualification = 0x00800040, .length = 2);

	(void)state;
	assert_int_equal(e.class, EXIT_IO);
	assert_int_equal(e.io.port, 0x80);
	assert_int_equal(e.io.size, 1);
	assert_false(e.io.in || e.io.string || e.io.rep);
	assert_int_equal(e.io.next_rip, 0);
	assert_int_equal(e.insn_len, 2);
	e = DECODE(.reason = 30, .qualification = 0x12340009);
	assert_int_equal(e.io.port, 0x1234);
	assert_int_equal(e.io.size, 2);
	assert_true(e.io.in);
	e = DECODE(.reason = 30, .qualification = 0xffff0033);
	assert_int_equal(e.io.port, 0xffff);
	assert_int_equal(e.io.size, 4);
	assert_true(e.io.string && e.io.rep);
	assert_false(e.io.in);
}

struct npf_case {
	uint64_t qualification;
	bool read, write, fetch, walk;
};

static void decodes_ept_violations(void **state)
{
	static const struct npf_case cases[] = {
		{0x181, true, false, false, false}, /* read, not present */
		{0x18a, false, true, false, false}, /* write of a read-only page */
		{0x18b, true, true, false, false},  /* read-modify-write */
		{0x19c, false, false, true, false}, /* fetch of RW */
		{0x1a1, true, false, false, false}, /* read of execute-only */
		{0x081, true, false, false, true},  /* the guest's page walk */
		{0x08a, false, true, false, true},  /* the same, setting accessed */
		{0x781, true, false, false, false}, /* advanced information set */
		{0x001, true, false, false, false}, /* no linear address: PDPTEs */
		{0x180, true, false, false, false}, /* none of the three */
		{0xfff1181, true, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hv_exit e = DECODE(.reason = 48, .qualification = cases[i].qualification,
					  .gpa = 0x1234567890);

		assert_int_equal(e.class, EXIT_NPF);
		assert_int_equal(e.npf.gpa.v, 0x1234567890);
		assert_int_equal(e.info2, 0x1234567890);
		assert_int_equal(!!(e.npf.access & NPT_READ), cases[i].read);
		assert_int_equal(!!(e.npf.access & NPT_WRITE), cases[i].write);
		assert_int_equal(!!(e.npf.access & NPT_EXEC), cases[i].fetch);
		assert_int_equal(e.npf.walk, cases[i].walk);
	}
	assert_int_equal(DECODE(.reason = 49, .gpa = 0x3000).npf.gpa.v, 0x3000);
}

static void reports_interrupted_deliveries(void **state)
{
	struct hv_exit e = DECODE(.reason = 48, .vectoring = 0x80000061);

	(void)state;
	assert_true(e.vectoring.valid);
	assert_int_equal(e.vectoring.type, EVENT_EXTINT);
	assert_int_equal(e.vectoring.vector, 0x61);
	e = DECODE(.reason = 48, .vectoring = 0x80000b0e, .vectoring_error = 2);
	assert_int_equal(e.vectoring.type, EVENT_EXCEPTION);
	assert_true(e.vectoring.has_error);
	assert_int_equal(e.vectoring.error, 2);
	e = DECODE(.reason = 48, .vectoring = 0x80000202);
	assert_int_equal(e.vectoring.type, EVENT_NMI);
	/* INT n: the length belongs to it, not to an instruction to skip. */
	e = DECODE(.reason = 48, .vectoring = 0x80000480, .length = 2);
	assert_int_equal(e.vectoring.type, EVENT_SOFT_INT);
	assert_int_equal(e.vectoring.insn_len, 2);
	assert_int_equal(e.insn_len, 0);
	e = DECODE(.reason = 48, .vectoring = 0x80000603, .length = 1);
	assert_int_equal(e.vectoring.type, EVENT_SOFT_EXC);
	assert_int_equal(e.vectoring.insn_len, 1);
	e = DECODE(.reason = 48, .vectoring = 0x00000480);
	assert_false(e.vectoring.valid);
}

static void finds_lost_nmi_blocking(void **state)
{
	static const struct {
		struct vmx_raw_exit raw;
		bool lost;
	} cases[] = {
		{{.reason = 48, .qualification = 0x1181}, true},
		{{.reason = 48, .qualification = 0x181}, false},
		{{.reason = 62, .qualification = 0x1000}, true},
		{{.reason = 62}, false},
		{{.reason = 48, .qualification = 0x1181, .vectoring = 0x80000061}, false},
		{{.reason = 0, .interruption = 0x80001b0d}, true},
		{{.reason = 0, .interruption = 0x80001b08}, false}, /* #DF */
		{{.reason = 0, .interruption = 0x80000b0d}, false},
		{{.reason = 10, .qualification = 0x1000}, false},
		{{.reason = 0x80000021, .qualification = 0x1000}, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(vmx_exit_iret_unblocked_nmi(&cases[i].raw), cases[i].lost);
}

/* The frequent exits cost few VMREADs; an unknown one is read in full. */
static void asks_for_little(void **state)
{
	const unsigned all = VMX_NEED_QUALIFICATION | VMX_NEED_GPA | VMX_NEED_INTERRUPTION |
			     VMX_NEED_VECTORING | VMX_NEED_LENGTH;

	(void)state;
	assert_int_equal(vmx_exit_needs(1), 0);
	assert_int_equal(vmx_exit_needs(52), 0);
	assert_int_equal(vmx_exit_needs(10), VMX_NEED_LENGTH);
	assert_int_equal(vmx_exit_needs(30), VMX_NEED_QUALIFICATION | VMX_NEED_LENGTH);
	assert_int_equal(vmx_exit_needs(48),
			 VMX_NEED_QUALIFICATION | VMX_NEED_GPA | VMX_NEED_VECTORING);
	assert_int_equal(vmx_exit_needs(0x80000021), VMX_NEED_QUALIFICATION);
	assert_int_equal(vmx_exit_needs(VMX_REASON_VMFAIL), 0);
	assert_int_equal(vmx_exit_needs(9), all);
	assert_int_equal(vmx_exit_needs(1000), all);
	assert_string_equal(vmx_exit_reason_name(1000), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classifies_reasons),
		cmocka_unit_test(ignores_the_upper_half_of_the_reason),
		cmocka_unit_test(reports_failed_entries),
		cmocka_unit_test(tells_nmis_from_exceptions),
		cmocka_unit_test(passes_the_length_on),
		cmocka_unit_test(decodes_io),
		cmocka_unit_test(decodes_ept_violations),
		cmocka_unit_test(reports_interrupted_deliveries),
		cmocka_unit_test(finds_lost_nmi_blocking),
		cmocka_unit_test(asks_for_little),
	};

	return cmocka_run_group_tests_name("vmx_exit_decode", tests, NULL, NULL);
}
