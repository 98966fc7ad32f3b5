/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_decode: instruction bytes and a mode in, struct insn or an error out.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested against Zydis by tests/host/test_insn_decode.c).
 * Spec: SDM 2A 2 and 2B-2D appendix A; APM 3 1 and appendix A.
 *
 * Knows the instructions that access memory through general registers, and the
 * ones that a hypervisor intercepts.  Everything else is HV_NOTSUP.
 */
#pragma once

#include "hv/base.h"
#include "hv/state.h"
#include "hv/status.h"

#define INSN_MAX_LEN 15

/* Default operand and address size of the code segment: CS.L and CS.D. */
enum insn_mode { INSN_16, INSN_32, INSN_64 };

enum insn_op {
	INSN_NONE,
	/* In the order of the /reg field of opcodes 80 to 83. */
	INSN_ADD,
	INSN_OR,
	INSN_ADC,
	INSN_SBB,
	INSN_AND,
	INSN_SUB,
	INSN_XOR,
	INSN_CMP,
	INSN_TEST,
	INSN_INC,
	INSN_DEC,
	INSN_NEG,
	INSN_NOT,
	INSN_BT,
	INSN_BTS,
	INSN_BTR,
	INSN_BTC,
	INSN_XCHG,
	INSN_CMPXCHG,
	INSN_CMPXCHG8B, /* CMPXCHG16B when the memory operand has 16 bytes */
	INSN_XADD,
	INSN_MOV, /* and MOVNTI */
	INSN_MOVZX,
	INSN_MOVSX, /* and MOVSXD */
	INSN_MOVBE,
	INSN_SETCC,
	INSN_CMOVCC,
	INSN_PUSH,
	INSN_POP,
	INSN_CALL,
	INSN_JMP,
	INSN_CALL_FAR,
	INSN_JMP_FAR,
	INSN_MOVS,
	INSN_CMPS,
	INSN_STOS,
	INSN_LODS,
	INSN_SCAS,
	INSN_INS,
	INSN_OUTS,
	INSN_IN,
	INSN_OUT,
	INSN_CPUID,
	INSN_HLT,
	INSN_RDMSR,
	INSN_WRMSR,
	INSN_RDTSC,
	INSN_RDTSCP,
	INSN_RDPMC,
	INSN_XSETBV,
	INSN_XGETBV,
	INSN_VMCALL,
	INSN_VMMCALL,
	INSN_VMX, /* every other VMX instruction */
	INSN_SVM, /* every other SVM instruction */
	INSN_MOV_CR,
	INSN_MOV_DR,
	INSN_CLTS,
	INSN_LMSW,
	INSN_SMSW,
	INSN_INVD,
	INSN_WBINVD, /* and WBNOINVD */
	INSN_INVLPG,
	INSN_INVPCID,
	INSN_PAUSE,
	INSN_MONITOR,
	INSN_MWAIT,
	INSN_INT3,
	INSN_INT,
	INSN_INTO,
	INSN_INT1,
	INSN_IRET,
	INSN_SGDT,
	INSN_SIDT,
	INSN_LGDT,
	INSN_LIDT,
	INSN_SLDT,
	INSN_STR,
	INSN_LLDT,
	INSN_LTR,
	INSN_RSM,
	INSN_CLI,
	INSN_STI,
	INSN_PUSHF,
	INSN_POPF,
	INSN_NOP, /* and the hints that are NOPs where the CPU lacks them: PREFETCHx, ENDBRx, ... */
	INSN_OP_COUNT
};

enum insn_opnd_kind {
	INSN_OPND_NONE,
	INSN_OPND_REG,
	INSN_OPND_MEM, /* struct insn's mem */
	INSN_OPND_IMM, /* struct insn's imm */
	INSN_OPND_CR,
	INSN_OPND_DR,
};

struct insn_opnd {
	uint8_t kind; /* enum insn_opnd_kind */
	uint8_t size; /* in bytes; 6 or 10 for descriptor tables and far pointers, 0 for INVLPG */
	uint8_t reg;  /* enum hv_gpr, or the number of the control or debug register */
	bool high;    /* bits 15:8 of reg: AH, CH, DH, BH */
};

#define INSN_NO_REG 0xff

struct insn_mem {
	uint8_t seg;   /* enum hv_seg, after override and default */
	uint8_t base;  /* enum hv_gpr or INSN_NO_REG */
	uint8_t index; /* enum hv_gpr or INSN_NO_REG */
	uint8_t scale; /* 1, 2, 4 or 8 */
	bool rip_relative;
	int64_t disp;
};

/*
 * The destination comes first in opnd.  String instructions have no explicit
 * operands; their mem is the source seg:rSI (MOVS, CMPS, LODS, OUTS) or else
 * the destination ES:rDI, and opsize is the size of an element.
 */
struct insn {
	uint8_t op;   /* enum insn_op */
	uint8_t mode; /* enum insn_mode */
	uint8_t len;
	uint8_t opsize;	  /* 1, 2, 4 or 8 bytes */
	uint8_t addrsize; /* 2, 4 or 8 bytes */
	uint8_t cc;	  /* condition code of SETcc and CMOVcc */
	bool rep;	  /* F3 on a string instruction: REP or REPE */
	bool repne;	  /* F2 on a string instruction */
	bool lock;
	struct insn_opnd opnd[2];
	struct insn_mem mem;
	int64_t imm; /* sign- or zero-extended as the instruction does */
};

/* Whether @in repeats by rCX. */
static inline bool insn_repeats(const struct insn *in)
{
	return in->rep || in->repne;
}

/* The low @size bytes of @v as a signed number. */
static inline int64_t insn_sign_extend(uint64_t v, unsigned size)
{
	unsigned unused = 64 - size * 8;

	return (int64_t)(v << unused) >> unused;
}

/*
 * Decodes the instruction at @bytes, of which @len are known.
 *
 * HV_OK, HV_RETRY (needs more than @len bytes), HV_INVAL (raises #UD, or #GP
 * for being longer than 15 bytes) or HV_NOTSUP (not one of ours, perhaps
 * valid).  @out is defined on HV_OK only.
 */
enum hv_status insn_decode(const uint8_t *bytes, size_t len, enum insn_mode mode,
			   struct insn *out) __must_check;
