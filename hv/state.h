/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state: a vCPU's architectural registers in vendor-neutral form.  Both back
 * ends fill and consume it; decoder, walker and loaders know nothing else of a
 * vCPU.  Pure.
 * Spec: SDM 3A 2, APM 2 3-4.
 */
#pragma once

#include "hv/base.h"

/* General registers in the order of their instruction encoding. */
enum hv_gpr {
	GPR_RAX, GPR_RCX, GPR_RDX, GPR_RBX, GPR_RSP, GPR_RBP, GPR_RSI, GPR_RDI,
	GPR_R8, GPR_R9, GPR_R10, GPR_R11, GPR_R12, GPR_R13, GPR_R14, GPR_R15,
	GPR_COUNT
};

struct hv_regs {
	uint64_t gpr[GPR_COUNT];
	uint64_t rip;
	uint64_t rflags;
};

/* Segment registers in the order of their instruction encoding, then the two system ones. */
enum hv_seg { SEG_ES, SEG_CS, SEG_SS, SEG_DS, SEG_FS, SEG_GS, SEG_LDTR, SEG_TR, SEG_COUNT };

/* attr: bits 3:0 type, 4 S, 6:5 DPL, 7 P, 12 AVL, 13 L, 14 D/B, 15 G, 16 unusable (SDM 3C 25.4.1). */
#define SEG_ATTR_S	  BIT(4)
#define SEG_ATTR_DPL(a)	  (((a) >> 5) & 3)
#define SEG_ATTR_P	  BIT(7)
#define SEG_ATTR_L	  BIT(13)
#define SEG_ATTR_DB	  BIT(14)
#define SEG_ATTR_G	  BIT(15)
#define SEG_ATTR_UNUSABLE BIT(16)

struct hv_segment {
	uint16_t selector;
	uint32_t attr;
	uint32_t limit; /* in bytes, already scaled by G */
	uint64_t base;
};

struct hv_dtable {
	uint64_t base;
	uint16_t limit;
};

struct hv_sregs {
	struct hv_segment seg[SEG_COUNT];
	struct hv_dtable gdtr, idtr;
	uint64_t cr0, cr2, cr3, cr4, efer;
	uint64_t dr6, dr7;
	uint64_t pending_debug; /* debug exceptions held off by a shadow; VMX only */
	uint8_t cpl;
};

#define CR0_PE	    BIT64(0)
#define CR0_MP	    BIT64(1)
#define CR0_EM	    BIT64(2)
#define CR0_TS	    BIT64(3)
#define CR0_ET	    BIT64(4)
#define CR0_NE	    BIT64(5)
#define CR0_WP	    BIT64(16)
#define CR0_AM	    BIT64(18)
#define CR0_NW	    BIT64(29)
#define CR0_CD	    BIT64(30)
#define CR0_PG	    BIT64(31)

#define CR4_PSE	       BIT64(4)
#define CR4_PAE	       BIT64(5)
#define CR4_MCE	       BIT64(6)
#define CR4_PGE	       BIT64(7)
#define CR4_OSFXSR     BIT64(9)
#define CR4_OSXMMEXCPT BIT64(10)
#define CR4_UMIP       BIT64(11)
#define CR4_LA57       BIT64(12)
#define CR4_VMXE       BIT64(13)
#define CR4_SMXE       BIT64(14)
#define CR4_FSGSBASE   BIT64(16)
#define CR4_PCIDE      BIT64(17)
#define CR4_OSXSAVE    BIT64(18)
#define CR4_SMEP       BIT64(20)
#define CR4_SMAP       BIT64(21)
#define CR4_PKE	       BIT64(22)

#define EFER_SCE  BIT64(0)
#define EFER_LME  BIT64(8)
#define EFER_LMA  BIT64(10)
#define EFER_NXE  BIT64(11)
#define EFER_SVME BIT64(12)
#define EFER_FFXSR BIT64(14)

#define DR6_BS BIT64(14)
#define DR7_GD BIT64(13)

#define RFLAGS_CF  BIT64(0)
#define RFLAGS_ONE BIT64(1)
#define RFLAGS_PF  BIT64(2)
#define RFLAGS_AF  BIT64(4)
#define RFLAGS_ZF  BIT64(6)
#define RFLAGS_SF  BIT64(7)
#define RFLAGS_TF  BIT64(8)
#define RFLAGS_IF  BIT64(9)
#define RFLAGS_DF  BIT64(10)
#define RFLAGS_OF  BIT64(11)
#define RFLAGS_RF  BIT64(16)
#define RFLAGS_VM  BIT64(17)
#define RFLAGS_AC  BIT64(18)

enum hv_vector {
	VEC_DE = 0, VEC_DB = 1, VEC_NMI = 2, VEC_BP = 3, VEC_OF = 4, VEC_BR = 5, VEC_UD = 6,
	VEC_NM = 7, VEC_DF = 8, VEC_TS = 10, VEC_NP = 11, VEC_SS = 12, VEC_GP = 13, VEC_PF = 14,
	VEC_MF = 16, VEC_AC = 17, VEC_MC = 18, VEC_XM = 19, VEC_VE = 20, VEC_CP = 21
};

/* Event types as VMX and SVM encode them (SDM 3C 25.8.3, APM 2 15.20). */
enum hv_event_type {
	EVENT_EXTINT = 0,
	EVENT_NMI = 2,
	EVENT_EXCEPTION = 3,
	EVENT_SOFT_INT = 4,
	EVENT_PRIV_SOFT_EXC = 5,
	EVENT_SOFT_EXC = 6,
};

/* An event to inject, or one whose delivery an exit interrupted. */
struct hv_event {
	bool valid;
	bool has_error;
	uint8_t vector;
	uint8_t type;	  /* enum hv_event_type */
	uint8_t insn_len; /* of the INT n, INT3 or INTO that caused it */
	uint32_t error;
};
