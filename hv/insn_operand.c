/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_operand: ModRM, SIB, displacements and immediates.
 *
 * Called from: the decoder.  Locks: none.
 * Purity: pure (host-tested by tests/host/test_insn_decode.c).
 * Spec: SDM 2A 2.1.3 to 2.1.5 and 2.2.1.
 */
#include "hv/insn_operand.h"

enum hv_status insn_take(struct insn_parse *p, unsigned size, uint64_t *val)
{
	uint64_t v = 0;

	if (p->pos + size > INSN_MAX_LEN)
		return HV_INVAL;
	if (p->pos + size > p->len)
		return HV_RETRY;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)p->bytes[p->pos + i] << (8 * i);
	p->pos += size;
	*val = v;
	return HV_OK;
}

enum hv_status insn_take_modrm(struct insn_parse *p)
{
	enum hv_status st;
	uint64_t v;

	if (p->has_modrm)
		return HV_OK;
	st = insn_take(p, 1, &v);
	if (st)
		return st;
	p->modrm = (uint8_t)v;
	p->has_modrm = true;
	return HV_OK;
}

static uint8_t modrm_reg(const struct insn_parse *p)
{
	return (uint8_t)((p->modrm >> 3 & 7) | (p->rex & INSN_REX_R ? 8 : 0));
}

static uint8_t modrm_rm(const struct insn_parse *p)
{
	return (uint8_t)((p->modrm & 7) | (p->rex & INSN_REX_B ? 8 : 0));
}

static void set_reg(const struct insn_parse *p, struct insn_opnd *o, uint8_t reg, uint8_t size)
{
	o->kind = INSN_OPND_REG;
	o->size = size;
	o->reg = reg;
	/* Without a REX prefix, four to seven are the second bytes of the first four. */
	if (size == 1 && !p->rex && reg >= GPR_RSP && reg <= GPR_RDI) {
		o->reg = (uint8_t)(reg - GPR_RSP);
		o->high = true;
	}
}

/* ES, CS, SS and DS have no override in 64-bit mode, which insn_decode.c sees to. */
static void set_segment(const struct insn_parse *p, uint8_t by_default)
{
	p->out->mem.seg = p->seg == INSN_NO_SEG ? by_default : p->seg;
}

static enum hv_status take_disp(struct insn_parse *p, unsigned size)
{
	uint64_t v;
	enum hv_status st = insn_take(p, size, &v);

	if (!st)
		p->out->mem.disp = insn_sign_extend(v, size);
	return st;
}

static enum hv_status memory_16(struct insn_parse *p)
{
	static const uint8_t base[8] = {GPR_RBX, GPR_RBX, GPR_RBP, GPR_RBP,
					GPR_RSI, GPR_RDI, GPR_RBP, GPR_RBX};
	static const uint8_t index[4] = {GPR_RSI, GPR_RDI, GPR_RSI, GPR_RDI};
	struct insn_mem *m = &p->out->mem;
	unsigned mod = p->modrm >> 6, rm = p->modrm & 7;

	if (mod == 0 && rm == 6) {
		set_segment(p, SEG_DS);
		return take_disp(p, 2);
	}
	m->base = base[rm];
	if (rm < 4)
		m->index = index[rm];
	set_segment(p, m->base == GPR_RBP ? SEG_SS : SEG_DS);
	return mod == 0 ? HV_OK : take_disp(p, mod == 1 ? 1 : 2);
}

/* Reads SIB; tells in *@no_base whether it names no base register. */
static enum hv_status memory_sib(struct insn_parse *p, bool *no_base)
{
	struct insn_mem *m = &p->out->mem;
	uint64_t sib;
	uint8_t index;
	enum hv_status st = insn_take(p, 1, &sib);

	if (st)
		return st;
	index = (uint8_t)((sib >> 3 & 7) | (p->rex & INSN_REX_X ? 8U : 0U));
	if (index != GPR_RSP) {
		m->index = index;
		m->scale = (uint8_t)(1U << (sib >> 6 & 3));
	}
	*no_base = (sib & 7) == 5 && p->modrm >> 6 == 0;
	if (!*no_base)
		m->base = (uint8_t)((sib & 7) | (p->rex & INSN_REX_B ? 8U : 0U));
	return HV_OK;
}

static enum hv_status memory_32_64(struct insn_parse *p)
{
	struct insn_mem *m = &p->out->mem;
	unsigned mod = p->modrm >> 6, rm = p->modrm & 7;
	bool no_base = false;

	if (rm == 4) {
		enum hv_status st = memory_sib(p, &no_base);

		if (st)
			return st;
	} else if (mod == 0 && rm == 5) {
		no_base = true;
		m->rip_relative = p->out->mode == INSN_64;
	} else {
		m->base = modrm_rm(p);
	}
	set_segment(p, m->base == GPR_RSP || m->base == GPR_RBP ? SEG_SS : SEG_DS);
	if (mod == 0 && !no_base)
		return HV_OK;
	return take_disp(p, mod == 1 ? 1 : 4);
}

static enum hv_status operand_memory(struct insn_parse *p, struct insn_opnd *o, uint8_t size)
{
	o->kind = INSN_OPND_MEM;
	o->size = size;
	return p->out->addrsize == 2 ? memory_16(p) : memory_32_64(p);
}

static uint8_t memory_size(const struct insn_parse *p, uint8_t arg)
{
	const struct insn *in = p->out;

	switch (arg) {
	case INSN_ARG_EB:
		return 1;
	case INSN_ARG_EW:
	case INSN_ARG_EVW:
		return 2;
	case INSN_ARG_ED:
		return in->opsize == 2 ? 2 : 4;
	case INSN_ARG_M0:
		return 0;
	case INSN_ARG_MS:
		return in->mode == INSN_64 ? 10 : 6;
	case INSN_ARG_MP:
		return (uint8_t)(in->opsize + 2);
	case INSN_ARG_MQ:
		return p->rex & INSN_REX_W ? 16 : 8;
	case INSN_ARG_MDQ:
		return 16;
	default:
		return in->opsize;
	}
}

static enum hv_status operand_modrm(struct insn_parse *p, struct insn_opnd *o, uint8_t arg)
{
	uint8_t size = memory_size(p, arg);

	if (p->modrm >> 6 != 3)
		return operand_memory(p, o, size);
	if (arg == INSN_ARG_EVW)
		size = p->out->opsize;
	set_reg(p, o, modrm_rm(p), size);
	return HV_OK;
}

static enum hv_status operand_imm(struct insn_parse *p, struct insn_opnd *o, uint8_t arg)
{
	struct insn *in = p->out;
	unsigned size = in->opsize;
	enum hv_status st;
	uint64_t v;

	if (arg == INSN_ARG_IBS || arg == INSN_ARG_IBU)
		size = 1;
	else if (arg == INSN_ARG_IZ && size == 8)
		size = 4;
	st = insn_take(p, size, &v);
	if (st)
		return st;
	o->kind = INSN_OPND_IMM;
	o->size = arg == INSN_ARG_IBU ? 1 : in->opsize;
	in->imm = arg == INSN_ARG_IBU ? (int64_t)v : insn_sign_extend(v, size);
	return HV_OK;
}

static enum hv_status operand_moffs(struct insn_parse *p, struct insn_opnd *o)
{
	uint64_t v;
	enum hv_status st = insn_take(p, p->out->addrsize, &v);

	if (st)
		return st;
	o->kind = INSN_OPND_MEM;
	o->size = p->out->opsize;
	p->out->mem.disp = (int64_t)v;
	set_segment(p, SEG_DS);
	return HV_OK;
}

/* Control registers 0, 2, 3, 4 and 8 and debug registers 0 to 7 exist. */
static enum hv_status operand_cr_dr(struct insn_parse *p, struct insn_opnd *o, uint8_t arg)
{
	uint8_t reg = modrm_reg(p);
	unsigned valid = arg == INSN_ARG_CR ? 0x11d : 0xff;

	if (!(valid >> reg & 1))
		return HV_INVAL;
	o->kind = arg == INSN_ARG_CR ? INSN_OPND_CR : INSN_OPND_DR;
	o->size = p->out->opsize;
	o->reg = reg;
	return HV_OK;
}

enum hv_status insn_operand(struct insn_parse *p, unsigned n)
{
	struct insn_opnd *o = &p->out->opnd[n];
	uint8_t arg = p->entry.arg[n], opsize = p->out->opsize;

	switch (arg) {
	case INSN_ARG_NONE:
		return HV_OK;
	case INSN_ARG_ACC:
		set_reg(p, o, GPR_RAX, opsize);
		return HV_OK;
	case INSN_ARG_DX:
		set_reg(p, o, GPR_RDX, 2);
		return HV_OK;
	case INSN_ARG_Z:
		set_reg(p, o, (uint8_t)((p->opcode & 7) | (p->rex & INSN_REX_B ? 8 : 0)), opsize);
		return HV_OK;
	case INSN_ARG_G:
		set_reg(p, o, modrm_reg(p), opsize);
		return HV_OK;
	case INSN_ARG_RN:
		set_reg(p, o, modrm_rm(p), opsize);
		return HV_OK;
	case INSN_ARG_IZ:
	case INSN_ARG_IV:
	case INSN_ARG_IBS:
	case INSN_ARG_IBU:
		return operand_imm(p, o, arg);
	case INSN_ARG_MOFFS:
		return operand_moffs(p, o);
	case INSN_ARG_CR:
	case INSN_ARG_DR:
		return operand_cr_dr(p, o, arg);
	default:
		return operand_modrm(p, o, arg);
	}
}

void insn_string_operand(struct insn_parse *p)
{
	struct insn_mem *m = &p->out->mem;

	if (p->entry.flags & INSN_F_DI) {
		m->base = GPR_RDI;
		m->seg = SEG_ES;
	} else {
		m->base = GPR_RSI;
		set_segment(p, SEG_DS);
	}
}
