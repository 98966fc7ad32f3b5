/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_fields: every field of the VMCS by its SDM name, typed by its width.
 *
 * A field is a one-member struct, another one for each width, so that neither a
 * width nor a field and its value can be mixed up: that does not compile.
 * Pure data; the lists also name the fields in dumps (vmx/vmx_dump.c).
 * Spec: SDM 3D appendix B.
 */
#pragma once

#include "hv/base.h"

typedef struct {
	uint32_t encoding;
} vmcs16_t;

typedef struct {
	uint32_t encoding;
} vmcs32_t;

typedef struct {
	uint32_t encoding;
} vmcs64_t;

/* Natural width: 64 bits on every CPU that we run on. */
typedef struct {
	uint32_t encoding;
} vmcsnw_t;

#define VMCS16_FIELDS(X)                                                                           \
	X(VIRTUAL_PROCESSOR_IDENTIFIER, 0x0000)                                                    \
	X(POSTED_INTERRUPT_NOTIFICATION_VECTOR, 0x0002)                                            \
	X(EPTP_INDEX, 0x0004)                                                                      \
	X(HLAT_PREFIX_SIZE, 0x0006)                                                                \
	X(LAST_PID_POINTER_INDEX, 0x0008)                                                          \
	X(GUEST_ES_SELECTOR, 0x0800)                                                               \
	X(GUEST_CS_SELECTOR, 0x0802)                                                               \
	X(GUEST_SS_SELECTOR, 0x0804)                                                               \
	X(GUEST_DS_SELECTOR, 0x0806)                                                               \
	X(GUEST_FS_SELECTOR, 0x0808)                                                               \
	X(GUEST_GS_SELECTOR, 0x080a)                                                               \
	X(GUEST_LDTR_SELECTOR, 0x080c)                                                             \
	X(GUEST_TR_SELECTOR, 0x080e)                                                               \
	X(GUEST_INTERRUPT_STATUS, 0x0810)                                                          \
	X(PML_INDEX, 0x0812)                                                                       \
	X(GUEST_UINV, 0x0814)                                                                      \
	X(HOST_ES_SELECTOR, 0x0c00)                                                                \
	X(HOST_CS_SELECTOR, 0x0c02)                                                                \
	X(HOST_SS_SELECTOR, 0x0c04)                                                                \
	X(HOST_DS_SELECTOR, 0x0c06)                                                                \
	X(HOST_FS_SELECTOR, 0x0c08)                                                                \
	X(HOST_GS_SELECTOR, 0x0c0a)                                                                \
	X(HOST_TR_SELECTOR, 0x0c0c)

#define VMCS64_FIELDS(X)                                                                           \
	X(ADDRESS_OF_IO_BITMAP_A, 0x2000)                                                          \
	X(ADDRESS_OF_IO_BITMAP_B, 0x2002)                                                          \
	X(ADDRESS_OF_MSR_BITMAPS, 0x2004)                                                          \
	X(VM_EXIT_MSR_STORE_ADDRESS, 0x2006)                                                       \
	X(VM_EXIT_MSR_LOAD_ADDRESS, 0x2008)                                                        \
	X(VM_ENTRY_MSR_LOAD_ADDRESS, 0x200a)                                                       \
	X(EXECUTIVE_VMCS_POINTER, 0x200c)                                                          \
	X(PML_ADDRESS, 0x200e)                                                                     \
	X(TSC_OFFSET, 0x2010)                                                                      \
	X(VIRTUAL_APIC_ADDRESS, 0x2012)                                                            \
	X(APIC_ACCESS_ADDRESS, 0x2014)                                                             \
	X(POSTED_INTERRUPT_DESCRIPTOR_ADDRESS, 0x2016)                                             \
	X(VM_FUNCTION_CONTROLS, 0x2018)                                                            \
	X(EPT_POINTER, 0x201a)                                                                     \
	X(EOI_EXIT_BITMAP_0, 0x201c)                                                               \
	X(EOI_EXIT_BITMAP_1, 0x201e)                                                               \
	X(EOI_EXIT_BITMAP_2, 0x2020)                                                               \
	X(EOI_EXIT_BITMAP_3, 0x2022)                                                               \
	X(EPTP_LIST_ADDRESS, 0x2024)                                                               \
	X(VMREAD_BITMAP_ADDRESS, 0x2026)                                                           \
	X(VMWRITE_BITMAP_ADDRESS, 0x2028)                                                          \
	X(VIRTUALIZATION_EXCEPTION_INFORMATION_ADDRESS, 0x202a)                                    \
	X(XSS_EXITING_BITMAP, 0x202c)                                                              \
	X(ENCLS_EXITING_BITMAP, 0x202e)                                                            \
	X(SUB_PAGE_PERMISSION_TABLE_POINTER, 0x2030)                                               \
	X(TSC_MULTIPLIER, 0x2032)                                                                  \
	X(TERTIARY_PROCESSOR_BASED_CONTROLS, 0x2034)                                               \
	X(ENCLV_EXITING_BITMAP, 0x2036)                                                            \
	X(LOW_PASID_DIRECTORY_ADDRESS, 0x2038)                                                     \
	X(HIGH_PASID_DIRECTORY_ADDRESS, 0x203a)                                                    \
	X(SHARED_EPT_POINTER, 0x203c)                                                              \
	X(PCONFIG_EXITING_BITMAP, 0x203e)                                                          \
	X(HLAT_POINTER, 0x2040)                                                                    \
	X(PID_POINTER_TABLE_ADDRESS, 0x2042)                                                       \
	X(SECONDARY_VM_EXIT_CONTROLS, 0x2044)                                                      \
	X(IA32_SPEC_CTRL_MASK, 0x204a)                                                             \
	X(IA32_SPEC_CTRL_SHADOW, 0x204c)                                                           \
	X(GUEST_PHYSICAL_ADDRESS, 0x2400)                                                          \
	X(VMCS_LINK_POINTER, 0x2800)                                                               \
	X(GUEST_IA32_DEBUGCTL, 0x2802)                                                             \
	X(GUEST_IA32_PAT, 0x2804)                                                                  \
	X(GUEST_IA32_EFER, 0x2806)                                                                 \
	X(GUEST_IA32_PERF_GLOBAL_CTRL, 0x2808)                                                     \
	X(GUEST_PDPTE0, 0x280a)                                                                    \
	X(GUEST_PDPTE1, 0x280c)                                                                    \
	X(GUEST_PDPTE2, 0x280e)                                                                    \
	X(GUEST_PDPTE3, 0x2810)                                                                    \
	X(GUEST_IA32_BNDCFGS, 0x2812)                                                              \
	X(GUEST_IA32_RTIT_CTL, 0x2814)                                                             \
	X(GUEST_IA32_LBR_CTL, 0x2816)                                                              \
	X(GUEST_IA32_PKRS, 0x2818)                                                                 \
	X(HOST_IA32_PAT, 0x2c00)                                                                   \
	X(HOST_IA32_EFER, 0x2c02)                                                                  \
	X(HOST_IA32_PERF_GLOBAL_CTRL, 0x2c04)                                                      \
	X(HOST_IA32_PKRS, 0x2c06)

#define VMCS32_FIELDS(X)                                                                           \
	X(PIN_BASED_CONTROLS, 0x4000)                                                              \
	X(PRIMARY_PROCESSOR_BASED_CONTROLS, 0x4002)                                                \
	X(EXCEPTION_BITMAP, 0x4004)                                                                \
	X(PAGE_FAULT_ERROR_CODE_MASK, 0x4006)                                                      \
	X(PAGE_FAULT_ERROR_CODE_MATCH, 0x4008)                                                     \
	X(CR3_TARGET_COUNT, 0x400a)                                                                \
	X(PRIMARY_VM_EXIT_CONTROLS, 0x400c)                                                        \
	X(VM_EXIT_MSR_STORE_COUNT, 0x400e)                                                         \
	X(VM_EXIT_MSR_LOAD_COUNT, 0x4010)                                                          \
	X(VM_ENTRY_CONTROLS, 0x4012)                                                               \
	X(VM_ENTRY_MSR_LOAD_COUNT, 0x4014)                                                         \
	X(VM_ENTRY_INTERRUPTION_INFORMATION, 0x4016)                                               \
	X(VM_ENTRY_EXCEPTION_ERROR_CODE, 0x4018)                                                   \
	X(VM_ENTRY_INSTRUCTION_LENGTH, 0x401a)                                                     \
	X(TPR_THRESHOLD, 0x401c)                                                                   \
	X(SECONDARY_PROCESSOR_BASED_CONTROLS, 0x401e)                                              \
	X(PLE_GAP, 0x4020)                                                                         \
	X(PLE_WINDOW, 0x4022)                                                                      \
	X(INSTRUCTION_TIMEOUT_CONTROL, 0x4024)                                                     \
	X(VM_INSTRUCTION_ERROR, 0x4400)                                                            \
	X(EXIT_REASON, 0x4402)                                                                     \
	X(VM_EXIT_INTERRUPTION_INFORMATION, 0x4404)                                                \
	X(VM_EXIT_INTERRUPTION_ERROR_CODE, 0x4406)                                                 \
	X(IDT_VECTORING_INFORMATION, 0x4408)                                                       \
	X(IDT_VECTORING_ERROR_CODE, 0x440a)                                                        \
	X(VM_EXIT_INSTRUCTION_LENGTH, 0x440c)                                                      \
	X(VM_EXIT_INSTRUCTION_INFORMATION, 0x440e)                                                 \
	X(GUEST_ES_LIMIT, 0x4800)                                                                  \
	X(GUEST_CS_LIMIT, 0x4802)                                                                  \
	X(GUEST_SS_LIMIT, 0x4804)                                                                  \
	X(GUEST_DS_LIMIT, 0x4806)                                                                  \
	X(GUEST_FS_LIMIT, 0x4808)                                                                  \
	X(GUEST_GS_LIMIT, 0x480a)                                                                  \
	X(GUEST_LDTR_LIMIT, 0x480c)                                                                \
	X(GUEST_TR_LIMIT, 0x480e)                                                                  \
	X(GUEST_GDTR_LIMIT, 0x4810)                                                                \
	X(GUEST_IDTR_LIMIT, 0x4812)                                                                \
	X(GUEST_ES_ACCESS_RIGHTS, 0x4814)                                                          \
	X(GUEST_CS_ACCESS_RIGHTS, 0x4816)                                                          \
	X(GUEST_SS_ACCESS_RIGHTS, 0x4818)                                                          \
	X(GUEST_DS_ACCESS_RIGHTS, 0x481a)                                                          \
	X(GUEST_FS_ACCESS_RIGHTS, 0x481c)                                                          \
	X(GUEST_GS_ACCESS_RIGHTS, 0x481e)                                                          \
	X(GUEST_LDTR_ACCESS_RIGHTS, 0x4820)                                                        \
	X(GUEST_TR_ACCESS_RIGHTS, 0x4822)                                                          \
	X(GUEST_INTERRUPTIBILITY_STATE, 0x4824)                                                    \
	X(GUEST_ACTIVITY_STATE, 0x4826)                                                            \
	X(GUEST_SMBASE, 0x4828)                                                                    \
	X(GUEST_IA32_SYSENTER_CS, 0x482a)                                                          \
	X(VMX_PREEMPTION_TIMER_VALUE, 0x482e)                                                      \
	X(HOST_IA32_SYSENTER_CS, 0x4c00)

#define VMCSNW_FIELDS(X)                                                                           \
	X(CR0_GUEST_HOST_MASK, 0x6000)                                                             \
	X(CR4_GUEST_HOST_MASK, 0x6002)                                                             \
	X(CR0_READ_SHADOW, 0x6004)                                                                 \
	X(CR4_READ_SHADOW, 0x6006)                                                                 \
	X(CR3_TARGET_VALUE_0, 0x6008)                                                              \
	X(CR3_TARGET_VALUE_1, 0x600a)                                                              \
	X(CR3_TARGET_VALUE_2, 0x600c)                                                              \
	X(CR3_TARGET_VALUE_3, 0x600e)                                                              \
	X(EXIT_QUALIFICATION, 0x6400)                                                              \
	X(IO_RCX, 0x6402)                                                                          \
	X(IO_RSI, 0x6404)                                                                          \
	X(IO_RDI, 0x6406)                                                                          \
	X(IO_RIP, 0x6408)                                                                          \
	X(GUEST_LINEAR_ADDRESS, 0x640a)                                                            \
	X(GUEST_CR0, 0x6800)                                                                       \
	X(GUEST_CR3, 0x6802)                                                                       \
	X(GUEST_CR4, 0x6804)                                                                       \
	X(GUEST_ES_BASE, 0x6806)                                                                   \
	X(GUEST_CS_BASE, 0x6808)                                                                   \
	X(GUEST_SS_BASE, 0x680a)                                                                   \
	X(GUEST_DS_BASE, 0x680c)                                                                   \
	X(GUEST_FS_BASE, 0x680e)                                                                   \
	X(GUEST_GS_BASE, 0x6810)                                                                   \
	X(GUEST_LDTR_BASE, 0x6812)                                                                 \
	X(GUEST_TR_BASE, 0x6814)                                                                   \
	X(GUEST_GDTR_BASE, 0x6816)                                                                 \
	X(GUEST_IDTR_BASE, 0x6818)                                                                 \
	X(GUEST_DR7, 0x681a)                                                                       \
	X(GUEST_RSP, 0x681c)                                                                       \
	X(GUEST_RIP, 0x681e)                                                                       \
	X(GUEST_RFLAGS, 0x6820)                                                                    \
	X(GUEST_PENDING_DEBUG_EXCEPTIONS, 0x6822)                                                  \
	X(GUEST_IA32_SYSENTER_ESP, 0x6824)                                                         \
	X(GUEST_IA32_SYSENTER_EIP, 0x6826)                                                         \
	X(GUEST_IA32_S_CET, 0x6828)                                                                \
	X(GUEST_SSP, 0x682a)                                                                       \
	X(GUEST_IA32_INTERRUPT_SSP_TABLE_ADDR, 0x682c)                                             \
	X(HOST_CR0, 0x6c00)                                                                        \
	X(HOST_CR3, 0x6c02)                                                                        \
	X(HOST_CR4, 0x6c04)                                                                        \
	X(HOST_FS_BASE, 0x6c06)                                                                    \
	X(HOST_GS_BASE, 0x6c08)                                                                    \
	X(HOST_TR_BASE, 0x6c0a)                                                                    \
	X(HOST_GDTR_BASE, 0x6c0c)                                                                  \
	X(HOST_IDTR_BASE, 0x6c0e)                                                                  \
	X(HOST_IA32_SYSENTER_ESP, 0x6c10)                                                          \
	X(HOST_IA32_SYSENTER_EIP, 0x6c12)                                                          \
	X(HOST_RSP, 0x6c14)                                                                        \
	X(HOST_RIP, 0x6c16)                                                                        \
	X(HOST_IA32_S_CET, 0x6c18)                                                                 \
	X(HOST_SSP, 0x6c1a)                                                                        \
	X(HOST_IA32_INTERRUPT_SSP_TABLE_ADDR, 0x6c1c)

/* Bits 14:13 of an encoding are the width; bit 0 would be the upper half of a 64-bit field. */
#define VMCS_WIDTH_IS(encoding, width) (((encoding) >> 13 & 3) == (width) && !((encoding)&1))

#define X(name, value)                                                                             \
	static const vmcs16_t VMCS16_##name __unused = {value};                                    \
	_Static_assert(VMCS_WIDTH_IS(value, 0), #name " is no 16-bit field");
VMCS16_FIELDS(X)
#undef X

#define X(name, value)                                                                             \
	static const vmcs64_t VMCS64_##name __unused = {value};                                    \
	_Static_assert(VMCS_WIDTH_IS(value, 1), #name " is no 64-bit field");
VMCS64_FIELDS(X)
#undef X

#define X(name, value)                                                                             \
	static const vmcs32_t VMCS32_##name __unused = {value};                                    \
	_Static_assert(VMCS_WIDTH_IS(value, 2), #name " is no 32-bit field");
VMCS32_FIELDS(X)
#undef X

#define X(name, value)                                                                             \
	static const vmcsnw_t VMCSNW_##name __unused = {value};                                    \
	_Static_assert(VMCS_WIDTH_IS(value, 3), #name " is no natural-width field");
VMCSNW_FIELDS(X)
#undef X

/* The segment registers' fields follow each other in the order of enum hv_seg. */
static inline vmcs16_t vmcs_guest_selector(unsigned seg)
{
	return (vmcs16_t){VMCS16_GUEST_ES_SELECTOR.encoding + 2 * seg};
}

static inline vmcs32_t vmcs_guest_limit(unsigned seg)
{
	return (vmcs32_t){VMCS32_GUEST_ES_LIMIT.encoding + 2 * seg};
}

static inline vmcs32_t vmcs_guest_access_rights(unsigned seg)
{
	return (vmcs32_t){VMCS32_GUEST_ES_ACCESS_RIGHTS.encoding + 2 * seg};
}

static inline vmcsnw_t vmcs_guest_base(unsigned seg)
{
	return (vmcsnw_t){VMCSNW_GUEST_ES_BASE.encoding + 2 * seg};
}

static inline vmcs64_t vmcs_guest_pdpte(unsigned i)
{
	return (vmcs64_t){VMCS64_GUEST_PDPTE0.encoding + 2 * i};
}
