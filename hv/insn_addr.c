/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_addr: effective addresses, segment limits and canonical addresses.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested by tests/host/test_insn_exec.c).
 * Spec: SDM 1 3.3.7, 3.7.5; SDM 2A 3.1.1.9; SDM 3A 3.4, 5.3 to 5.5.
 */
#include "hv/insn_addr.h"

#define TYPE_CODE	 BIT(3)
#define TYPE_EXPAND_DOWN BIT(2)
#define TYPE_RW		 BIT(1) /* data: writable, code: readable */

enum insn_result insn_segment_fault(uint8_t seg, struct insn_fault *f)
{
	*f = (struct insn_fault){.vector = seg == SEG_SS ? VEC_SS : VEC_GP, .has_error = true};
	return INSN_EXCEPTION;
}

static bool canonical(uint64_t linear)
{
	return (uint64_t)insn_sign_extend(linear, 6) == linear;
}

/* Whether a loaded descriptor's type lets the access through. */
static bool type_allows(const struct hv_segment *seg, bool write)
{
	if (seg->attr & SEG_ATTR_UNUSABLE || !(seg->attr & SEG_ATTR_P))
		return false;
	if (write)
		return !(seg->attr & TYPE_CODE) && seg->attr & TYPE_RW;
	return !(seg->attr & TYPE_CODE) || seg->attr & TYPE_RW;
}

static bool within_limit(const struct hv_segment *seg, bool expand_down, uint64_t first,
			 uint64_t last)
{
	if (expand_down)
		return first > seg->limit && last <= (seg->attr & SEG_ATTR_DB ? ~0U : 0xffffU);
	return last <= seg->limit;
}

enum insn_result insn_ref_linear(enum insn_mode mode, const struct hv_regs *r,
				 const struct hv_sregs *s, const struct insn_ref *ref,
				 uint64_t *linear, struct insn_fault *f)
{
	const struct hv_segment *seg = &s->seg[ref->seg];
	uint64_t span = ref->size ? ref->size - 1U : 0;
	bool protected, expand_down;

	if (mode == INSN_64) {
		*linear = ref->off + (ref->seg == SEG_FS || ref->seg == SEG_GS ? seg->base : 0);
		if (!canonical(*linear) || !canonical(*linear + span))
			return insn_segment_fault(ref->seg, f);
		return INSN_DONE;
	}
	/* In real and virtual-8086 mode every segment is readable and writable. */
	protected = s->cr0 & CR0_PE && !(r->rflags & RFLAGS_VM);
	if (protected && !type_allows(seg, ref->write))
		return insn_segment_fault(ref->seg, f);
	expand_down = protected && (seg->attr & (TYPE_CODE | TYPE_EXPAND_DOWN)) == TYPE_EXPAND_DOWN;
	if (!within_limit(seg, expand_down, ref->off, ref->off + span))
		return insn_segment_fault(ref->seg, f);
	*linear = (seg->base + ref->off) & mask_bytes(4);
	return INSN_DONE;
}

/* What a bit offset in a register adds to the address, in bytes. */
static uint64_t bit_displacement(const struct insn *in, const struct hv_regs *r)
{
	const struct insn_opnd *o = &in->opnd[1];
	int64_t bit;

	if (in->op < INSN_BT || in->op > INSN_BTC || o->kind != INSN_OPND_REG)
		return 0;
	bit = insn_sign_extend(r->gpr[o->reg], o->size);
	return (uint64_t)(bit >> 3) & ~(uint64_t)(o->size - 1U);
}

static uint64_t effective_address(const struct insn *in, const struct hv_regs *r)
{
	const struct insn_mem *m = &in->mem;
	uint64_t ea = (uint64_t)m->disp;

	if (m->rip_relative)
		ea += r->rip + in->len;
	if (m->base != INSN_NO_REG)
		ea += r->gpr[m->base];
	if (m->index != INSN_NO_REG)
		ea += r->gpr[m->index] * m->scale;
	return (ea + bit_displacement(in, r)) & mask_bytes(in->addrsize);
}

enum insn_result insn_linear(const struct insn *in, const struct hv_regs *r,
			     const struct hv_sregs *s, bool write, uint64_t *linear,
			     struct insn_fault *f)
{
	struct insn_ref ref = {.seg = in->mem.seg, .write = write};

	if (in->opnd[0].kind == INSN_OPND_MEM)
		ref.size = in->opnd[0].size;
	else if (in->opnd[1].kind == INSN_OPND_MEM)
		ref.size = in->opnd[1].size;
	else
		return INSN_UNSUPPORTED;
	ref.off = effective_address(in, r);
	return insn_ref_linear((enum insn_mode)in->mode, r, s, &ref, linear, f);
}
