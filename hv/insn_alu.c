/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_alu: results and flags.
 *
 * Called from: the executor.  Locks: none.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 1 3.4.3.1, SDM 1 appendix B (conditions).
 */
#include "hv/insn_alu.h"

static bool sign(uint64_t v, unsigned size)
{
	return v >> (size * 8 - 1) & 1;
}

static bool parity_even(uint64_t v)
{
	unsigned fold = (unsigned)(v ^ v >> 4) & 0xf;

	return 0x9669U >> fold & 1;
}

/* ZF, SF and PF of a result. */
static uint64_t result_flags(uint64_t v, unsigned size)
{
	return (v ? 0 : RFLAGS_ZF) | (sign(v, size) ? RFLAGS_SF : 0) |
	       (parity_even(v) ? RFLAGS_PF : 0);
}

/* @out has the carry out of each bit; overflow is that into the sign differing from it. */
static uint64_t carry_flags(uint64_t out, uint64_t overflow, unsigned size)
{
	return (sign(out, size) ? RFLAGS_CF : 0) | (sign(overflow, size) ? RFLAGS_OF : 0) |
	       (out & 8 ? RFLAGS_AF : 0);
}

static uint64_t add(uint64_t a, uint64_t b, bool carry, unsigned size, uint64_t *flags)
{
	uint64_t v = (a + b + carry) & mask_bytes(size);

	*flags = result_flags(v, size) |
		 carry_flags((a & b) | ((a | b) & ~v), (a ^ v) & (b ^ v), size);
	return v;
}

static uint64_t sub(uint64_t a, uint64_t b, bool borrow, unsigned size, uint64_t *flags)
{
	uint64_t v = (a - b - borrow) & mask_bytes(size);

	*flags = result_flags(v, size) |
		 carry_flags((~a & b) | ((~a | b) & v), (a ^ b) & (a ^ v), size);
	return v;
}

static uint64_t logic(uint64_t v, unsigned size, uint64_t *flags)
{
	*flags = result_flags(v, size);
	return v;
}

uint64_t insn_alu(enum insn_op op, unsigned size, uint64_t a, uint64_t b, uint64_t *rflags)
{
	uint64_t mask = mask_bytes(size), changed = INSN_ARITH_FLAGS, flags, v;
	bool carry = *rflags & RFLAGS_CF;

	a &= mask;
	b &= mask;
	switch (op) {
	case INSN_ADD:
		v = add(a, b, false, size, &flags);
		break;
	case INSN_ADC:
		v = add(a, b, carry, size, &flags);
		break;
	case INSN_INC:
		v = add(a, 1, false, size, &flags);
		changed &= ~RFLAGS_CF;
		break;
	case INSN_DEC:
		v = sub(a, 1, false, size, &flags);
		changed &= ~RFLAGS_CF;
		break;
	case INSN_SUB:
	case INSN_CMP:
		v = sub(a, b, false, size, &flags);
		break;
	case INSN_SBB:
		v = sub(a, b, carry, size, &flags);
		break;
	case INSN_NEG:
		v = sub(0, a, false, size, &flags);
		break;
	case INSN_OR:
		v = logic(a | b, size, &flags);
		break;
	case INSN_XOR:
		v = logic(a ^ b, size, &flags);
		break;
	case INSN_NOT:
		return ~a & mask;
	default: /* AND, TEST */
		v = logic(a & b, size, &flags);
		break;
	}
	*rflags = (*rflags & ~changed) | (flags & changed);
	return v;
}

uint64_t insn_bit(enum insn_op op, unsigned size, uint64_t a, uint64_t bit, uint64_t *rflags)
{
	uint64_t mask = 1ULL << (bit & (size * 8 - 1));

	*rflags = (*rflags & ~RFLAGS_CF) | (a & mask ? RFLAGS_CF : 0);
	switch (op) {
	case INSN_BTS:
		return a | mask;
	case INSN_BTR:
		return a & ~mask;
	case INSN_BTC:
		return a ^ mask;
	default:
		return a;
	}
}

bool insn_condition(unsigned cc, uint64_t rflags)
{
	static const uint64_t flag[8] = {
		RFLAGS_OF, RFLAGS_CF, RFLAGS_ZF, RFLAGS_CF | RFLAGS_ZF,
		RFLAGS_SF, RFLAGS_PF, 0,	 RFLAGS_ZF,
	};
	bool holds = rflags & flag[cc >> 1 & 7];

	/* L and LE: also when SF differs from OF. */
	if (cc >= 12)
		holds |= !(rflags & RFLAGS_SF) != !(rflags & RFLAGS_OF);
	return holds != (cc & 1);
}
