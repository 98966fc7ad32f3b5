/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_table: the opcode maps as data: which operation and operands an opcode
 * has.  Only the decoder (insn_decode.c, insn_operand.c) reads them.  Pure.
 * Spec: SDM 2D appendix A, whose operand letters the names follow.
 */
#pragma once

#include "hv/base.h"

/* Operand encodings.  From INSN_ARG_G on they need a ModRM byte. */
enum insn_arg {
	INSN_ARG_NONE,
	INSN_ARG_ACC,	/* rAX of the operand size */
	INSN_ARG_DX,	/* port number in DX */
	INSN_ARG_Z,	/* register in the low three bits of the opcode */
	INSN_ARG_IZ,	/* immediate of at most four bytes, sign-extended */
	INSN_ARG_IV,	/* immediate of the operand size */
	INSN_ARG_IBS,	/* byte, sign-extended */
	INSN_ARG_IBU,	/* byte, zero-extended */
	INSN_ARG_MOFFS, /* memory by an address of the address size */
	INSN_ARG_G,	/* register in ModRM.reg */
	INSN_ARG_CR,	/* control register in ModRM.reg */
	INSN_ARG_DR,	/* debug register in ModRM.reg */
	INSN_ARG_RN,	/* register in ModRM.rm whatever ModRM.mod is */
	INSN_ARG_E,	/* register or memory of the operand size */
	INSN_ARG_EB,	/* register or memory, one byte */
	INSN_ARG_EW,	/* register or memory, two bytes */
	INSN_ARG_ED,	/* register or memory, four bytes, two with a two-byte destination */
	INSN_ARG_EVW,	/* register of the operand size or two bytes of memory */
	INSN_ARG_M0,	/* memory that is only addressed */
	INSN_ARG_MS,	/* a descriptor table register: limit and base */
	INSN_ARG_MP,	/* a far pointer */
	INSN_ARG_MQ,	/* eight bytes, sixteen with REX.W */
	INSN_ARG_MDQ,	/* sixteen bytes */
};

#define INSN_F_BYTE   BIT(0)  /* operand size is one byte */
#define INSN_F_LOCK   BIT(1)  /* may have LOCK when opnd[0] is memory */
#define INSN_F_MEM    BIT(2)  /* #UD when ModRM names a register */
#define INSN_F_D64    BIT(3)  /* eight bytes in 64-bit mode unless 66 says two */
#define INSN_F_F64    BIT(4)  /* eight bytes in 64-bit mode */
#define INSN_F_NAT    BIT(5)  /* eight bytes in 64-bit mode, else four */
#define INSN_F_NO64   BIT(6)  /* #UD in 64-bit mode */
#define INSN_F_ONLY64 BIT(7)  /* another instruction outside 64-bit mode */
#define INSN_F_IO     BIT(8)  /* no eight-byte form */
#define INSN_F_NP     BIT(9)  /* #UD with prefix 66, F3 or F2 */
#define INSN_F_NOF2   BIT(10) /* #UD with prefix F2 */
#define INSN_F_CC     BIT(11) /* low four bits of the opcode are a condition */
#define INSN_F_STR    BIT(12) /* string instruction on mem[rSI], or with _DI on mem[rDI] */
#define INSN_F_DI     BIT(13)
#define INSN_F_UD     BIT(14) /* #UD in every mode */
#define INSN_F_GROUP  BIT(15) /* op is an enum insn_group; ModRM.reg selects the entry */
#define INSN_F_D32    BIT(16) /* four bytes unless REX.W */

/* op INSN_NONE without INSN_F_UD: not ours. */
struct insn_entry {
	uint8_t op;
	uint8_t arg[2]; /* enum insn_arg; a group's entry without one has the opcode's */
	uint32_t flags;
};

enum insn_group {
	INSN_GRP_ALU,	/* 80 81 82 83 */
	INSN_GRP_POP,	/* 8F */
	INSN_GRP_MOV,	/* C6 C7 */
	INSN_GRP_UNARY, /* F6 F7 */
	INSN_GRP_INC_B, /* FE */
	INSN_GRP_INC,	/* FF */
	INSN_GRP_LDT,	/* 0F 00 */
	INSN_GRP_GDT,	/* 0F 01, memory */
	INSN_GRP_BIT,	/* 0F BA */
	INSN_GRP_CMPX,	/* 0F C7, memory */
	INSN_GRP_COUNT
};

extern const struct insn_entry insn_map_1byte[256];
extern const struct insn_entry insn_map_0f[256];
extern const struct insn_entry insn_groups[INSN_GRP_COUNT][8];
/* 0F 01 with ModRM.mod 3, by the low six bits of ModRM. */
extern const struct insn_entry insn_map_0f01_reg[64];

/* The entry of 0F 38 @opcode under mandatory prefix @simd (0, 0x66, 0xf2, 0xf3), or NULL. */
const struct insn_entry *insn_map_0f38(uint8_t opcode, uint8_t simd);
