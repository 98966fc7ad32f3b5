/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_addr: from a memory operand to a linear address, with the checks of
 * segmentation; general registers by operand size.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested by tests/host/test_insn_exec.c).
 * Spec: SDM 1 3.3.7, 3.7.5; SDM 3A 3.4, 5.3 to 5.5.
 */
#pragma once

#include "hv/insn_decode.h"

enum insn_result {
	INSN_DONE,	  /* registers, RFLAGS and RIP stand after the instruction */
	INSN_AGAIN,	  /* not finished: RIP unchanged, execute once more */
	INSN_EXCEPTION,	  /* struct insn_fault tells which */
	INSN_UNSUPPORTED, /* nothing changed */
};

/* The exception that the guest gets. */
struct insn_fault {
	uint8_t vector; /* enum hv_vector */
	bool has_error;
	uint32_t error;
	uint64_t cr2; /* for #PF */
};

/* One access through a segment: @size bytes from offset @off. */
struct insn_ref {
	uint8_t seg; /* enum hv_seg */
	bool write;
	uint8_t size;
	uint64_t off; /* already cut to the address size */
};

/* The low @size bytes of a general register. */
static inline uint64_t insn_gpr_get(const struct hv_regs *r, uint8_t reg, unsigned size)
{
	return r->gpr[reg] & mask_bytes(size);
}

/* Four bytes clear the upper half; one and two leave the rest alone. */
static inline void insn_gpr_set(struct hv_regs *r, uint8_t reg, unsigned size, uint64_t val)
{
	uint64_t mask = size == 4 ? ~0ULL : mask_bytes(size);

	r->gpr[reg] = (r->gpr[reg] & ~mask) | (val & mask & mask_bytes(size));
}

/* Raises #SS(0) when @seg is SS, else #GP(0). */
enum insn_result insn_segment_fault(uint8_t seg, struct insn_fault *f);

/* The linear address of @ref in @mode, or INSN_EXCEPTION. */
enum insn_result insn_ref_linear(enum insn_mode mode, const struct hv_regs *r,
				 const struct hv_sregs *s, const struct insn_ref *ref,
				 uint64_t *linear, struct insn_fault *f) __must_check;

/*
 * The linear address of the explicit memory operand of @in, to which a bit
 * offset in a register has been applied.  @write asks for the checks of a
 * write.  INSN_UNSUPPORTED when @in has no such operand.
 */
enum insn_result insn_linear(const struct insn *in, const struct hv_regs *r,
			     const struct hv_sregs *s, bool write, uint64_t *linear,
			     struct insn_fault *f) __must_check;
