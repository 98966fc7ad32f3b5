/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_alu: the arithmetic of the instructions that the executor knows, with
 * their flags.
 *
 * Called from: the executor.  Locks: none.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 1 3.4.3.1, 2A-2D; APM 3 3.
 */
#pragma once

#include "hv/insn_decode.h"

#define INSN_ARITH_FLAGS (RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

/*
 * @a op @b on @size bytes, INSN_ADD to INSN_NOT; the unary ones ignore @b.
 * INSN_CMP returns the difference and INSN_TEST the AND, for their flags.
 * Flags that the SDM leaves undefined are cleared.
 */
uint64_t insn_alu(enum insn_op op, unsigned size, uint64_t a, uint64_t b, uint64_t *rflags);

/* Bit @bit (modulo the size) of @a to CF; returns @a as BT, BTS, BTR or BTC leaves it. */
uint64_t insn_bit(enum insn_op op, unsigned size, uint64_t a, uint64_t bit, uint64_t *rflags);

/* Whether condition code @cc holds. */
bool insn_condition(unsigned cc, uint64_t rflags);
