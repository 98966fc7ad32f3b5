/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_table: the opcode maps.  An opcode that is not listed is not ours.
 *
 * Called from: the decoder.  Locks: none.
 * Purity: pure (host-tested by tests/host/test_insn_decode.c).
 * Spec: SDM 2D appendix A tables; APM 3 appendix A.
 */
#include "hv/insn_table.h"

#include "hv/insn_decode.h"

/* clang-format off */
#define E(o, a, b, f)	{ INSN_##o, { INSN_ARG_##a, INSN_ARG_##b }, (f) }
#define OP(o, f)	{ INSN_##o, { INSN_ARG_NONE, INSN_ARG_NONE }, (f) }
#define GRP(g, a, b, f)	{ INSN_GRP_##g, { INSN_ARG_##a, INSN_ARG_##b }, INSN_F_GROUP | (f) }
#define UD		{ INSN_NONE, { INSN_ARG_NONE, INSN_ARG_NONE }, INSN_F_UD }
#define NO64		{ INSN_NONE, { INSN_ARG_NONE, INSN_ARG_NONE }, INSN_F_NO64 }

#define B	INSN_F_BYTE
#define LK	INSN_F_LOCK
#define MEM	INSN_F_MEM
#define D64	INSN_F_D64
#define STR	INSN_F_STR
#define STRDI	(INSN_F_STR | INSN_F_DI)
#define NP	INSN_F_NP

/* The six forms that start at opcode @c. */
#define ALU(c, o, lk) \
	[(c) + 0] = E(o, E, G, B | (lk)), [(c) + 1] = E(o, E, G, lk), \
	[(c) + 2] = E(o, G, E, B),	  [(c) + 3] = E(o, G, E, 0), \
	[(c) + 4] = E(o, ACC, IZ, B),	  [(c) + 5] = E(o, ACC, IZ, 0)

#define X4(c, ...)  [(c)] = __VA_ARGS__, [(c) + 1] = __VA_ARGS__, \
		    [(c) + 2] = __VA_ARGS__, [(c) + 3] = __VA_ARGS__
#define X8(c, ...)  X4(c, __VA_ARGS__), X4((c) + 4, __VA_ARGS__)
#define X16(c, ...) X8(c, __VA_ARGS__), X8((c) + 8, __VA_ARGS__)

const struct insn_entry insn_map_1byte[256] = {
	ALU(0x00, ADD, LK), ALU(0x08, OR, LK), ALU(0x10, ADC, LK), ALU(0x18, SBB, LK),
	ALU(0x20, AND, LK), ALU(0x28, SUB, LK), ALU(0x30, XOR, LK), ALU(0x38, CMP, 0),
	[0x06] = NO64, [0x07] = NO64, [0x0e] = NO64, [0x16] = NO64, [0x17] = NO64,
	[0x1e] = NO64, [0x1f] = NO64, [0x27] = NO64, [0x2f] = NO64, [0x37] = NO64, [0x3f] = NO64,
	X8(0x40, E(INC, Z, NONE, 0)),
	X8(0x48, E(DEC, Z, NONE, 0)),
	X8(0x50, E(PUSH, Z, NONE, D64)),
	X8(0x58, E(POP, Z, NONE, D64)),
	[0x60] = NO64, [0x61] = NO64,
	[0x63] = E(MOVSX, G, ED, INSN_F_ONLY64),
	[0x68] = E(PUSH, IZ, NONE, D64),
	[0x6a] = E(PUSH, IBS, NONE, D64),
	[0x6c] = OP(INS, B | STRDI), [0x6d] = OP(INS, INSN_F_IO | STRDI),
	[0x6e] = OP(OUTS, B | STR), [0x6f] = OP(OUTS, INSN_F_IO | STR),
	[0x80] = GRP(ALU, E, IZ, B), [0x81] = GRP(ALU, E, IZ, 0),
	[0x82] = GRP(ALU, E, IZ, B | INSN_F_NO64), [0x83] = GRP(ALU, E, IBS, 0),
	[0x84] = E(TEST, E, G, B), [0x85] = E(TEST, E, G, 0),
	[0x86] = E(XCHG, E, G, B | LK), [0x87] = E(XCHG, E, G, LK),
	[0x88] = E(MOV, E, G, B), [0x89] = E(MOV, E, G, 0),
	[0x8a] = E(MOV, G, E, B), [0x8b] = E(MOV, G, E, 0),
	[0x8f] = GRP(POP, NONE, NONE, 0),
	X8(0x90, E(XCHG, Z, ACC, 0)),
	[0x9a] = NO64,
	[0x9c] = OP(PUSHF, D64), [0x9d] = OP(POPF, D64),
	[0xa0] = E(MOV, ACC, MOFFS, B), [0xa1] = E(MOV, ACC, MOFFS, 0),
	[0xa2] = E(MOV, MOFFS, ACC, B), [0xa3] = E(MOV, MOFFS, ACC, 0),
	[0xa4] = OP(MOVS, B | STR), [0xa5] = OP(MOVS, STR),
	[0xa6] = OP(CMPS, B | STR), [0xa7] = OP(CMPS, STR),
	[0xa8] = E(TEST, ACC, IZ, B), [0xa9] = E(TEST, ACC, IZ, 0),
	[0xaa] = OP(STOS, B | STRDI), [0xab] = OP(STOS, STRDI),
	[0xac] = OP(LODS, B | STR), [0xad] = OP(LODS, STR),
	[0xae] = OP(SCAS, B | STRDI), [0xaf] = OP(SCAS, STRDI),
	X8(0xb0, E(MOV, Z, IV, B)),
	X8(0xb8, E(MOV, Z, IV, 0)),
	[0xc6] = GRP(MOV, E, IZ, B), [0xc7] = GRP(MOV, E, IZ, 0),
	[0xcc] = OP(INT3, 0), [0xcd] = E(INT, IBU, NONE, 0), [0xce] = OP(INTO, INSN_F_NO64),
	[0xcf] = OP(IRET, 0),
	[0xd4] = NO64, [0xd5] = NO64, [0xd6] = NO64,
	[0xe4] = E(IN, ACC, IBU, B), [0xe5] = E(IN, ACC, IBU, INSN_F_IO),
	[0xe6] = E(OUT, IBU, ACC, B), [0xe7] = E(OUT, IBU, ACC, INSN_F_IO),
	[0xea] = NO64,
	[0xec] = E(IN, ACC, DX, B), [0xed] = E(IN, ACC, DX, INSN_F_IO),
	[0xee] = E(OUT, DX, ACC, B), [0xef] = E(OUT, DX, ACC, INSN_F_IO),
	[0xf1] = OP(INT1, 0),
	[0xf4] = OP(HLT, 0),
	[0xf6] = GRP(UNARY, E, NONE, B), [0xf7] = GRP(UNARY, E, NONE, 0),
	[0xfa] = OP(CLI, 0), [0xfb] = OP(STI, 0),
	[0xfe] = GRP(INC_B, E, NONE, B), [0xff] = GRP(INC, E, NONE, 0),
};

const struct insn_entry insn_map_0f[256] = {
	[0x00] = GRP(LDT, NONE, NONE, 0),
	[0x01] = GRP(GDT, NONE, NONE, 0),
	[0x06] = OP(CLTS, 0), [0x08] = OP(INVD, 0), [0x09] = OP(WBINVD, 0),
	[0x0b] = UD,
	[0x0d] = E(NOP, E, NONE, 0),
	[0x18] = E(NOP, E, NONE, 0), [0x19] = E(NOP, E, NONE, 0),
	[0x1c] = E(NOP, E, NONE, 0), [0x1d] = E(NOP, E, NONE, 0),
	[0x1e] = E(NOP, E, NONE, 0), [0x1f] = E(NOP, E, NONE, 0),
	[0x20] = E(MOV_CR, RN, CR, INSN_F_NAT), [0x21] = E(MOV_DR, RN, DR, INSN_F_NAT),
	[0x22] = E(MOV_CR, CR, RN, INSN_F_NAT), [0x23] = E(MOV_DR, DR, RN, INSN_F_NAT),
	[0x30] = OP(WRMSR, 0), [0x31] = OP(RDTSC, 0), [0x32] = OP(RDMSR, 0), [0x33] = OP(RDPMC, 0),
	X16(0x40, E(CMOVCC, G, E, INSN_F_CC)),
	[0x78] = E(VMX, E, G, INSN_F_NAT | NP), [0x79] = E(VMX, G, E, INSN_F_NAT | NP),
	X16(0x90, E(SETCC, EB, NONE, B | INSN_F_CC)),
	[0xa2] = OP(CPUID, 0),
	[0xa3] = E(BT, E, G, 0),
	[0xaa] = OP(RSM, 0),
	[0xab] = E(BTS, E, G, LK),
	[0xb0] = E(CMPXCHG, E, G, B | LK), [0xb1] = E(CMPXCHG, E, G, LK),
	[0xb3] = E(BTR, E, G, LK),
	[0xb6] = E(MOVZX, G, EB, 0), [0xb7] = E(MOVZX, G, EW, 0),
	[0xb9] = UD,
	[0xba] = GRP(BIT, E, IBU, 0),
	[0xbb] = E(BTC, E, G, LK),
	[0xbe] = E(MOVSX, G, EB, 0), [0xbf] = E(MOVSX, G, EW, 0),
	[0xc0] = E(XADD, E, G, B | LK), [0xc1] = E(XADD, E, G, LK),
	[0xc3] = E(MOV, E, G, MEM | NP | INSN_F_D32),
	[0xc7] = GRP(CMPX, NONE, NONE, 0),
	[0xff] = UD,
};

const struct insn_entry insn_groups[INSN_GRP_COUNT][8] = {
	[INSN_GRP_ALU] = {
		OP(ADD, LK), OP(OR, LK), OP(ADC, LK), OP(SBB, LK),
		OP(AND, LK), OP(SUB, LK), OP(XOR, LK), OP(CMP, 0),
	},
	[INSN_GRP_POP] = { E(POP, E, NONE, D64) }, /* the others are XOP */
	[INSN_GRP_MOV] = { OP(MOV, 0), UD, UD, UD, UD, UD, UD }, /* 7 is XABORT, XBEGIN */
	[INSN_GRP_UNARY] = {
		E(TEST, E, IZ, 0), E(TEST, E, IZ, 0), OP(NOT, LK), OP(NEG, LK),
	},
	[INSN_GRP_INC_B] = { OP(INC, LK), OP(DEC, LK), UD, UD, UD, UD, UD, UD },
	[INSN_GRP_INC] = {
		OP(INC, LK), OP(DEC, LK), OP(CALL, INSN_F_F64), E(CALL_FAR, MP, NONE, MEM),
		OP(JMP, INSN_F_F64), E(JMP_FAR, MP, NONE, MEM), OP(PUSH, D64), UD,
	},
	[INSN_GRP_LDT] = {
		E(SLDT, EVW, NONE, 0), E(STR, EVW, NONE, 0), E(LLDT, EW, NONE, 0), E(LTR, EW, NONE, 0),
	},
	[INSN_GRP_GDT] = {
		E(SGDT, MS, NONE, 0), E(SIDT, MS, NONE, 0), E(LGDT, MS, NONE, 0), E(LIDT, MS, NONE, 0),
		E(SMSW, EVW, NONE, 0), OP(NONE, 0), E(LMSW, EW, NONE, 0), E(INVLPG, M0, NONE, 0),
	},
	[INSN_GRP_BIT] = {
		UD, UD, UD, UD, OP(BT, 0), OP(BTS, LK), OP(BTR, LK), OP(BTC, LK),
	},
	[INSN_GRP_CMPX] = {
		UD, E(CMPXCHG8B, MQ, NONE, MEM | LK), UD, OP(NONE, 0),
		OP(NONE, 0), OP(NONE, 0), E(VMX, M0, NONE, INSN_F_NOF2), E(VMX, M0, NONE, NP),
	},
};

const struct insn_entry insn_map_0f01_reg[64] = {
	[0x01] = OP(VMCALL, NP), [0x02] = OP(VMX, NP), [0x03] = OP(VMX, NP), [0x04] = OP(VMX, NP),
	[0x08] = OP(MONITOR, NP), [0x09] = OP(MWAIT, NP),
	[0x10] = OP(XGETBV, NP), [0x11] = OP(XSETBV, NP), [0x14] = OP(VMX, NP),
	[0x18] = OP(SVM, 0), [0x19] = OP(VMMCALL, 0), X4(0x1a, OP(SVM, 0)),
	[0x1e] = OP(SVM, 0), [0x1f] = OP(SVM, 0),
	X8(0x20, E(SMSW, EVW, NONE, 0)),
	X8(0x30, E(LMSW, EW, NONE, 0)),
	[0x39] = OP(RDTSCP, 0),
};
/* clang-format on */

struct prefixed_entry {
	uint8_t opcode;
	uint8_t simd;
	struct insn_entry entry;
};

static const struct prefixed_entry map_0f38[] = {
	{0x80, 0x66, E(VMX, G, MDQ, INSN_F_NAT | MEM)},
	{0x81, 0x66, E(VMX, G, MDQ, INSN_F_NAT | MEM)},
	{0x82, 0x66, E(INVPCID, G, MDQ, INSN_F_NAT | MEM)},
	{0xf0, 0x00, E(MOVBE, G, E, MEM)},
	{0xf0, 0x66, E(MOVBE, G, E, MEM)},
	{0xf1, 0x00, E(MOVBE, E, G, MEM)},
	{0xf1, 0x66, E(MOVBE, E, G, MEM)},
};

const struct insn_entry *insn_map_0f38(uint8_t opcode, uint8_t simd)
{
	for (size_t i = 0; i < ARRAY_SIZE(map_0f38); i++) {
		if (map_0f38[i].opcode == opcode && map_0f38[i].simd == simd)
			return &map_0f38[i].entry;
	}
	return NULL;
}
