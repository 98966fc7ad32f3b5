/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_msr: RDMSR and WRMSR. */
#include "hv/exit_dispatch.h"
#include "hv/log.h"
#include "hv/msr.h"
#include "hv/vm.h"

#define WARNINGS_MAX 16

static void unknown(struct vcpu *v, const char *what, uint32_t msr)
{
	/* A guest that probes in a loop must not fill the log. */
	if (v->msr_warnings < WARNINGS_MAX) {
		v->msr_warnings++;
		log_debug("vm '%s' vcpu %u: %s of unknown MSR %x at rip %llx: #GP%s",
			  v->vm->config.name, v->index, what, msr, (unsigned long long)v->regs.rip,
			  v->msr_warnings == WARNINGS_MAX ? " (no more of these)" : "");
	}
	vcpu_raise_error(v, VEC_GP, 0);
}

void exit_rdmsr(struct vcpu *v, const struct hv_exit *e)
{
	uint32_t msr = (uint32_t)v->regs.gpr[GPR_RCX];
	unsigned len = exit_insn_len(v, e);
	uint64_t val;

	if (!len)
		return;
	if (!msr_read(v, msr, &val)) {
		unknown(v, "read", msr);
		return;
	}
	v->regs.gpr[GPR_RAX] = (uint32_t)val;
	v->regs.gpr[GPR_RDX] = val >> 32;
	vcpu_skip(v, len);
}

void exit_wrmsr(struct vcpu *v, const struct hv_exit *e)
{
	uint32_t msr = (uint32_t)v->regs.gpr[GPR_RCX];
	uint64_t val = (v->regs.gpr[GPR_RDX] & 0xffffffff) << 32 |
		       (v->regs.gpr[GPR_RAX] & 0xffffffff);
	unsigned len = exit_insn_len(v, e);

	if (!len)
		return;
	if (!msr_write(v, msr, val)) {
		unknown(v, "write", msr);
		return;
	}
	vcpu_skip(v, len);
}
