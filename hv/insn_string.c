/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_string: one element at a time, so that a fault finds the registers
 * where the CPU would have left them.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 1 7.3.9; SDM 2B REP/REPE/REPNE.
 */
#include "hv/insn_string.h"

#include "hv/insn_alu.h"

static bool has_src(uint8_t op)
{
	return op == INSN_MOVS || op == INSN_CMPS || op == INSN_LODS || op == INSN_OUTS;
}

static bool has_dst(uint8_t op)
{
	return op != INSN_LODS && op != INSN_OUTS;
}

uint64_t insn_string_count(const struct insn *in, const struct hv_regs *r)
{
	return insn_repeats(in) ? insn_gpr_get(r, GPR_RCX, in->addrsize) : 1;
}

enum insn_result insn_string_linear(const struct insn *in, const struct hv_regs *r,
				    const struct hv_sregs *s, enum insn_string_end end,
				    uint64_t *linear, struct insn_fault *f)
{
	bool dst = end == INSN_STRING_DST;
	struct insn_ref ref = {
		.seg = dst ? (uint8_t)SEG_ES : in->mem.seg,
		.write = dst && in->op != INSN_CMPS && in->op != INSN_SCAS,
		.size = in->opsize,
		.off = insn_gpr_get(r, dst ? GPR_RDI : GPR_RSI, in->addrsize),
	};

	return insn_ref_linear((enum insn_mode)in->mode, r, s, &ref, linear, f);
}

void insn_string_advance(const struct insn *in, struct hv_regs *r, uint64_t count)
{
	uint64_t bytes = count * in->opsize;

	if (r->rflags & RFLAGS_DF)
		bytes = 0 - bytes;
	if (has_src(in->op))
		insn_gpr_set(r, GPR_RSI, in->addrsize, r->gpr[GPR_RSI] + bytes);
	if (has_dst(in->op))
		insn_gpr_set(r, GPR_RDI, in->addrsize, r->gpr[GPR_RDI] + bytes);
	if (insn_repeats(in))
		insn_gpr_set(r, GPR_RCX, in->addrsize, r->gpr[GPR_RCX] - count);
}

struct element {
	uint64_t src, dst; /* linear addresses */
	uint64_t val;	   /* what was read; MOVS and STOS: what to write */
	uint64_t flags;	   /* RFLAGS after a comparison */
};

static enum insn_result element_addresses(const struct insn *in, const struct hv_regs *r,
					  const struct hv_sregs *s, struct element *e,
					  struct insn_fault *f)
{
	enum insn_result res = INSN_DONE;

	if (has_src(in->op))
		res = insn_string_linear(in, r, s, INSN_STRING_SRC, &e->src, f);
	if (res == INSN_DONE && has_dst(in->op))
		res = insn_string_linear(in, r, s, INSN_STRING_DST, &e->dst, f);
	return res;
}

/* The memory accesses and the comparison of one element. */
static enum insn_result element_access(const struct insn *in, const struct hv_regs *r,
				       const struct insn_env *env, struct element *e,
				       struct insn_fault *f)
{
	uint64_t other = 0;
	enum insn_result res = INSN_DONE;

	e->val = insn_gpr_get(r, GPR_RAX, in->opsize);
	e->flags = r->rflags;
	if (in->op == INSN_MOVS || in->op == INSN_CMPS)
		res = insn_touch(env, e->dst, in->opsize,
				 in->op == INSN_MOVS ? INSN_MODIFY : INSN_READ, f);
	if (res == INSN_DONE && has_src(in->op)) {
		res = env->read(env->ctx, e->src, in->opsize, INSN_READ, &e->val, f);
		e->val &= mask_bytes(in->opsize);
	}
	if (res != INSN_DONE)
		return res;
	if (in->op == INSN_MOVS || in->op == INSN_STOS)
		return env->write(env->ctx, e->dst, in->opsize, e->val, f);
	if (in->op == INSN_CMPS || in->op == INSN_SCAS) {
		res = env->read(env->ctx, e->dst, in->opsize, INSN_READ, &other, f);
		if (res == INSN_DONE)
			insn_alu(INSN_CMP, in->opsize, e->val, other, &e->flags);
	}
	return res;
}

/* Whether REPE or REPNE ends after a comparison that left @flags. */
static bool ends_early(const struct insn *in, uint64_t flags)
{
	if (in->op != INSN_CMPS && in->op != INSN_SCAS)
		return false;
	return in->repne ? !!(flags & RFLAGS_ZF) : !(flags & RFLAGS_ZF);
}

enum insn_result insn_string_exec(const struct insn *in, struct hv_regs *r,
				  const struct hv_sregs *s, const struct insn_env *env,
				  unsigned budget, struct insn_fault *f)
{
	uint64_t flags = r->rflags;

	if (in->op == INSN_INS || in->op == INSN_OUTS)
		return INSN_UNSUPPORTED;
	for (unsigned used = 0; insn_string_count(in, r);) {
		struct element e;
		enum insn_result res = element_addresses(in, r, s, &e, f);

		if (res == INSN_DONE)
			res = element_access(in, r, env, &e, f);
		if (res != INSN_DONE)
			return res;
		if (in->op == INSN_LODS)
			insn_gpr_set(r, GPR_RAX, in->opsize, e.val);
		insn_string_advance(in, r, 1);
		flags = e.flags;
		used += in->opsize;
		if (!insn_repeats(in) || ends_early(in, flags))
			break;
		/* RFLAGS stays as it was until the end: a fault in between shows it so. */
		if (used >= budget && insn_string_count(in, r))
			return INSN_AGAIN;
	}
	r->rflags = flags;
	insn_finish(in, r);
	return INSN_DONE;
}
