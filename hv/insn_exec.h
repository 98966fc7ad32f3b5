/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_exec: executes a decoded instruction on a vCPU's registers; memory is
 * the caller's, through struct insn_env.
 *
 * Called from: exit path, any CPU.  Locks: none; the callbacks may take some.
 * Purity: pure (host-tested against the CPU by tests/host/test_insn_exec.c).
 * Spec: SDM 2A-2D; SDM 1 7.3; SDM 3A 6.8 and 9.1.2.
 *
 * Executes MOV and its kin, the ALU and bit instructions, XCHG, CMPXCHG(8B,16B),
 * XADD, SETcc, CMOVcc, PUSH, POP, MOVS, CMPS, STOS, LODS and SCAS.  Not done:
 * alignment checking (#AC), single steps (TF) and the wrap of an access around
 * 4 GiB outside 64-bit mode; they are the caller's.
 */
#pragma once

#include "hv/insn_addr.h"

/* What a read is for: INSN_MODIFY when the same bytes are written next. */
enum insn_intent { INSN_READ, INSN_MODIFY };

/*
 * Guest memory at linear addresses.  Each callback returns INSN_DONE, or
 * INSN_EXCEPTION with the fault filled in, or INSN_AGAIN or INSN_UNSUPPORTED,
 * which insn_exec then returns.  An access may cross a page; when it does not
 * return INSN_DONE it has changed nothing.
 */
struct insn_env {
	void *ctx;
	/*
	 * Optional.  Before another operand is read, which may be a device: whether
	 * an access like this will work.  Reads and writes no device.
	 */
	enum insn_result (*touch)(void *ctx, uint64_t linear, unsigned size, enum insn_intent intent,
				  struct insn_fault *f);
	/* @size is 1, 2, 4 or 8; only so many bytes of *@val count. */
	enum insn_result (*read)(void *ctx, uint64_t linear, unsigned size, enum insn_intent intent,
				 uint64_t *val, struct insn_fault *f);
	enum insn_result (*write)(void *ctx, uint64_t linear, unsigned size, uint64_t val,
				  struct insn_fault *f);
	/*
	 * Optional, for LOCK and XCHG; without it they are a read and a write.
	 * Replaces @old by @new_val in one step; INSN_AGAIN with the present
	 * value in @old when that is another one.  @size up to 8 uses the first
	 * element only, 16 both.
	 */
	enum insn_result (*cmpxchg)(void *ctx, uint64_t linear, unsigned size, uint64_t old[2],
				    const uint64_t new_val[2], struct insn_fault *f);
};

/*
 * Executes @in, which was decoded at r->rip.  A repeated string instruction
 * stops with INSN_AGAIN after about @budget bytes (at least one element).
 *
 * INSN_EXCEPTION leaves registers and memory as before the instruction, except
 * that the finished iterations of a repeated string instruction stay done, as
 * on the CPU.
 */
enum insn_result insn_exec(const struct insn *in, struct hv_regs *r, const struct hv_sregs *s,
			   const struct insn_env *env, unsigned budget,
			   struct insn_fault *f) __must_check;

static inline enum insn_result insn_touch(const struct insn_env *env, uint64_t linear,
					  unsigned size, enum insn_intent intent,
					  struct insn_fault *f)
{
	return env->touch ? env->touch(env->ctx, linear, size, intent, f) : INSN_DONE;
}

/* Moves RIP past @in and clears RF, as the end of every instruction does. */
void insn_finish(const struct insn *in, struct hv_regs *r);
