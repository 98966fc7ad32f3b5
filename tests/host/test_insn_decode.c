/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_insn_decode: the decoder against Zydis on a million pseudo-random
 * encodings, and tables for what Zydis cannot tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <Zydis/Zydis.h>

#include "hv/insn_decode.h"
#include "tests/host/random.h"

#define ORACLE_RUNS 1000000u

/* ---- what each of Zydis's mnemonics is to us ------------------------------------------------ */

static uint8_t op_of[ZYDIS_MNEMONIC_MAX_VALUE + 1];

#define Z(m, o) op_of[ZYDIS_MNEMONIC_##m] = INSN_##o
#define SAME(m) Z(m, m)
#define STR(m)	Z(m##B, m), Z(m##W, m), Z(m##D, m)
#define STRQ(m) STR(m), Z(m##Q, m)
#define CC(p, o)                                                                                   \
	Z(p##O, o), Z(p##NO, o), Z(p##B, o), Z(p##NB, o), Z(p##Z, o), Z(p##NZ, o), Z(p##BE, o),    \
		Z(p##NBE, o), Z(p##S, o), Z(p##NS, o), Z(p##P, o), Z(p##NP, o), Z(p##L, o),        \
		Z(p##NL, o), Z(p##LE, o), Z(p##NLE, o)

static int fill_ops(void **s)
{
	(void)s;
	SAME(ADD), SAME(OR), SAME(ADC), SAME(SBB), SAME(AND), SAME(SUB), SAME(XOR), SAME(CMP);
	SAME(TEST), SAME(INC), SAME(DEC), SAME(NEG), SAME(NOT), SAME(BT), SAME(BTS), SAME(BTR);
	SAME(BTC), SAME(XCHG), SAME(CMPXCHG), SAME(CMPXCHG8B), Z(CMPXCHG16B, CMPXCHG8B);
	SAME(XADD), SAME(MOV), Z(MOVNTI, MOV), SAME(MOVZX), SAME(MOVSX), Z(MOVSXD, MOVSX);
	SAME(MOVBE), SAME(PUSH), SAME(POP), SAME(CALL), SAME(JMP), CC(SET, SETCC), CC(CMOV, CMOVCC);
	STRQ(MOVS), STRQ(CMPS), STRQ(STOS), STRQ(LODS), STRQ(SCAS), STR(INS), STR(OUTS);
	SAME(IN), SAME(OUT), SAME(CPUID), SAME(HLT), SAME(RDMSR), SAME(WRMSR), SAME(RDTSC);
	SAME(RDTSCP), SAME(RDPMC), SAME(XSETBV), SAME(XGETBV), SAME(VMCALL), SAME(VMMCALL);
	Z(VMLAUNCH, VMX), Z(VMRESUME, VMX), Z(VMXOFF, VMX), Z(VMXON, VMX), Z(VMPTRLD, VMX);
	Z(VMPTRST, VMX), Z(VMCLEAR, VMX), Z(VMREAD, VMX), Z(VMWRITE, VMX), Z(VMFUNC, VMX);
	Z(INVEPT, VMX), Z(INVVPID, VMX), Z(VMRUN, SVM), Z(VMLOAD, SVM), Z(VMSAVE, SVM);
	Z(STGI, SVM), Z(CLGI, SVM), Z(SKINIT, SVM), Z(INVLPGA, SVM);
	SAME(CLTS), SAME(LMSW), SAME(SMSW), SAME(INVD), SAME(WBINVD);
	SAME(INVLPG), SAME(INVPCID), SAME(PAUSE), SAME(MONITOR), SAME(MWAIT), SAME(INT3), SAME(INT);
	SAME(INTO), SAME(INT1), Z(IRET, IRET), Z(IRETD, IRET), Z(IRETQ, IRET);
	SAME(SGDT), SAME(SIDT), SAME(LGDT), SAME(LIDT), SAME(SLDT), SAME(STR), SAME(LLDT);
	SAME(LTR), SAME(RSM), SAME(CLI), SAME(STI), Z(PUSHF, PUSHF), Z(PUSHFD, PUSHF);
	Z(PUSHFQ, PUSHF), Z(POPF, POPF), Z(POPFD, POPF), Z(POPFQ, POPF);
	SAME(NOP), Z(PREFETCH, NOP), Z(PREFETCHW, NOP), Z(PREFETCHWT1, NOP), Z(PREFETCHNTA, NOP);
	Z(PREFETCHT0, NOP), Z(PREFETCHT1, NOP), Z(PREFETCHT2, NOP), Z(CLDEMOTE, NOP);
	Z(ENDBR32, NOP), Z(ENDBR64, NOP), Z(RDSSPD, NOP), Z(RDSSPQ, NOP);
	return 0;
}

static unsigned expected_op(const ZydisDecodedInstruction *z)
{
	bool far = z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	if (z->mnemonic == ZYDIS_MNEMONIC_CALL)
		return far ? INSN_CALL_FAR : INSN_CALL;
	if (z->mnemonic == ZYDIS_MNEMONIC_JMP)
		return far ? INSN_JMP_FAR : INSN_JMP;
	if (z->mnemonic == ZYDIS_MNEMONIC_MOV && (z->opcode_map == ZYDIS_OPCODE_MAP_0F)) {
		if (z->opcode == 0x20 || z->opcode == 0x22)
			return INSN_MOV_CR;
		if (z->opcode == 0x21 || z->opcode == 0x23)
			return INSN_MOV_DR;
	}
	return op_of[z->mnemonic];
}

/* ---- encodings ------------------------------------------------------------------------------ */

static const uint8_t one_byte[] = {
	0x63, 0x68, 0x6a, 0x6c, 0x6d, 0x6e, 0x6f, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
	0x88, 0x89, 0x8a, 0x8b, 0x8f, 0x9c, 0x9d, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xc6, 0xc7, 0xcc, 0xcd, 0xce, 0xcf, 0xe4,
	0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xf6, 0xf7, 0xfa, 0xfb, 0xfe, 0xff,
};

static const uint8_t two_byte[] = {
	0x00, 0x01, 0x01, 0x01, 0x06, 0x08, 0x09, 0x0b, 0x0d, 0x18, 0x19, 0x1c, 0x1d, 0x1e, 0x1f,
	0x20, 0x21, 0x22, 0x23, 0x30, 0x31, 0x32, 0x33, 0x78, 0x79, 0xa2, 0xa3, 0xaa, 0xab, 0xb0,
	0xb1, 0xb3, 0xb6, 0xb7, 0xb9, 0xba, 0xba, 0xbb, 0xbe, 0xbf, 0xc0, 0xc1, 0xc3, 0xc7, 0xc7,
};

static const uint8_t prefixes[] = {0x66, 0x66, 0x67, 0x67, 0xf0, 0xf2, 0xf3, 0x26,
				   0x2e, 0x36, 0x3e, 0x64, 0x65, 0x40, 0x48, 0x4d};

static unsigned put_opcode(uint8_t *b)
{
	static const uint8_t three[] = {0x80, 0x81, 0x82, 0xf0, 0xf1};

	switch (below(8)) {
	case 0:
		b[0] = (uint8_t)(below(8) << 3 | below(6));
		return 1;
	case 1:
		b[0] = (uint8_t)((below(2) ? 0xb0 : below(2) ? 0x40 : 0x50) | below(16));
		return 1;
	case 2:
		b[0] = 0x0f;
		b[1] = (uint8_t)((below(2) ? 0x40 : 0x90) | below(16));
		return 2;
	case 3:
		b[0] = 0x0f;
		b[1] = 0x38;
		b[2] = three[below(ARRAY_SIZE(three))];
		return 3;
	case 4:
	case 5:
		b[0] = 0x0f;
		b[1] = two_byte[below(ARRAY_SIZE(two_byte))];
		return 2;
	default:
		b[0] = below(20) ? one_byte[below(ARRAY_SIZE(one_byte))]
				 : (uint8_t)(0x90 | below(8));
		return 1;
	}
}

/* Fills @b, which has 32 bytes. */
static void make_encoding(uint8_t *b, enum insn_mode mode)
{
	unsigned n = 0, count;

	for (unsigned i = 0; i < 32; i += 8) {
		uint64_t v = rnd();

		memcpy(b + i, &v, 8);
	}
	if (below(5) == 0)
		return;
	count = below(3) ? below(3) : below(9);
	while (n < count)
		b[n++] = prefixes[below(mode == INSN_64 ? 16 : 13)];
	if (mode == INSN_64 && below(2))
		b[n++] = (uint8_t)(0x40 | below(16));
	n += put_opcode(b + n);
	if (below(4) == 0)
		b[n] |= 0xc0;
	if (below(4) == 0)
		b[n + 1] = (uint8_t)(b[n + 1] & ~7u) | 5;
}

/* ---- comparison ----------------------------------------------------------------------------- */

struct sample {
	const uint8_t *bytes;
	enum insn_mode mode;
	const struct insn *in;
	const ZydisDecodedInstruction *z;
	const ZydisDecodedOperand *ops;
};

static void report(const struct sample *s, const char *what)
{
	fprintf(stderr, "%s: mode %d bytes", what, s->mode);
	for (unsigned i = 0; i < 16; i++)
		fprintf(stderr, " %02x", s->bytes[i]);
	fprintf(stderr, " zydis %s length %u ours op %u length %u\n",
		s->z ? ZydisMnemonicGetString(s->z->mnemonic) : "none", s->z ? s->z->length : 0,
		s->in ? s->in->op : 0, s->in ? s->in->len : 0);
}

/* Zydis's general register @r as our number, INSN_NO_REG when it is none. */
static unsigned gpr_number(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_NONE ? INSN_NO_REG : (unsigned)ZydisRegisterGetId(r);
}

/*
 * Zydis 4.0 takes SIB.base 5 with ModRM.mod 0 and REX.B for R13 without a
 * displacement.  SDM 2A table 2-5: REX.B is not decoded there, the base is
 * none; test_insn_exec.c asks the CPU.
 */
static bool zydis_misses_disp(const struct sample *s, const ZydisDecodedOperand *o)
{
	return s->z->raw.modrm.mod == 0 && s->z->raw.modrm.rm == 4 && s->z->raw.sib.base == 5 &&
	       s->z->raw.rex.B && gpr_number(o->mem.base) == GPR_R13 &&
	       s->in->mem.base == INSN_NO_REG;
}

static bool same_mem(const struct sample *s, const ZydisDecodedOperand *o)
{
	static const ZydisRegister segs[] = {ZYDIS_REGISTER_ES, ZYDIS_REGISTER_CS,
					     ZYDIS_REGISTER_SS, ZYDIS_REGISTER_DS,
					     ZYDIS_REGISTER_FS, ZYDIS_REGISTER_GS};
	const struct insn_mem *m = &s->in->mem;
	bool rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;
	uint64_t diff = (uint64_t)m->disp ^ (uint64_t)o->mem.disp.value;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	/* 3E before an indirect branch is NOTRACK to Zydis and the DS override to us. */
	if (segs[m->seg] != o->mem.segment && !(s->z->attributes & ZYDIS_ATTRIB_HAS_NOTRACK))
		return false;
	if (m->index != gpr_number(o->mem.index))
		return false;
	if (m->index != INSN_NO_REG && m->scale != o->mem.scale)
		return false;
	if (zydis_misses_disp(s, o))
		return true;
	if (rip != m->rip_relative || m->base != (rip ? INSN_NO_REG : gpr_number(o->mem.base)))
		return false;
	return !(diff & mask_bytes(s->in->addrsize));
}

static bool same_reg(const struct insn_opnd *a, const ZydisDecodedOperand *o)
{
	ZydisRegister r = o->reg.value;
	bool high = r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
	unsigned id;

	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || a->high != high)
		return false;
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
		id = r < ZYDIS_REGISTER_AH ? (unsigned)(r - ZYDIS_REGISTER_AL)
		     : high		   ? (unsigned)(r - ZYDIS_REGISTER_AH)
					   : (unsigned)(r - ZYDIS_REGISTER_SPL) + 4;
		break;
	case ZYDIS_REGCLASS_CONTROL:
	case ZYDIS_REGCLASS_DEBUG:
		return a->kind == (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_CONTROL
					   ? INSN_OPND_CR
					   : INSN_OPND_DR) &&
		       a->reg == (unsigned)ZydisRegisterGetId(r);
	default:
		id = gpr_number(r);
	}
	return a->kind == INSN_OPND_REG && a->reg == id && a->size * 8 == o->size;
}

/*
 * Zydis gives INVLPG a size, and MOVSXD with a two-byte destination a source of
 * four bytes where the SDM and a Xeon have two.
 */
static bool size_may_differ(const struct sample *s)
{
	return s->in->op == INSN_INVLPG ||
	       (s->z->mnemonic == ZYDIS_MNEMONIC_MOVSXD && s->in->opsize == 2);
}

static bool same_operand(const struct sample *s, unsigned n)
{
	const struct insn_opnd *a = &s->in->opnd[n];
	const ZydisDecodedOperand *o = &s->ops[n];
	uint64_t mask;

	if (n >= s->z->operand_count || o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return a->kind == INSN_OPND_NONE;
	switch (a->kind) {
	case INSN_OPND_REG:
	case INSN_OPND_CR:
	case INSN_OPND_DR:
		return same_reg(a, o);
	case INSN_OPND_MEM:
		if (a->size * 8 != o->size && !size_may_differ(s))
			return false;
		return same_mem(s, o);
	case INSN_OPND_IMM:
		mask = mask_bytes(a->size);
		return o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		       !(((uint64_t)s->in->imm ^ o->imm.value.u) & mask);
	default:
		return false;
	}
}

static bool is_string(unsigned op)
{
	return op >= INSN_MOVS && op <= INSN_OUTS;
}

/* The memory operand that struct insn's mem describes. */
static bool same_string(const struct sample *s)
{
	bool src = s->in->op == INSN_MOVS || s->in->op == INSN_CMPS || s->in->op == INSN_LODS ||
		   s->in->op == INSN_OUTS;
	bool repne = s->z->attributes & ZYDIS_ATTRIB_HAS_REPNE;
	bool rep = s->z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE);

	if (insn_repeats(s->in) != (rep || repne))
		return false;
	for (unsigned i = 0; i < s->z->operand_count; i++) {
		const ZydisDecodedOperand *o = &s->ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    gpr_number(o->mem.base) == (src ? GPR_RSI : GPR_RDI))
			return s->in->opsize * 8 == o->size && same_mem(s, o);
	}
	return false;
}

static bool same_insn(const struct sample *s)
{
	const struct insn *in = s->in;

	if (in->len != s->z->length || in->op != expected_op(s->z))
		return false;
	if (in->lock != !!(s->z->attributes & ZYDIS_ATTRIB_HAS_LOCK))
		return false;
	if (in->addrsize * 8 != s->z->address_width)
		return false;
	if (is_string(in->op))
		return same_string(s);
	/* They raise #UD in the guest, or do nothing, whatever their operands are. */
	if (in->op == INSN_VMX || in->op == INSN_SVM || in->op == INSN_NOP)
		return true;
	return same_operand(s, 0) && same_operand(s, 1);
}

/* UD0, UD1 and UD2 are instructions to Zydis, whose purpose is to raise #UD. */
static bool is_ud(const struct sample *s)
{
	return s->z->mnemonic == ZYDIS_MNEMONIC_UD0 || s->z->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       s->z->mnemonic == ZYDIS_MNEMONIC_UD2;
}

/*
 * Forms of claimed mnemonics that are not ours: segment registers as operands,
 * branches with the target in the instruction, NOPs that are MPX, and the SSE
 * instructions that share the names MOVSD and CMPSD.
 */
static bool is_refused_form(const struct sample *s)
{
	static const uint8_t one[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f,
				      0x8c, 0x8e, 0x9a, 0xe8, 0xe9, 0xea, 0xeb};
	static const uint8_t two[] = {0x10, 0x11, 0xc2, 0x1a, 0x1b, 0xa0, 0xa1, 0xa8, 0xa9};

	if (s->z->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return memchr(two, s->z->opcode, sizeof(two));
	return s->z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       memchr(one, s->z->opcode, sizeof(one));
}

static uint64_t counts[4];
static uint64_t per_op[INSN_OP_COUNT];
static unsigned failures;

static void check_sample(const ZydisDecoder *dec, struct sample *s)
{
	static ZydisDecodedInstruction z;
	static ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	static struct insn in; /* all static: @s keeps pointers to them */
	enum hv_status st = insn_decode(s->bytes, 15, s->mode, &in);
	bool valid = ZYAN_SUCCESS(ZydisDecoderDecodeFull(dec, s->bytes, 15, &z, ops));
	const char *bad = NULL;

	s->in = st ? NULL : &in;
	s->z = valid ? &z : NULL;
	s->ops = ops;
	if (st == HV_OK) {
		counts[0]++;
		per_op[in.op]++;
		if (!valid)
			bad = "we accept, Zydis refuses";
		else if (!same_insn(s))
			bad = "differs";
	} else if (st == HV_INVAL) {
		counts[1]++;
		if (valid && !is_ud(s))
			bad = "we say #UD, Zydis accepts";
	} else if (st == HV_NOTSUP) {
		counts[2]++;
		if (valid && expected_op(&z) && !is_refused_form(s))
			bad = "we refuse a claimed one";
	} else {
		bad = "unexpected status";
	}
	if (bad && failures++ < 40)
		report(s, bad);
}

static void agrees_with_zydis(void **state)
{
	static const ZydisMachineMode modes[] = {ZYDIS_MACHINE_MODE_LEGACY_16,
						 ZYDIS_MACHINE_MODE_LEGACY_32,
						 ZYDIS_MACHINE_MODE_LONG_64};
	static const ZydisStackWidth widths[] = {ZYDIS_STACK_WIDTH_16, ZYDIS_STACK_WIDTH_32,
						 ZYDIS_STACK_WIDTH_64};
	ZydisDecoder dec[3];
	uint8_t bytes[32];

	(void)state;
	for (unsigned m = 0; m < 3; m++)
		assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&dec[m], modes[m], widths[m])));
	for (unsigned i = 0; i < ORACLE_RUNS; i++) {
		struct sample s = {.bytes = bytes, .mode = below(4) ? below(3) : INSN_64};

		make_encoding(bytes, s.mode);
		check_sample(&dec[s.mode], &s);
	}
	print_message("oracle: %u runs, %lu decoded, %lu #UD, %lu not ours, %u disagree\n",
		      ORACLE_RUNS, counts[0], counts[1], counts[2], failures);
	assert_int_equal(failures, 0);
	for (unsigned op = INSN_ADD; op < INSN_OP_COUNT; op++)
		if (per_op[op] < 20)
			fail_msg("op %u occurs %lu times", op, per_op[op]);
}

/* A prefix of a good encoding asks for more, and never reads past what it was given. */
static void asks_for_more_bytes(void **state)
{
	uint8_t bytes[32];
	struct insn in, cut;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		enum insn_mode mode = below(3);
		unsigned len;
		uint8_t *exact;

		make_encoding(bytes, mode);
		if (insn_decode(bytes, sizeof(bytes), mode, &in))
			continue;
		len = below(in.len);
		exact = malloc(len + 1U);
		memcpy(exact + 1, bytes, len);
		assert_int_equal(insn_decode(exact + 1, len, mode, &cut), HV_RETRY);
		free(exact);
		assert_int_equal(insn_decode(bytes, in.len, mode, &cut), HV_OK);
		assert_memory_equal(&in, &cut, sizeof(in));
	}
}

struct status_case {
	enum insn_mode mode;
	enum hv_status status;
	const char *bytes;
	uint8_t len;
};

#define CASE(m, st, b)                                                                             \
	{                                                                                          \
		m, st, b, sizeof(b) - 1                                                            \
	}

static void status_table(void **state)
{
	static const struct status_case t[] = {
		CASE(INSN_64, HV_RETRY, ""),
		CASE(INSN_64, HV_RETRY, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66"),
		CASE(INSN_64, HV_INVAL,
		     "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"),
		CASE(INSN_64, HV_OK,
		     "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"),
		CASE(INSN_64, HV_INVAL, "\xf0\x89\x07"), /* lock mov [rdi], eax */
		CASE(INSN_64, HV_INVAL, "\xf0\x03\x07"), /* lock add eax, [rdi] */
		CASE(INSN_64, HV_INVAL, "\xf0\x01\xc7"), /* lock add edi, eax */
		CASE(INSN_64, HV_INVAL, "\xf0\x39\x07"), /* lock cmp [rdi], eax */
		CASE(INSN_64, HV_OK, "\xf0\x01\x07"),	 /* lock add [rdi], eax */
		CASE(INSN_64, HV_INVAL, "\x82\xc0\x01"), /* add al, 1 in its old form */
		CASE(INSN_32, HV_OK, "\x82\xc0\x01"),
		CASE(INSN_64, HV_INVAL, "\x0f\x0b"),	     /* ud2 */
		CASE(INSN_64, HV_INVAL, "\x0f\x20\xc8"),     /* mov rax, cr1 */
		CASE(INSN_64, HV_INVAL, "\x44\x0f\x21\xc0"), /* mov rax, dr8 */
		CASE(INSN_64, HV_OK, "\x44\x0f\x20\xc0"),    /* mov rax, cr8 */
		CASE(INSN_64, HV_NOTSUP, "\x0f\x10\x07"),    /* movups xmm0, [rdi] */
		CASE(INSN_64, HV_NOTSUP, "\xc5\xf8\x10\x07"),
		CASE(INSN_64, HV_NOTSUP, "\x62\xf1\x7c\x48\x10\x07"),
		CASE(INSN_32, HV_NOTSUP, "\x63\xc0"), /* arpl ax, ax */
		CASE(INSN_64, HV_NOTSUP, "\xf7\xe1"), /* mul ecx */
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		struct insn in;
		enum hv_status st =
			insn_decode((const uint8_t *)t[i].bytes, t[i].len, t[i].mode, &in);

		if (st != t[i].status)
			fail_msg("case %u: %s", i, hv_status_name(st));
		if (st == HV_OK)
			assert_int_equal(in.len, t[i].len);
	}
}

static void fills_every_field(void **state)
{
	/* lock xadd fs:[r13+r12*8-8], r10w, with an address size of four bytes */
	static const uint8_t b[] = {0x64, 0x66, 0x67, 0xf0, 0x47, 0x0f, 0xc1, 0x54, 0xe5, 0xf8};
	/* rep movsb with SS override, 16-bit addresses */
	static const uint8_t str[] = {0xf2, 0xf3, 0x36, 0x67, 0xa4};
	struct insn in;

	(void)state;
	assert_int_equal(insn_decode(b, sizeof(b), INSN_64, &in), HV_OK);
	assert_int_equal(in.op, INSN_XADD);
	assert_int_equal(in.len, sizeof(b));
	assert_int_equal(in.opsize, 2);
	assert_int_equal(in.addrsize, 4);
	assert_true(in.lock && !insn_repeats(&in));
	assert_int_equal(in.opnd[0].kind, INSN_OPND_MEM);
	assert_int_equal(in.opnd[1].kind, INSN_OPND_REG);
	assert_int_equal(in.opnd[1].reg, GPR_R10);
	assert_int_equal(in.mem.seg, SEG_FS);
	assert_int_equal(in.mem.base, GPR_R13);
	assert_int_equal(in.mem.index, GPR_R12);
	assert_int_equal(in.mem.scale, 8);
	assert_int_equal(in.mem.disp, -8);

	assert_int_equal(insn_decode(str, sizeof(str), INSN_32, &in), HV_OK);
	assert_int_equal(in.op, INSN_MOVS);
	assert_true(in.rep && !in.repne);
	assert_int_equal(in.addrsize, 2);
	assert_int_equal(in.mem.seg, SEG_SS);
	assert_int_equal(in.mem.base, GPR_RSI);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(agrees_with_zydis),
		cmocka_unit_test(asks_for_more_bytes),
		cmocka_unit_test(status_table),
		cmocka_unit_test(fills_every_field),
	};
	return cmocka_run_group_tests_name("insn_decode", t, fill_ops, NULL);
}
