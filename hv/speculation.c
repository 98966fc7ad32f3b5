/* SPDX-License-Identifier: BSD-2-Clause */
/* speculation: keeps one VM's traces in the CPU from the next. */
#include "hv/speculation.h"

#include "hv/cpu.h"
#include "hv/io.h"
#include "hv/log.h"

#define MSR_PRED_CMD		0x49
#define PRED_CMD_IBPB		1
#define MSR_ARCH_CAPABILITIES	0x10a
#define ARCH_RDCL_NO		BIT64(0)
#define ARCH_SKIP_L1DFL		BIT64(3)
#define ARCH_MDS_NO		BIT64(5)
#define ARCH_PSCHANGE_MC_NO	BIT64(6)
#define MSR_FLUSH_CMD		0x10b
#define FLUSH_CMD_L1D		1

static bool need_ibpb __attribute__((section(".data.ro_after_init")));
static bool need_l1d_flush __attribute__((section(".data.ro_after_init")));
bool speculation_need_verw __attribute__((section(".data.ro_after_init")));

/*
 * Two sizes of translation for one executable page may be a machine check.  A
 * guest brings that about by itself where it has large nested leaves.
 */
static void warn_of_multihit(uint64_t arch)
{
	if (cpuid(0, 0).ebx == 0x756e6547 /* "Genu" */ && !(arch & ARCH_PSCHANGE_MC_NO))
		log_warn("speculation: this CPU may have the iTLB multihit erratum: give VMs that are not trusted max-leaf = \"4K\"");
}

void speculation_init(void)
{
	struct cpuid_regs l7 = { 0 };
	uint64_t arch = 0;

	if (cpuid(0, 0).eax >= 7)
		l7 = cpuid(7, 0);
	if (l7.edx & BIT(29))
		arch = rdmsr(MSR_ARCH_CAPABILITIES);
	need_ibpb = l7.edx & BIT(26);
	if (cpuid(0x80000000, 0).eax >= 0x80000008 && (cpuid(0x80000008, 0).ebx & BIT(12)))
		need_ibpb = true;
	need_l1d_flush = (l7.edx & BIT(28)) && !(arch & (ARCH_RDCL_NO | ARCH_SKIP_L1DFL));
	speculation_need_verw = (l7.edx & BIT(10)) && !(arch & ARCH_MDS_NO);
	log_info("speculation: IBPB and L1D flush between VMs %s and %s, VERW before entry %s",
		 need_ibpb ? "yes" : "no", need_l1d_flush ? "yes" : "no", speculation_need_verw ? "yes" : "no");
	warn_of_multihit(arch);
}

void speculation_switch_vm(void)
{
	if (need_ibpb)
		wrmsr(MSR_PRED_CMD, PRED_CMD_IBPB);
	if (need_l1d_flush)
		wrmsr(MSR_FLUSH_CMD, FLUSH_CMD_L1D);
}
