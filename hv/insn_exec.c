/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_exec: everything but string instructions.
 *
 * Memory comes before registers: a register changes only when no access of the
 * instruction can fault any more.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 2A-2D; SDM 3A 9.1.2 for LOCK.
 */
#include "hv/insn_exec.h"

#include "hv/insn_alu.h"
#include "hv/insn_string.h"

/* How often a locked instruction tries before it lets the caller look around. */
#define LOCK_TRIES 32

struct run {
	const struct insn *in;
	struct hv_regs *regs;
	const struct hv_sregs *sregs;
	const struct insn_env *env;
	struct insn_fault *fault;
	uint64_t linear; /* of the memory operand, if there is one */
};

void insn_finish(const struct insn *in, struct hv_regs *r)
{
	r->rip = (r->rip + in->len) & mask_bytes(in->mode == INSN_64 ? 8 : 4);
	r->rflags &= ~RFLAGS_RF;
}

static uint64_t reg_get(const struct run *r, const struct insn_opnd *o)
{
	return r->regs->gpr[o->reg] >> (o->high ? 8 : 0) & mask_bytes(o->size);
}

static void reg_set(const struct run *r, const struct insn_opnd *o, uint64_t val)
{
	uint64_t *gpr = &r->regs->gpr[o->reg];

	if (o->high)
		*gpr = (*gpr & ~0xff00ULL) | (val & 0xff) << 8;
	else
		insn_gpr_set(r->regs, o->reg, o->size, val);
}

static enum insn_result load(const struct run *r, const struct insn_opnd *o,
			     enum insn_intent intent, uint64_t *val)
{
	enum insn_result res = INSN_DONE;

	if (o->kind == INSN_OPND_MEM)
		res = r->env->read(r->env->ctx, r->linear, o->size, intent, val, r->fault);
	else
		*val = o->kind == INSN_OPND_REG ? reg_get(r, o) : (uint64_t)r->in->imm;
	if (res == INSN_DONE)
		*val &= mask_bytes(o->size);
	return res;
}

static enum insn_result store(const struct run *r, const struct insn_opnd *o, uint64_t val)
{
	if (o->kind == INSN_OPND_MEM)
		return r->env->write(r->env->ctx, r->linear, o->size, val & mask_bytes(o->size),
				     r->fault);
	reg_set(r, o, val);
	return INSN_DONE;
}

/* MOV, MOVZX, MOVSX, MOVBE, CMOVcc. */
static enum insn_result exec_move(const struct run *r)
{
	const struct insn_opnd *dst = &r->in->opnd[0], *src = &r->in->opnd[1];
	uint64_t v;
	enum insn_result res = load(r, src, INSN_READ, &v);

	if (res != INSN_DONE)
		return res;
	if (r->in->op == INSN_MOVSX)
		v = (uint64_t)insn_sign_extend(v, src->size);
	else if (r->in->op == INSN_MOVBE)
		v = __builtin_bswap64(v) >> (64 - 8 * src->size);
	else if (r->in->op == INSN_CMOVCC && !insn_condition(r->in->cc, r->regs->rflags))
		v = reg_get(r, dst); /* and four bytes still clear the upper half */
	return store(r, dst, v);
}

/* CMP, TEST and BT, which only read. */
static enum insn_result exec_compare(const struct run *r)
{
	const struct insn *in = r->in;
	uint64_t a, b;
	enum insn_result res = load(r, &in->opnd[0], INSN_READ, &a);

	if (res == INSN_DONE)
		res = load(r, &in->opnd[1], INSN_READ, &b);
	if (res != INSN_DONE)
		return res;
	if (in->op == INSN_BT)
		insn_bit(INSN_BT, in->opsize, a, b, &r->regs->rflags);
	else
		insn_alu((enum insn_op)in->op, in->opsize, a, b, &r->regs->rflags);
	return INSN_DONE;
}

struct outcome {
	uint64_t dst;
	uint64_t flags;
};

/* What the destination becomes when it was @old and the source is @src. */
static struct outcome modify(const struct run *r, uint64_t old, uint64_t src)
{
	enum insn_op op = (enum insn_op)r->in->op;
	unsigned size = r->in->opsize;
	struct outcome o = {.dst = src, .flags = r->regs->rflags};

	switch (op) {
	case INSN_XCHG:
		break;
	case INSN_CMPXCHG:
		insn_alu(INSN_CMP, size, insn_gpr_get(r->regs, GPR_RAX, size), old, &o.flags);
		if (!(o.flags & RFLAGS_ZF))
			o.dst = old;
		break;
	case INSN_BTS:
	case INSN_BTR:
	case INSN_BTC:
		o.dst = insn_bit(op, size, old, src, &o.flags);
		break;
	case INSN_XADD:
		o.dst = insn_alu(INSN_ADD, size, old, src, &o.flags);
		break;
	default:
		o.dst = insn_alu(op, size, old, src, &o.flags);
		break;
	}
	return o;
}

/* Registers and flags of a read-modify-write whose memory is done. */
static void commit(const struct run *r, uint64_t old, const struct outcome *o)
{
	const struct insn *in = r->in;
	bool failed = in->op == INSN_CMPXCHG && !(o->flags & RFLAGS_ZF);

	r->regs->rflags = o->flags;
	if (failed)
		insn_gpr_set(r->regs, GPR_RAX, in->opsize, old);
	if (in->op == INSN_XCHG || in->op == INSN_XADD)
		reg_set(r, &in->opnd[1], old);
	if (in->opnd[0].kind == INSN_OPND_REG && !failed)
		reg_set(r, &in->opnd[0], o->dst);
}

static enum insn_result exec_modify(const struct run *r)
{
	const struct insn *in = r->in;
	const struct insn_opnd *dst = &in->opnd[0];
	bool locked = (in->lock || in->op == INSN_XCHG) && r->env->cmpxchg;
	uint64_t old[2] = {0}, new_val[2] = {0}, src = 0;
	struct outcome o;
	enum insn_result res = load(r, dst, INSN_MODIFY, &old[0]);

	if (res == INSN_DONE && in->opnd[1].kind != INSN_OPND_NONE)
		res = load(r, &in->opnd[1], INSN_READ, &src);
	if (res != INSN_DONE)
		return res;
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		o = modify(r, old[0], src);
		if (dst->kind != INSN_OPND_MEM)
			break;
		new_val[0] = o.dst;
		res = locked ? r->env->cmpxchg(r->env->ctx, r->linear, dst->size, old, new_val,
					       r->fault)
			     : store(r, dst, o.dst);
		if (!locked || res != INSN_AGAIN)
			break;
	}
	if (res == INSN_DONE)
		commit(r, old[0], &o);
	return res;
}

/* The eight or sixteen bytes of CMPXCHG8B and 16B. */
static enum insn_result load_wide(const struct run *r, unsigned size, uint64_t val[2])
{
	enum insn_result res =
		r->env->read(r->env->ctx, r->linear, 8, INSN_MODIFY, &val[0], r->fault);

	if (res == INSN_DONE && size == 16)
		res = r->env->read(r->env->ctx, r->linear + 8, 8, INSN_MODIFY, &val[1], r->fault);
	return res;
}

static enum insn_result store_wide(const struct run *r, unsigned size, uint64_t old[2],
				   const uint64_t val[2])
{
	const struct insn_env *env = r->env;
	enum insn_result res;

	if (r->in->lock && env->cmpxchg)
		return env->cmpxchg(env->ctx, r->linear, size, old, val, r->fault);
	res = env->write(env->ctx, r->linear, 8, val[0], r->fault);
	if (res == INSN_DONE && size == 16)
		res = env->write(env->ctx, r->linear + 8, 8, val[1], r->fault);
	return res;
}

/* The pair @hi:@lo as CMPXCHG8B (@size 8) or 16B see it. */
static void get_pair(const struct run *r, unsigned size, uint8_t hi, uint8_t lo, uint64_t val[2])
{
	val[0] = r->regs->gpr[lo];
	val[1] = r->regs->gpr[hi];
	if (size == 8) {
		val[0] = (val[0] & mask_bytes(4)) | val[1] << 32;
		val[1] = 0;
	}
}

static enum insn_result exec_cmpxchg_wide(const struct run *r)
{
	unsigned size = r->in->opnd[0].size;
	uint64_t mem[2] = {0}, want[2], repl[2];
	enum insn_result res;
	bool equal = false;

	if (size == 16 && r->linear & 15)
		return insn_segment_fault(SEG_DS, r->fault); /* #GP whatever the segment */
	get_pair(r, size, GPR_RDX, GPR_RAX, want);
	get_pair(r, size, GPR_RCX, GPR_RBX, repl);
	res = load_wide(r, size, mem);
	if (res != INSN_DONE)
		return res;
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		equal = mem[0] == want[0] && mem[1] == want[1];
		/* The old value goes back on a mismatch: the CPU always writes. */
		res = store_wide(r, size, mem, equal ? repl : mem);
		if (!r->in->lock || res != INSN_AGAIN)
			break;
	}
	if (res != INSN_DONE)
		return res;
	r->regs->rflags = (r->regs->rflags & ~RFLAGS_ZF) | (equal ? RFLAGS_ZF : 0);
	if (!equal) {
		insn_gpr_set(r->regs, GPR_RAX, size / 2, mem[0]);
		insn_gpr_set(r->regs, GPR_RDX, size / 2, size == 8 ? mem[0] >> 32 : mem[1]);
	}
	return INSN_DONE;
}

/* The width of the stack pointer. */
static unsigned stack_size(const struct run *r)
{
	if (r->in->mode == INSN_64)
		return 8;
	return r->sregs->seg[SEG_SS].attr & SEG_ATTR_DB ? 4 : 2;
}

static enum insn_result stack_linear(const struct run *r, uint64_t off, bool write,
				     uint64_t *linear)
{
	struct insn_ref ref = {.seg = SEG_SS, .write = write, .size = r->in->opsize};

	ref.off = off & mask_bytes(stack_size(r));
	return insn_ref_linear((enum insn_mode)r->in->mode, r->regs, r->sregs, &ref, linear,
			       r->fault);
}

static enum insn_result exec_push(const struct run *r)
{
	uint64_t v, linear, sp = r->regs->gpr[GPR_RSP] - r->in->opsize;
	enum insn_result res = stack_linear(r, sp, true, &linear);

	if (res == INSN_DONE && r->in->opnd[0].kind == INSN_OPND_MEM)
		res = insn_touch(r->env, linear, r->in->opsize, INSN_MODIFY, r->fault);
	if (res == INSN_DONE)
		res = load(r, &r->in->opnd[0], INSN_READ, &v);
	if (res == INSN_DONE)
		res = r->env->write(r->env->ctx, linear, r->in->opsize, v, r->fault);
	if (res == INSN_DONE)
		insn_gpr_set(r->regs, GPR_RSP, stack_size(r), sp);
	return res;
}

/* A destination addressed by rSP sees it after the increment. */
static enum insn_result exec_pop(const struct run *r)
{
	struct hv_regs next = *r->regs;
	struct run after = *r;
	uint64_t v, linear;
	enum insn_result res = stack_linear(r, r->regs->gpr[GPR_RSP], false, &linear);

	if (res == INSN_DONE)
		res = r->env->read(r->env->ctx, linear, r->in->opsize, INSN_READ, &v, r->fault);
	if (res != INSN_DONE)
		return res;
	insn_gpr_set(&next, GPR_RSP, stack_size(r), next.gpr[GPR_RSP] + r->in->opsize);
	after.regs = &next;
	if (r->in->opnd[0].kind == INSN_OPND_MEM)
		res = insn_linear(r->in, &next, r->sregs, true, &after.linear, r->fault);
	if (res == INSN_DONE)
		res = store(&after, &r->in->opnd[0], v);
	if (res == INSN_DONE)
		*r->regs = next;
	return res;
}

static enum insn_result exec_op(const struct run *r)
{
	switch (r->in->op) {
	case INSN_MOV:
	case INSN_MOVZX:
	case INSN_MOVSX:
	case INSN_MOVBE:
	case INSN_CMOVCC:
		return exec_move(r);
	case INSN_SETCC:
		return store(r, &r->in->opnd[0], insn_condition(r->in->cc, r->regs->rflags));
	case INSN_CMP:
	case INSN_TEST:
	case INSN_BT:
		return exec_compare(r);
	case INSN_CMPXCHG8B:
		return exec_cmpxchg_wide(r);
	case INSN_PUSH:
		return exec_push(r);
	case INSN_POP:
		return exec_pop(r);
	default: /* the rest of INSN_ADD to INSN_POP reads, modifies and writes */
		return exec_modify(r);
	}
}

/* Whether the explicit memory operand is written. */
static bool writes_memory(const struct insn *in)
{
	return in->opnd[0].kind == INSN_OPND_MEM && in->op != INSN_CMP && in->op != INSN_TEST &&
	       in->op != INSN_BT && in->op != INSN_PUSH;
}

enum insn_result insn_exec(const struct insn *in, struct hv_regs *r, const struct hv_sregs *s,
			   const struct insn_env *env, unsigned budget, struct insn_fault *f)
{
	struct run run = {.in = in, .regs = r, .sregs = s, .env = env, .fault = f};
	enum insn_result res = INSN_DONE;

	if (in->op >= INSN_MOVS && in->op <= INSN_OUTS)
		return insn_string_exec(in, r, s, env, budget, f);
	if (in->op < INSN_ADD || in->op > INSN_POP)
		return INSN_UNSUPPORTED;
	if (in->op != INSN_POP &&
	    (in->opnd[0].kind == INSN_OPND_MEM || in->opnd[1].kind == INSN_OPND_MEM))
		res = insn_linear(in, r, s, writes_memory(in), &run.linear, f);
	if (res == INSN_DONE)
		res = exec_op(&run);
	if (res == INSN_DONE)
		insn_finish(in, r);
	return res;
}
