/* SPDX-License-Identifier: BSD-2-Clause */
/* svm_exit_decode: values as the APM and a real run give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "mm/npte.h"
#include "svm/svm_exit_decode.h"

static struct vmcb vmcb;

static struct hv_exit decode(uint64_t code, uint64_t info1, uint64_t info2)
{
	struct hv_exit e;

	memset(&e, 0xa5, sizeof(e));
	vmcb.control.exitcode = code;
	vmcb.control.exitinfo1 = info1;
	vmcb.control.exitinfo2 = info2;
	svm_exit_decode(&vmcb, true, &e);
	assert_int_equal(e.info1, info1);
	assert_int_equal(e.info2, info2);
	return e;
}

static int clean(void **state)
{
	(void)state;
	memset(&vmcb, 0, sizeof(vmcb));
	return 0;
}

static void classifies_codes(void **state)
{
	static const struct {
		uint64_t code;
		enum hv_exit_class class;
	} cases[] = {
		{0x00, EXIT_CR},
		{0x04, EXIT_CR},
		{0x18, EXIT_CR},
		{0x65, EXIT_CR},
		{0x60, EXIT_INTR},
		{0x61, EXIT_HOST_NMI},
		{0x62, EXIT_INTR},
		{0x63, EXIT_INTR},
		{0x64, EXIT_IRQ_WINDOW},
		{0x6f, EXIT_GENERAL},
		{0x72, EXIT_CPUID},
		{0x74, EXIT_NMI_WINDOW},
		{0x76, EXIT_INVD},
		{0x78, EXIT_HLT},
		{0x7a, EXIT_UNDEFINED},
		{0x7c, EXIT_RDMSR},
		{0x7d, EXIT_UNKNOWN},
		{0x7f, EXIT_TRIPLE_FAULT},
		{0x80, EXIT_UNDEFINED},
		{0x81, EXIT_HYPERCALL},
		{0x82, EXIT_UNDEFINED},
		{0x86, EXIT_UNDEFINED},
		{0x89, EXIT_INVD},
		{0x8a, EXIT_UNDEFINED},
		{0x8b, EXIT_UNDEFINED},
		{0x8c, EXIT_UNDEFINED},
		{0x8d, EXIT_XSETBV},
		{0x400, EXIT_NPF},
		{~0ULL, EXIT_ENTRY_FAILED},
		{0x20, EXIT_UNKNOWN},
		{0x403, EXIT_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(decode(cases[i].code, 0, 0).class, cases[i].class);
	assert_int_equal(decode(0x7c, 1, 0).class, EXIT_WRMSR);
	/* Emulators that give the invalid code in 32 bits */
	assert_int_equal(decode(0xffffffff, 0, 0).class, EXIT_ENTRY_FAILED);
}

static void decodes_nested_faults(void **state)
{
	static const struct {
		uint64_t info1;
		bool read, write, fetch, walk;
	} cases[] = {
		{0x100000004, true, false, false, false}, {0x100000007, false, true, false, false},
		{0x100000015, false, false, true, false}, {0x200000006, false, true, false, true},
		{0x10000000c, true, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hv_exit e = decode(0x400, cases[i].info1, 0xfee000b0);

		assert_int_equal(e.npf.gpa.v, 0xfee000b0);
		assert_int_equal(!!(e.npf.access & NPT_READ), cases[i].read);
		assert_int_equal(!!(e.npf.access & NPT_WRITE), cases[i].write);
		assert_int_equal(!!(e.npf.access & NPT_EXEC), cases[i].fetch);
		assert_int_equal(e.npf.walk, cases[i].walk);
	}
}

static void decodes_io(void **state)
{
	struct hv_exit e = decode(0x7b, 0x03f80000 | 1 << 4, 0x7c02);

	(void)state;
	assert_int_equal(e.class, EXIT_IO);
	assert_int_equal(e.io.port, 0x3f8);
	assert_int_equal(e.io.size, 1);
	assert_false(e.io.in || e.io.string || e.io.rep);
	assert_int_equal(e.io.next_rip, 0x7c02);
	e = decode(0x7b, 0xffff0000 | 1 << 6 | 1 << 3 | 1 << 2 | 1, 0);
	assert_int_equal(e.io.port, 0xffff);
	assert_int_equal(e.io.size, 4);
	assert_true(e.io.in && e.io.string && e.io.rep);
}

static void trusts_next_rip_only_when_it_fits(void **state)
{
	struct hv_exit e;

	(void)state;
	vmcb.save.rip = 0x1000;
	vmcb.control.nrip = 0x1003;
	assert_int_equal(decode(0x81, 0, 0).insn_len, 3);
	vmcb.control.nrip = 0x1010;
	assert_int_equal(decode(0x81, 0, 0).insn_len, 0);
	vmcb.control.nrip = 0;
	assert_int_equal(decode(0x81, 0, 0).insn_len, 0);
	vmcb.control.nrip = 0x1003;
	svm_exit_decode(&vmcb, false, &e);
	assert_int_equal(e.insn_len, 0);
}

static void decodes_exceptions(void **state)
{
	struct hv_exit e = decode(0x40 + VEC_MC, 0, 0);

	(void)state;
	assert_int_equal(e.class, EXIT_EXCEPTION);
	assert_int_equal(e.exception.vector, VEC_MC);
	assert_int_equal(e.exception.type, EVENT_EXCEPTION);
	assert_true(e.exception.valid);
	e = decode(0x40 + VEC_PF, 5, 0x1000);
	assert_int_equal(e.exception.error, 5);
}

static struct hv_event vectoring(uint64_t info)
{
	vmcb.control.exitintinfo = info;
	return decode(0x400, 0, 0).vectoring;
}

static void reports_interrupted_deliveries(void **state)
{
	struct hv_event v = vectoring(0x80000061);

	(void)state;
	assert_true(v.valid);
	assert_int_equal(v.type, EVENT_EXTINT);
	assert_int_equal(v.vector, 0x61);
	v = vectoring(0x0000000280000b0e);
	assert_true(v.valid && v.has_error);
	assert_int_equal(v.vector, VEC_PF);
	assert_int_equal(v.error, 2);
	assert_int_equal(vectoring(0x80000202).type, EVENT_NMI);
	/* An interrupt that is called an exception. */
	assert_int_equal(vectoring(0x80000361).type, EVENT_EXTINT);
	assert_int_equal(vectoring(0x8000031f).type, EVENT_EXCEPTION);
	/* Instructions run again instead. */
	assert_false(vectoring(0x80000480).valid);
	assert_false(vectoring(0x80000303).valid);
	assert_false(vectoring(0x80000304).valid);
	assert_false(vectoring(0x00000061).valid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(classifies_codes, clean),
		cmocka_unit_test_setup(decodes_nested_faults, clean),
		cmocka_unit_test_setup(decodes_io, clean),
		cmocka_unit_test_setup(trusts_next_rip_only_when_it_fits, clean),
		cmocka_unit_test_setup(decodes_exceptions, clean),
		cmocka_unit_test_setup(reports_interrupted_deliveries, clean),
	};

	return cmocka_run_group_tests_name("svm_exit_decode", tests, NULL, NULL);
}
