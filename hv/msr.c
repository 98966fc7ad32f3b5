/* SPDX-License-Identifier: BSD-2-Clause */
/* msr: which MSRs a guest has, and what they do. */
#include "hv/msr.h"

#include "hv/cpuid.h"
#include "hv/kvm_clock.h"
#include "hv/vm.h"

enum {
	MSR_P5_MC_ADDR = 0x0, MSR_P5_MC_TYPE = 0x1, MSR_TSC = 0x10, MSR_PLATFORM_ID = 0x17,
	MSR_APIC_BASE = 0x1b, MSR_EBL_CR_POWERON = 0x2a, MSR_FEATURE_CONTROL = 0x3a,
	MSR_TSC_ADJUST = 0x3b, MSR_BIOS_UPDT_TRIG = 0x79, MSR_BIOS_SIGN_ID = 0x8b,
	MSR_SMI_COUNT = 0x34, MSR_PLATFORM_INFO = 0xce, MSR_MTRRCAP = 0xfe,
	MSR_ARCH_CAPABILITIES = 0x10a, MSR_BBL_CR_CTL3 = 0x11e,
	MSR_SYSENTER_CS = 0x174, MSR_SYSENTER_ESP = 0x175, MSR_SYSENTER_EIP = 0x176,
	MSR_MCG_CAP = 0x179, MSR_MCG_STATUS = 0x17a, MSR_MISC_FEATURES_ENABLES = 0x140,
	MSR_MISC_ENABLE = 0x1a0, MSR_DEBUGCTL = 0x1d9,
	MSR_LASTBRANCH_FROM = 0x1db, MSR_LASTINT_TO = 0x1de, MSR_PAT = 0x277, MSR_TSC_DEADLINE = 0x6e0,
};
#define MSR_EFER	   0xc0000080u
#define MSR_STAR	   0xc0000081u
#define MSR_LSTAR	   0xc0000082u
#define MSR_CSTAR	   0xc0000083u
#define MSR_SFMASK	   0xc0000084u
#define MSR_FS_BASE	   0xc0000100u
#define MSR_GS_BASE	   0xc0000101u
#define MSR_KERNEL_GS_BASE 0xc0000102u
#define MSR_TSC_AUX	   0xc0000103u

#define AMD_SYSCFG	0xc0010010u
#define AMD_HWCR	0xc0010015u
#define AMD_NB_CFG	0xc001001fu
#define AMD_PATCH_LEVEL 0x8bu
#define AMD_INT_PENDING 0xc0010055u
#define AMD_VM_CR	0xc0010114u
#define AMD_DE_CFG	0xc0011029u

#define MISC_ENABLE_WRITABLE 0x400c51889ULL

static const uint32_t passthrough[] = {
	MSR_SYSENTER_CS, MSR_SYSENTER_ESP, MSR_SYSENTER_EIP, MSR_STAR, MSR_LSTAR, MSR_CSTAR,
	MSR_SFMASK, MSR_FS_BASE, MSR_GS_BASE, MSR_KERNEL_GS_BASE, MSR_TSC_AUX,
};

void msr_for_each_passthrough(void (*fn)(uint32_t msr))
{
	for (size_t i = 0; i < ARRAY_SIZE(passthrough); i++)
		fn(passthrough[i]);
}

/* MSRs that read as a constant and take any write silently (on either vendor). */
static bool constant(uint32_t msr, uint64_t *val)
{
	*val = 0;
	switch (msr) {
	case MSR_P5_MC_ADDR:
	case MSR_P5_MC_TYPE:
	case MSR_PLATFORM_ID:
	case MSR_EBL_CR_POWERON:
	case MSR_SMI_COUNT:
	case MSR_BIOS_UPDT_TRIG:
	case MSR_PLATFORM_INFO:
	case MSR_BBL_CR_CTL3:
	case MSR_MISC_FEATURES_ENABLES:
	case MSR_MCG_CAP:
	case MSR_DEBUGCTL:
		return true;
	case MSR_BIOS_SIGN_ID:
		/* A microcode new enough that no guest tries to update it. */
		*val = cpuid_guest_is_amd() ? 0x01000065 : 0x100000000ULL;
		return true;
	case MSR_FEATURE_CONTROL:
		*val = 1; /* locked, VMX off */
		return !cpuid_guest_is_amd();
	case MSR_MTRRCAP:
		*val = MTRR_CAP;
		return true;
	}
	if (msr >= MSR_LASTBRANCH_FROM && msr <= MSR_LASTINT_TO)
		return true;
	if (!cpuid_guest_is_amd())
		return false;
	/* K8 top of memory, IORRs, P-states, OSVW, performance counters of family 10h on. */
	return msr == AMD_INT_PENDING || msr == AMD_VM_CR ||
	       (msr >= 0xc0010000 && msr <= 0xc0010007) ||
	       (msr >= 0xc0010016 && msr <= 0xc001001d) ||
	       (msr >= 0xc0010058 && msr <= 0xc001006f) || (msr >= 0xc0010140 && msr <= 0xc0010141);
}

static uint64_t *amd_scratch(struct vcpu *v, uint32_t msr)
{
	if (!cpuid_guest_is_amd())
		return NULL;
	switch (msr) {
	case AMD_HWCR:
		return &v->soft.amd_scratch[0];
	case AMD_NB_CFG:
		return &v->soft.amd_scratch[1];
	case AMD_DE_CFG:
		return &v->soft.amd_scratch[2];
	case AMD_SYSCFG:
		return &v->soft.amd_scratch[3];
	default:
		return NULL;
	}
}

/* IA32_TSC_ADJUST moves along (SDM 3B 18.17.3). */
static void set_tsc(struct vcpu *v, uint64_t val)
{
	uint64_t delta = val - vcpu_guest_tsc(v);

	v->tsc_offset += delta;
	v->soft.tsc_adjust += delta;
}

static bool write_efer(struct vcpu *v, uint64_t val)
{
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	if (val & ~cpuid_guest_efer_allowed())
		return false;
	if ((s.cr0 & CR0_PG) && ((val ^ s.efer) & EFER_LME))
		return false;
	s.efer = (val & ~EFER_LMA) | (s.efer & EFER_LMA);
	virt->set_sregs(v, &s);
	return true;
}

static uint64_t read_efer(struct vcpu *v)
{
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	return s.efer;
}

bool msr_read(struct vcpu *v, uint32_t msr, uint64_t *val)
{
	uint64_t *soft;

	if (msr >= LAPIC_MSR_FIRST && msr <= LAPIC_MSR_LAST)
		return lapic_msr_read(&v->lapic, msr, val);
	switch (msr) {
	case MSR_TSC:
		*val = vcpu_guest_tsc(v);
		return true;
	case MSR_TSC_ADJUST:
		*val = v->soft.tsc_adjust;
		return true;
	case MSR_APIC_BASE:
		*val = lapic_base_read(&v->lapic);
		return true;
	case MSR_TSC_DEADLINE:
		*val = lapic_tsc_deadline_read(&v->lapic);
		return true;
	case MSR_MISC_ENABLE:
		*val = v->soft.misc_enable;
		return true;
	case MSR_MCG_STATUS:
		*val = v->soft.mcg_status;
		return true;
	case MSR_PAT:
		*val = v->msrs.pat;
		return true;
	case MSR_EFER:
		*val = read_efer(v);
		return true;
	}
	soft = mtrr_find(&v->soft.mtrr, msr);
	if (!soft)
		soft = amd_scratch(v, msr);
	if (soft) {
		*val = *soft;
		return true;
	}
	return kvm_clock_read(v, msr, val) || constant(msr, val);
}

bool msr_write(struct vcpu *v, uint32_t msr, uint64_t val)
{
	uint64_t unused, *soft;

	if (msr >= LAPIC_MSR_FIRST && msr <= LAPIC_MSR_LAST)
		return lapic_msr_write(&v->lapic, msr, val);
	switch (msr) {
	case MSR_TSC:
		set_tsc(v, val);
		return true;
	case MSR_TSC_ADJUST:
		v->tsc_offset += val - v->soft.tsc_adjust;
		v->soft.tsc_adjust = val;
		return true;
	case MSR_APIC_BASE:
		return lapic_base_write(&v->lapic, val);
	case MSR_TSC_DEADLINE:
		lapic_tsc_deadline_write(&v->lapic, val);
		return true;
	case MSR_MISC_ENABLE:
		if (val & ~MISC_ENABLE_WRITABLE)
			return false;
		v->soft.misc_enable = val;
		return true;
	case MSR_MCG_STATUS:
		v->soft.mcg_status = val;
		return true;
	case MSR_PAT:
		if (!mtrr_pat_valid(val))
			return false;
		v->msrs.pat = val;
		return true;
	case MSR_EFER:
		return write_efer(v, val);
	case MSR_MTRRCAP:
	case MSR_PLATFORM_INFO:
		return false;
	}
	soft = mtrr_find(&v->soft.mtrr, msr);
	if (soft && !mtrr_valid(msr, val, cpuid_guest_maxphyaddr()))
		return false;
	if (!soft)
		soft = amd_scratch(v, msr);
	if (soft) {
		*soft = val;
		return true;
	}
	return kvm_clock_write(v, msr, val) || constant(msr, &unused);
}
