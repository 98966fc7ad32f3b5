/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_exit_decode: raw values of a VM exit turned into struct hv_exit.
 * Pure (tests/host/test_vmx_exit_decode.c, fuzzed).
 * Spec: SDM 3C 25.9, 28.2; SDM 3D appendix C.
 */
#pragma once

#include "hv/exit.h"

/* What a reason needs beyond itself; nothing else is read from the VMCS. */
#define VMX_NEED_QUALIFICATION BIT(0)
#define VMX_NEED_GPA	       BIT(1)
#define VMX_NEED_INTERRUPTION  BIT(2)
#define VMX_NEED_VECTORING     BIT(3) /* the exit may interrupt a delivery */
#define VMX_NEED_LENGTH	       BIT(4)

/* Our own, where no VM exit happened: VMLAUNCH or VMRESUME failed. */
#define VMX_REASON_VMFAIL	0xffffffffu
#define VMX_REASON_ENTRY_FAILED BIT(31)

/* Interruption information, as VM exit, VM entry and IDT vectoring share it. */
#define VMX_EVENT_ERROR_VALID BIT(11)
#define VMX_EVENT_IRET	      BIT(12) /* VM exit only: NMI unblocking due to IRET */
#define VMX_EVENT_VALID	      BIT(31)

/* What is not needed stays 0. */
struct vmx_raw_exit {
	uint32_t reason;
	uint64_t qualification; /* of VMX_REASON_VMFAIL: the VM-instruction error */
	uint64_t gpa;
	uint32_t interruption, interruption_error;
	uint32_t vectoring, vectoring_error;
	uint32_t length; /* of the instruction; also of a vectoring INT n, INT3 or INTO */
};

unsigned vmx_exit_needs(uint32_t reason);

/* Whether @vectoring is that of an instruction, whose length then counts. */
bool vmx_exit_vectoring_is_soft(uint32_t vectoring);

void vmx_exit_decode(const struct vmx_raw_exit *raw, struct hv_exit *e);

/* The exit came in the middle of an IRET that had already lifted the blocking of NMIs. */
bool vmx_exit_iret_unblocked_nmi(const struct vmx_raw_exit *raw);

/* The SDM's words for the basic reason, or "?". */
const char *vmx_exit_reason_name(uint32_t reason);
