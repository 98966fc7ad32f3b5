/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_decode: prefixes, opcode maps, sizes and what makes an encoding #UD.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested against Zydis by tests/host/test_insn_decode.c).
 * Spec: SDM 2A 2.1, 2.2.1 and 2D appendix A.
 */
#include "hv/insn_decode.h"

#include "hv/insn_operand.h"
#include "hv/insn_table.h"

static void segment_prefix(struct insn_parse *p, uint8_t seg)
{
	if (p->out->mode != INSN_64 || seg == SEG_FS || seg == SEG_GS)
		p->seg = seg;
}

/* Whether @byte is a legacy prefix; notes what it says. */
static bool legacy_prefix(struct insn_parse *p, uint8_t byte)
{
	struct insn *in = p->out;

	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		segment_prefix(p, byte >> 3 & 3);
		return true;
	case 0x64:
		segment_prefix(p, SEG_FS);
		return true;
	case 0x65:
		segment_prefix(p, SEG_GS);
		return true;
	case 0x66:
		p->opsize_prefix = true;
		return true;
	case 0x67:
		in->addrsize = in->mode == INSN_32 ? 2 : 4;
		return true;
	case 0xf0:
		in->lock = true;
		return true;
	case 0xf2:
	case 0xf3:
		p->repeat = byte;
		return true;
	default:
		return false;
	}
}

/* Reads prefixes and the first opcode byte.  A REX that is not the last prefix is ignored. */
static enum hv_status take_prefixes(struct insn_parse *p)
{
	enum hv_status st;
	uint64_t v;

	for (;;) {
		st = insn_take(p, 1, &v);
		if (st)
			return st;
		if (legacy_prefix(p, (uint8_t)v)) {
			p->rex = 0;
		} else if (p->out->mode == INSN_64 && (v & 0xf0) == 0x40) {
			p->rex = (uint8_t)v;
		} else {
			p->opcode = (uint8_t)v;
			return HV_OK;
		}
	}
}

/* The prefix that selects among the instructions of one opcode, or 0. */
static uint8_t simd_prefix(const struct insn_parse *p)
{
	if (p->repeat)
		return p->repeat;
	return p->opsize_prefix ? 0x66 : 0;
}

/* Replaces a group's entry by the member that ModRM selects. */
static enum hv_status resolve_group(struct insn_parse *p)
{
	struct insn_entry outer = p->entry;
	enum hv_status st = insn_take_modrm(p);

	if (st)
		return st;
	p->entry = insn_groups[outer.op][p->modrm >> 3 & 7];
	if (p->modrm >> 6 == 3) {
		if (outer.op == INSN_GRP_GDT)
			p->entry = insn_map_0f01_reg[p->modrm & 0x3f];
		else if (p->entry.op == INSN_VMX)
			p->entry.op = INSN_NONE; /* RDRAND, RDSEED, RDPID */
	}
	if (!p->entry.arg[0]) {
		p->entry.arg[0] = outer.arg[0];
		p->entry.arg[1] = outer.arg[1];
	}
	p->entry.flags |= outer.flags & ~INSN_F_GROUP;
	return HV_OK;
}

/* 90 exchanges rAX with itself, which is NOP, unless a prefix says otherwise. */
static void resolve_nop(struct insn_parse *p)
{
	if (p->repeat == 0xf3)
		p->entry = (struct insn_entry){.op = INSN_PAUSE};
	else if (!(p->rex & INSN_REX_B))
		p->entry = (struct insn_entry){.op = INSN_NOP};
}

static enum hv_status take_opcode(struct insn_parse *p)
{
	const struct insn_entry *e;
	enum hv_status st;
	uint64_t v;

	p->entry = insn_map_1byte[p->opcode];
	if (p->opcode == 0x0f) {
		st = insn_take(p, 1, &v);
		if (st)
			return st;
		p->opcode = (uint8_t)v;
		p->entry = insn_map_0f[p->opcode];
		if (p->opcode == 0x38) {
			st = insn_take(p, 1, &v);
			if (st)
				return st;
			p->opcode = (uint8_t)v;
			e = insn_map_0f38(p->opcode, simd_prefix(p));
			if (e)
				p->entry = *e;
		}
	} else if (p->opcode == 0x90) {
		resolve_nop(p);
	}
	return p->entry.flags & INSN_F_GROUP ? resolve_group(p) : HV_OK;
}

/* Whether the entry stands in this mode and with these prefixes. */
static enum hv_status check_entry(const struct insn_parse *p)
{
	uint32_t f = p->entry.flags;
	bool long_mode = p->out->mode == INSN_64;

	if (f & INSN_F_UD || (f & INSN_F_NO64 && long_mode))
		return HV_INVAL;
	if (p->entry.op == INSN_NONE || (f & INSN_F_ONLY64 && !long_mode))
		return HV_NOTSUP;
	/* VMREAD and VMWRITE share their opcodes with EXTRQ and INSERTQ. */
	if (f & INSN_F_NP && simd_prefix(p))
		return p->opcode == 0x78 || p->opcode == 0x79 ? HV_NOTSUP : HV_INVAL;
	if (f & INSN_F_NOF2 && p->repeat == 0xf2)
		return HV_INVAL;
	return HV_OK;
}

static uint8_t operand_size(const struct insn_parse *p)
{
	uint32_t f = p->entry.flags;

	if (f & INSN_F_BYTE)
		return 1;
	if (p->out->mode == INSN_64) {
		if (f & (INSN_F_F64 | INSN_F_NAT))
			return 8;
		if (p->rex & INSN_REX_W)
			return f & INSN_F_IO ? 4 : 8;
		if (p->opsize_prefix && !(f & INSN_F_D32))
			return 2;
		return f & INSN_F_D64 ? 8 : 4;
	}
	if (f & (INSN_F_NAT | INSN_F_D32))
		return 4;
	return (p->out->mode == INSN_32) != p->opsize_prefix ? 4 : 2;
}

static enum hv_status take_operands(struct insn_parse *p)
{
	struct insn *in = p->out;
	enum hv_status st;

	if (p->entry.arg[0] >= INSN_ARG_G || p->entry.arg[1] >= INSN_ARG_G) {
		st = insn_take_modrm(p);
		if (st)
			return st;
		if (p->entry.flags & INSN_F_MEM && p->modrm >> 6 == 3)
			return HV_INVAL;
	}
	for (unsigned n = 0; n < 2; n++) {
		st = insn_operand(p, n);
		if (st)
			return st;
	}
	if (in->lock && !(p->entry.flags & INSN_F_LOCK && in->opnd[0].kind == INSN_OPND_MEM))
		return HV_INVAL;
	return HV_OK;
}

enum hv_status insn_decode(const uint8_t *bytes, size_t len, enum insn_mode mode, struct insn *out)
{
	struct insn_parse p = {.bytes = bytes, .len = len, .out = out, .seg = INSN_NO_SEG};
	enum hv_status st;

	*out = (struct insn){
		.mode = (uint8_t)mode,
		.addrsize = (uint8_t)(2U << mode),
		.mem = {.seg = SEG_DS, .base = INSN_NO_REG, .index = INSN_NO_REG, .scale = 1},
	};
	st = take_prefixes(&p);
	if (!st)
		st = take_opcode(&p);
	if (!st)
		st = check_entry(&p);
	if (st)
		return st;
	out->op = p.entry.op;
	out->opsize = operand_size(&p);
	st = take_operands(&p);
	if (st)
		return st;
	if (p.entry.flags & INSN_F_CC)
		out->cc = p.opcode & 0xf;
	if (p.entry.flags & INSN_F_STR) {
		insn_string_operand(&p);
		out->rep = p.repeat == 0xf3;
		out->repne = p.repeat == 0xf2;
	}
	out->len = (uint8_t)p.pos;
	return HV_OK;
}
