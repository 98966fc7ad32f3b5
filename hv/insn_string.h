/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_string: string instructions: their pointers, count and iterations.
 * The helpers also serve INS and OUTS, whose other side is a port.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 1 7.3.9; SDM 2B REP/REPE/REPNE.
 */
#pragma once

#include "hv/insn_exec.h"

enum insn_string_end { INSN_STRING_SRC, INSN_STRING_DST }; /* seg:rSI, ES:rDI */

/* Elements left: rCX by address size, 1 without a REP prefix. */
uint64_t insn_string_count(const struct insn *in, const struct hv_regs *r);

/* The linear address of the element at @end, or INSN_EXCEPTION. */
enum insn_result insn_string_linear(const struct insn *in, const struct hv_regs *r,
				    const struct hv_sregs *s, enum insn_string_end end,
				    uint64_t *linear, struct insn_fault *f) __must_check;

/* Moves the pointers that @in uses past @count elements, and takes them off rCX. */
void insn_string_advance(const struct insn *in, struct hv_regs *r, uint64_t count);

/* insn_exec for MOVS, CMPS, STOS, LODS and SCAS. */
enum insn_result insn_string_exec(const struct insn *in, struct hv_regs *r,
				  const struct hv_sregs *s, const struct insn_env *env,
				  unsigned budget, struct insn_fault *f) __must_check;
