/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asm_offsets: where the enter code finds the registers in struct hv_regs, and
 * what both world switches do with them.  The C side asserts that the offsets
 * are right (hv/vcpu.c).
 */
#pragma once

#define REGS_RAX 0x00
#define REGS_RCX 0x08
#define REGS_RDX 0x10
#define REGS_RBX 0x18
#define REGS_RSP 0x20
#define REGS_RBP 0x28
#define REGS_RSI 0x30
#define REGS_RDI 0x38
#define REGS_R8	 0x40
#define REGS_R9	 0x48
#define REGS_R10 0x50
#define REGS_R11 0x58
#define REGS_R12 0x60
#define REGS_R13 0x68
#define REGS_R14 0x70
#define REGS_R15 0x78
#define REGS_RIP 0x80
#define REGS_RFLAGS 0x88

#ifdef __ASSEMBLER__

	.macro	save_host
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	/* From %rdi's struct all but RAX and RSP; flags are left alone. */
	.macro	load_guest
	mov	REGS_RCX(%rdi), %rcx
	mov	REGS_RDX(%rdi), %rdx
	mov	REGS_RBX(%rdi), %rbx
	mov	REGS_RBP(%rdi), %rbp
	mov	REGS_RSI(%rdi), %rsi
	mov	REGS_R8(%rdi), %r8
	mov	REGS_R9(%rdi), %r9
	mov	REGS_R10(%rdi), %r10
	mov	REGS_R11(%rdi), %r11
	mov	REGS_R12(%rdi), %r12
	mov	REGS_R13(%rdi), %r13
	mov	REGS_R14(%rdi), %r14
	mov	REGS_R15(%rdi), %r15
	mov	REGS_RDI(%rdi), %rdi
	.endm

	/* With the struct's address on top of the stack: to %rdi, the guest's RDI on the stack. */
	.macro	find_regs
	push	%rdi
	mov	8(%rsp), %rdi
	.endm

	/* After find_regs: all but RAX and RSP.  %rax is lost. */
	.macro	save_guest
	mov	%rcx, REGS_RCX(%rdi)
	mov	%rdx, REGS_RDX(%rdi)
	mov	%rbx, REGS_RBX(%rdi)
	mov	%rbp, REGS_RBP(%rdi)
	mov	%rsi, REGS_RSI(%rdi)
	mov	%r8, REGS_R8(%rdi)
	mov	%r9, REGS_R9(%rdi)
	mov	%r10, REGS_R10(%rdi)
	mov	%r11, REGS_R11(%rdi)
	mov	%r12, REGS_R12(%rdi)
	mov	%r13, REGS_R13(%rdi)
	mov	%r14, REGS_R14(%rdi)
	mov	%r15, REGS_R15(%rdi)
	pop	%rax
	mov	%rax, REGS_RDI(%rdi)
	.endm

	/* And returns %rax to the caller. */
	.macro	restore_host
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	/* What the guest left in registers must not steer our speculation. */
	xor	%ecx, %ecx
	xor	%edx, %edx
	xor	%esi, %esi
	xor	%r8d, %r8d
	xor	%r9d, %r9d
	xor	%r10d, %r10d
	xor	%r11d, %r11d
	ret
	.endm

#endif
