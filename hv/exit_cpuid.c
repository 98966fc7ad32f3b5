/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_cpuid: the CPUID instruction. */
#include "hv/cpuid.h"
#include "hv/exit_dispatch.h"
#include "hv/vm.h"

void exit_cpuid(struct vcpu *v, const struct hv_exit *e)
{
	unsigned len = exit_insn_len(v, e);
	struct cpuid_query q = {
		.leaf = (uint32_t)v->regs.gpr[GPR_RAX],
		.subleaf = (uint32_t)v->regs.gpr[GPR_RCX],
		.apic_id = v->index,
		.vcpu_count = v->vm->vcpu_count,
	};
	struct cpuid_out r;
	struct hv_sregs s;

	if (!len)
		return;
	if (q.leaf == 1) {
		virt->get_sregs(v, &s);
		q.cr4 = s.cr4;
	}
	r = cpuid_guest(&q);
	v->regs.gpr[GPR_RAX] = r.eax;
	v->regs.gpr[GPR_RBX] = r.ebx;
	v->regs.gpr[GPR_RCX] = r.ecx;
	v->regs.gpr[GPR_RDX] = r.edx;
	vcpu_skip(v, len);
}
