/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_vmcb: the layout of the virtual machine control block.  Pure data.
 * Spec: APM 2 appendix B.
 */
#pragma once

#include "hv/base.h"

struct __packed vmcb_seg {
	uint16_t selector;
	uint16_t attrib; /* descriptor bits 55:52 and 47:40, packed to 12 bits */
	uint32_t limit;
	uint64_t base;
};
_Static_assert(sizeof(struct vmcb_seg) == 16, "APM 2 B");

struct __packed vmcb_control {
	uint16_t intercept_cr_read, intercept_cr_write;
	uint16_t intercept_dr_read, intercept_dr_write;
	uint32_t intercept_exceptions;
	uint32_t intercept_misc1, intercept_misc2, intercept_misc3;
	uint8_t reserved0[0x3c - 0x18];
	uint16_t pause_filter_threshold, pause_filter_count;
	uint64_t iopm_base_pa, msrpm_base_pa, tsc_offset;
	uint32_t guest_asid;
	uint8_t tlb_control;
	uint8_t reserved1[3];
	uint64_t vintr;
	uint64_t interrupt_shadow;
	uint64_t exitcode, exitinfo1, exitinfo2, exitintinfo;
	uint64_t np_enable;
	uint64_t avic_apic_bar;
	uint64_t ghcb_pa;
	uint64_t eventinj;
	uint64_t n_cr3;
	uint64_t lbr_enable;
	uint32_t clean_bits;
	uint32_t reserved2;
	uint64_t nrip;
	uint8_t insn_len;
	uint8_t insn_bytes[15];
	uint8_t reserved3[0x400 - 0xe0];
};
_Static_assert(offsetof(struct vmcb_control, pause_filter_count) == 0x3e, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, iopm_base_pa) == 0x40, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, guest_asid) == 0x58, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, tlb_control) == 0x5c, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, vintr) == 0x60, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, interrupt_shadow) == 0x68, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, exitcode) == 0x70, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, exitintinfo) == 0x88, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, np_enable) == 0x90, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, eventinj) == 0xa8, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, n_cr3) == 0xb0, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, clean_bits) == 0xc0, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, nrip) == 0xc8, "APM 2 B");
_Static_assert(offsetof(struct vmcb_control, insn_len) == 0xd0, "APM 2 B");
_Static_assert(sizeof(struct vmcb_control) == 0x400, "APM 2 B");

struct __packed vmcb_save {
	struct vmcb_seg es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t reserved0[0xcb - 0xa0];
	uint8_t cpl;
	uint32_t reserved1;
	uint64_t efer;
	uint8_t reserved2[0x148 - 0xd8];
	uint64_t cr4, cr3, cr0, dr7, dr6, rflags, rip;
	uint8_t reserved3[0x1d8 - 0x180];
	uint64_t rsp;
	uint8_t reserved4[0x1f8 - 0x1e0];
	uint64_t rax, star, lstar, cstar, sfmask, kernel_gs_base;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip, cr2;
	uint8_t reserved5[0x268 - 0x248];
	uint64_t g_pat;
	uint8_t reserved6[0xc00 - 0x270];
};
_Static_assert(offsetof(struct vmcb_save, cpl) == 0xcb, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, efer) == 0xd0, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, cr4) == 0x148, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, cr0) == 0x158, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, rip) == 0x178, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, rsp) == 0x1d8, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, rax) == 0x1f8, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, sysenter_cs) == 0x228, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, cr2) == 0x240, "APM 2 B");
_Static_assert(offsetof(struct vmcb_save, g_pat) == 0x268, "APM 2 B");

struct __packed __aligned(4096) vmcb {
	struct vmcb_control control;
	struct vmcb_save save;
};
_Static_assert(sizeof(struct vmcb) == 4096, "APM 2 B");

/* intercept_misc1 (offset 0x0c) */
#define SVM_INTERCEPT_INTR	BIT(0)
#define SVM_INTERCEPT_NMI	BIT(1)
#define SVM_INTERCEPT_SMI	BIT(2)
#define SVM_INTERCEPT_INIT	BIT(3)
#define SVM_INTERCEPT_VINTR	BIT(4)
#define SVM_INTERCEPT_RDPMC	BIT(15)
#define SVM_INTERCEPT_CPUID	BIT(18)
#define SVM_INTERCEPT_IRET	BIT(20)
#define SVM_INTERCEPT_INVD	BIT(22)
#define SVM_INTERCEPT_HLT	BIT(24)
#define SVM_INTERCEPT_INVLPGA	BIT(26)
#define SVM_INTERCEPT_IOIO	BIT(27)
#define SVM_INTERCEPT_MSR	BIT(28)
#define SVM_INTERCEPT_TASK_SWITCH BIT(29)
#define SVM_INTERCEPT_SHUTDOWN	BIT(31)
/* intercept_misc2 (offset 0x10) */
#define SVM_INTERCEPT_VMRUN	BIT(0)
#define SVM_INTERCEPT_VMMCALL	BIT(1)
#define SVM_INTERCEPT_VMLOAD	BIT(2)
#define SVM_INTERCEPT_VMSAVE	BIT(3)
#define SVM_INTERCEPT_STGI	BIT(4)
#define SVM_INTERCEPT_CLGI	BIT(5)
#define SVM_INTERCEPT_SKINIT	BIT(6)
#define SVM_INTERCEPT_WBINVD	BIT(9)
#define SVM_INTERCEPT_MONITOR	BIT(10)
#define SVM_INTERCEPT_MWAIT	BIT(11)
#define SVM_INTERCEPT_XSETBV	BIT(13)

#define VINTR_V_IRQ	     BIT64(8)
#define VINTR_V_IGN_TPR	     BIT64(20)
#define VINTR_PRIO_MAX	     (15ULL << 16)
#define VINTR_V_INTR_MASKING BIT64(24)

#define TLB_FLUSH_NONE 0
#define TLB_FLUSH_ALL  1
#define TLB_FLUSH_ASID 3

/* EVENTINJ and EXITINTINFO */
#define SVM_EVENT_ERROR_VALID BIT64(11)
#define SVM_EVENT_VALID	      BIT64(31)

enum svm_exitcode {
	SVM_EXIT_CR0_READ = 0x00,
	SVM_EXIT_CR_LAST = 0x1f,
	SVM_EXIT_DR_LAST = 0x3f,
	SVM_EXIT_EXCEPTION = 0x40,
	SVM_EXIT_EXCEPTION_LAST = 0x5f,
	SVM_EXIT_INTR = 0x60,
	SVM_EXIT_NMI = 0x61,
	SVM_EXIT_SMI = 0x62,
	SVM_EXIT_INIT = 0x63,
	SVM_EXIT_VINTR = 0x64,
	SVM_EXIT_CR0_SEL_WRITE = 0x65,
	SVM_EXIT_RDPMC = 0x6f,
	SVM_EXIT_CPUID = 0x72,
	SVM_EXIT_IRET = 0x74,
	SVM_EXIT_INVD = 0x76,
	SVM_EXIT_HLT = 0x78,
	SVM_EXIT_INVLPGA = 0x7a,
	SVM_EXIT_IOIO = 0x7b,
	SVM_EXIT_MSR = 0x7c,
	SVM_EXIT_TASK_SWITCH = 0x7d,
	SVM_EXIT_SHUTDOWN = 0x7f,
	SVM_EXIT_VMRUN = 0x80,
	SVM_EXIT_VMMCALL = 0x81,
	SVM_EXIT_VMLOAD = 0x82,
	SVM_EXIT_SKINIT = 0x86,
	SVM_EXIT_WBINVD = 0x89,
	SVM_EXIT_MONITOR = 0x8a,
	SVM_EXIT_MWAIT_COND = 0x8c,
	SVM_EXIT_XSETBV = 0x8d,
	SVM_EXIT_NPF = 0x400,
};

/* Only 32 bits are compared: an invalid VMCB gives -1, in 32 bits on some emulators. */
#define SVM_EXIT_INVALID 0xffffffffu
