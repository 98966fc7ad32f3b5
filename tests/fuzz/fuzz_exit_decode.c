/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_exit_decode: any control structure through both vendors' exit decoders.
 *
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_exit_decode.c \
 *	vmx/vmx_exit_decode.c svm/svm_exit_decode.c tests/host/hosted.c -o fuzz_exit_decode
 */
#include <string.h>

#include "hv/assert.h"
#include "svm/svm_exit_decode.h"
#include "vmx/vmx_exit_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hv_exit *e)
{
	HV_ASSERT((unsigned)e->class < EXIT_CLASS_COUNT);
	HV_ASSERT(!e->vectoring.valid || e->vectoring.type < 8);
	if (e->class == EXIT_NPF)
		HV_ASSERT(e->npf.access && e->npf.access <= 7);
	if (e->class == EXIT_EXCEPTION)
		HV_ASSERT(e->exception.type < 8);
}

static void fuzz_vmx(const uint8_t *data, size_t size)
{
	struct vmx_raw_exit raw = {0};
	struct hv_exit e;
	unsigned needs;

	memcpy(&raw, data, size < sizeof(raw) ? size : sizeof(raw));
	needs = vmx_exit_needs(raw.reason);
	vmx_exit_decode(&raw, &e);
	check(&e);
	HV_ASSERT(e.reason == raw.reason && vmx_exit_reason_name(raw.reason));
	if (e.class == EXIT_NPF)
		HV_ASSERT((needs & VMX_NEED_GPA) && (needs & VMX_NEED_QUALIFICATION));
	if (e.class == EXIT_IO)
		HV_ASSERT((needs & VMX_NEED_QUALIFICATION) && e.io.size && e.io.size <= 8);
	if (raw.reason >> 31)
		HV_ASSERT(e.class == EXIT_ENTRY_FAILED);
	if (vmx_exit_iret_unblocked_nmi(&raw))
		HV_ASSERT(!e.vectoring.valid);
}

static void fuzz_svm(const uint8_t *data, size_t size, bool nrip_save)
{
	static struct vmcb vmcb;
	struct hv_exit e;

	memset(&vmcb, 0, sizeof(vmcb));
	memcpy(&vmcb.control.exitcode, data, size < 96 ? size : 96);
	if (size > 96)
		memcpy(&vmcb.save.rip, data + 96, size - 96 < 8 ? size - 96 : 8);
	svm_exit_decode(&vmcb, nrip_save, &e);
	check(&e);
	HV_ASSERT(e.insn_len <= 15 && (nrip_save || !e.insn_len));
	if (e.vectoring.valid)
		HV_ASSERT(e.vectoring.type != EVENT_SOFT_INT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		fuzz_vmx(data + 1, size - 1);
	else
		fuzz_svm(data + 1, size - 1, data[0] & 2);
	return 0;
}
