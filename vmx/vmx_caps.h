/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_caps: what this CPU's VMX can do and the control words that follow,
 * computed from the capability MSRs.
 * Pure (tests/host/test_vmx_caps.c).  Spec: SDM 3D appendix A; SDM 3C 24.7, 25.6-25.8.
 */
#pragma once

#include "hv/base.h"

enum vmx_msr {
	MSR_FEATURE_CONTROL = 0x3a,
	MSR_VMX_BASIC = 0x480,
	MSR_VMX_PINBASED_CTLS = 0x481,
	MSR_VMX_PROCBASED_CTLS = 0x482,
	MSR_VMX_EXIT_CTLS = 0x483,
	MSR_VMX_ENTRY_CTLS = 0x484,
	MSR_VMX_MISC = 0x485,
	MSR_VMX_CR0_FIXED0 = 0x486,
	MSR_VMX_CR0_FIXED1 = 0x487,
	MSR_VMX_CR4_FIXED0 = 0x488,
	MSR_VMX_CR4_FIXED1 = 0x489,
	MSR_VMX_PROCBASED_CTLS2 = 0x48b,
	MSR_VMX_EPT_VPID_CAP = 0x48c,
	MSR_VMX_TRUE_PINBASED_CTLS = 0x48d,
	MSR_VMX_TRUE_PROCBASED_CTLS = 0x48e,
	MSR_VMX_TRUE_EXIT_CTLS = 0x48f,
	MSR_VMX_TRUE_ENTRY_CTLS = 0x490,
};

#define FEATURE_CONTROL_LOCK BIT64(0)
#define FEATURE_CONTROL_VMX  BIT64(2) /* outside SMX */

/* Pin-based controls */
#define PIN_EXTERNAL_INTERRUPT BIT(0)
#define PIN_NMI_EXITING	       BIT(3)
#define PIN_VIRTUAL_NMIS       BIT(5)
#define PIN_PREEMPTION_TIMER   BIT(6)

/* Primary processor-based controls */
#define CPU_INTERRUPT_WINDOW BIT(2)
#define CPU_TSC_OFFSETTING   BIT(3)
#define CPU_HLT		     BIT(7)
#define CPU_MWAIT	     BIT(10)
#define CPU_RDPMC	     BIT(11)
#define CPU_CR3_LOAD	     BIT(15)
#define CPU_CR3_STORE	     BIT(16)
#define CPU_CR8_LOAD	     BIT(19)
#define CPU_CR8_STORE	     BIT(20)
#define CPU_NMI_WINDOW	     BIT(22)
#define CPU_IO_BITMAPS	     BIT(25)
#define CPU_MSR_BITMAPS	     BIT(28)
#define CPU_MONITOR	     BIT(29)
#define CPU_SECONDARY	     BIT(31)

/* Secondary processor-based controls */
#define CPU2_EPT		BIT(1)
#define CPU2_RDTSCP		BIT(3)
#define CPU2_VPID		BIT(5)
#define CPU2_WBINVD		BIT(6)
#define CPU2_UNRESTRICTED_GUEST BIT(7)
#define CPU2_INVPCID		BIT(12)
#define CPU2_PML		BIT(17)

/* Primary VM-exit controls */
#define EXIT_SAVE_DEBUG BIT(2)
#define EXIT_HOST_64	BIT(9)
#define EXIT_SAVE_PAT	BIT(18)
#define EXIT_LOAD_PAT	BIT(19)
#define EXIT_SAVE_EFER	BIT(20)
#define EXIT_LOAD_EFER	BIT(21)

/* VM-entry controls */
#define ENTRY_LOAD_DEBUG BIT(2)
#define ENTRY_IA32E	 BIT(9)
#define ENTRY_LOAD_PAT	 BIT(14)
#define ENTRY_LOAD_EFER	 BIT(15)

/* What the MSRs say; those that do not exist are left 0. */
struct vmx_words {
	uint32_t cpuid1_ecx;
	uint64_t feature_control;
	uint64_t basic, pin, cpu, exit, entry, misc, cpu2, ept_vpid;
	uint64_t true_pin, true_cpu, true_exit, true_entry; /* when basic has bit 55 */
	uint64_t cr0_fixed0, cr0_fixed1, cr4_fixed0, cr4_fixed1;
};

struct vmx_caps {
	uint32_t revision;
	uint32_t pin, cpu, cpu2, exit, entry; /* without what changes while a guest runs */
	bool preemption_timer;
	uint8_t preemption_shift; /* it counts every 2^shift TSC cycles */
	bool ept_1g, ept_ad;
	bool pml; /* may be switched on in cpu2 */
	bool invept_single; /* else all contexts */
	bool vpid;
	bool invvpid_single; /* else all contexts */
	uint64_t cr0_fixed0, cr0_fixed1, cr4_fixed0, cr4_fixed1;
};

/* Which MSRs exist (SDM 3D A): the caller must not read the others. */
static inline bool vmx_caps_has_true(uint64_t basic)
{
	return basic & BIT64(55);
}

static inline bool vmx_caps_has_cpu2(uint64_t cpu)
{
	return cpu >> 32 & CPU_SECONDARY;
}

static inline bool vmx_caps_has_ept_vpid(uint64_t cpu2)
{
	return cpu2 >> 32 & (CPU2_EPT | CPU2_VPID);
}

/*
 * False when guests cannot run; @missing is then one line that says which bit
 * of which MSR is in the way and what to do about it.
 */
bool vmx_caps_compute(const struct vmx_words *w, struct vmx_caps *c, const char **missing);
