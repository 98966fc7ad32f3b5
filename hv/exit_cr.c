/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit_cr: control registers and XCR0.
 *
 * Neither vendor tells everything about the access in all cases, so the
 * instruction is decoded on both: one path, one set of checks.
 * Spec: SDM 3A 2.5, 4.1; SDM 2 MOV CR; APM 2 3.1.
 */
#include "hv/cpuid.h"
#include "hv/exit_dispatch.h"
#include "hv/guest_virt.h"
#include "hv/vcpu_live.h"
#include "hv/vm.h"

#define CR0_KNOWN (CR0_PE | CR0_MP | CR0_EM | CR0_TS | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_NW | \
		   CR0_CD | CR0_PG)

/* False: #GP(0). */
static bool set_cr0(struct hv_sregs *s, uint64_t val)
{
	uint64_t changed = s->cr0 ^ val;

	if (val >> 32)
		return false;
	if ((val & CR0_PG) && !(val & CR0_PE))
		return false;
	if ((val & CR0_NW) && !(val & CR0_CD))
		return false;
	if ((changed & CR0_PG) && (val & CR0_PG) && (s->efer & EFER_LME)) {
		if (!(s->cr4 & CR4_PAE) || (s->seg[SEG_CS].attr & SEG_ATTR_L))
			return false;
		s->efer |= EFER_LMA;
	}
	if ((changed & CR0_PG) && !(val & CR0_PG)) {
		if ((s->cr4 & CR4_PCIDE) ||
		    ((s->efer & EFER_LMA) && (s->seg[SEG_CS].attr & SEG_ATTR_L)))
			return false;
		s->efer &= ~EFER_LMA;
	}
	s->cr0 = (val & CR0_KNOWN) | CR0_ET;
	return true;
}

static bool set_cr4(struct hv_sregs *s, uint64_t val)
{
	if (val & ~cpuid_guest_cr4_allowed())
		return false;
	if ((s->efer & EFER_LMA) && !(val & CR4_PAE))
		return false;
	if ((val & CR4_PCIDE) && !(s->cr4 & CR4_PCIDE) &&
	    (!(s->efer & EFER_LMA) || (s->cr3 & 0xfff)))
		return false;
	s->cr4 = val;
	return true;
}

static bool set_cr(struct vcpu *v, struct hv_sregs *s, unsigned cr, uint64_t val)
{
	switch (cr) {
	case 0:
		return set_cr0(s, val);
	case 4:
		return set_cr4(s, val);
	case 8:
		if (val > 15)
			return false;
		lapic_cr8_write(&v->lapic, val);
		return true;
	default:
		return false;
	}
}

static uint64_t get_cr(struct vcpu *v, const struct hv_sregs *s, unsigned cr)
{
	switch (cr) {
	case 0:
		return s->cr0;
	case 4:
		return s->cr4;
	default:
		return lapic_cr8_read(&v->lapic);
	}
}

/* LMSW sets the low four bits but never clears PE. */
static bool load_msw(struct guest_virt *g, const struct insn *in)
{
	struct insn_fault f = { 0 };
	enum insn_result r = INSN_DONE;
	uint64_t val = 0, linear;

	if (in->opnd[0].kind == INSN_OPND_REG) {
		val = insn_gpr_get(&g->v->regs, in->opnd[0].reg, 2);
	} else {
		r = insn_linear(in, &g->v->regs, &g->sregs, false, &linear, &f);
		if (!r)
			r = g->env.read(g, linear, 2, INSN_READ, &val, &f);
	}
	if (r) {
		guest_virt_conclude(g->v, r, &f);
		return false;
	}
	val = (g->sregs.cr0 & ~0xfULL) | (val & 0xf) | (g->sregs.cr0 & CR0_PE);
	if (set_cr0(&g->sregs, val))
		return true;
	vcpu_raise_error(g->v, VEC_GP, 0);
	return false;
}

/* True when registers changed and the instruction is done. */
static bool carry_out(struct guest_virt *g, const struct insn *in)
{
	struct vcpu *v = g->v;

	if (in->op == INSN_CLTS) {
		g->sregs.cr0 &= ~CR0_TS;
		return true;
	}
	if (in->op == INSN_LMSW)
		return load_msw(g, in);
	if (in->opnd[1].kind == INSN_OPND_CR) {
		v->regs.gpr[in->opnd[0].reg] = get_cr(v, &g->sregs, in->opnd[1].reg);
		return true;
	}
	if (set_cr(v, &g->sregs, in->opnd[0].reg, insn_gpr_get(&v->regs, in->opnd[1].reg,
								  in->opsize)))
		return true;
	vcpu_raise_error(v, VEC_GP, 0);
	return false;
}

void exit_cr(struct vcpu *v, const struct hv_exit *e)
{
	struct guest_virt g;
	enum hv_status st;
	struct insn in;

	guest_virt_init(&g, v);
	st = guest_virt_fetch(&g, &in);
	if (st == HV_RETRY)
		return;
	if (st || (in.op != INSN_MOV_CR && in.op != INSN_CLTS && in.op != INSN_LMSW)) {
		vm_fail(v, "access to a control register (exit %x) cannot be decoded", e->reason);
		return;
	}
	if (!carry_out(&g, &in))
		return;
	virt->set_sregs(v, &g.sregs);
	vcpu_skip(v, in.len);
}

void exit_xsetbv(struct vcpu *v, const struct hv_exit *e)
{
	uint64_t val = (v->regs.gpr[GPR_RDX] & 0xffffffff) << 32 |
		       (v->regs.gpr[GPR_RAX] & 0xffffffff);
	unsigned len = exit_insn_len(v, e);
	struct hv_sregs s;

	if (!len)
		return;
	/* SVM exits before the CPU looks at the privilege level. */
	virt->get_sregs(v, &s);
	if (s.cpl || (uint32_t)v->regs.gpr[GPR_RCX] || !vcpu_live_set_xcr0(v, val)) {
		vcpu_raise_error(v, VEC_GP, 0);
		return;
	}
	vcpu_skip(v, len);
}
