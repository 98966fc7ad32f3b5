/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trap_entry: the 256 IDT stubs and the common way in and out.
 * The stack then holds struct trap_frame (hv/trap.h).
 */
	.section .text
	.globl	trap_stubs
	.balign	16
trap_stubs:
	.set	v, 0
	.rept	256
	.balign	16
	/* 8, 10-14, 17, 21, 29 and 30 push an error code themselves (SDM 3A 6.13). */
	.if !((v == 8) || (v >= 10 && v <= 14) || (v == 17) || (v == 21) || (v == 29) || (v == 30))
	pushq	$0
	.endif
	pushq	$v
	jmp	trap_common
	.set	v, v + 1
	.endr

trap_common:
	push	%rax
	push	%rbx
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%rbp
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	cld
	mov	%rsp, %rdi
	mov	%rsp, %rbp
	and	$-16, %rsp
	call	trap_dispatch
	mov	%rbp, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rbp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rbx
	pop	%rax
	add	$16, %rsp
	iretq

/* bool trap_try_rdmsr(uint32_t msr, uint64_t *value) */
	.globl	trap_try_rdmsr
trap_try_rdmsr:
	mov	%edi, %ecx
	.globl	trap_try_rdmsr_insn
trap_try_rdmsr_insn:
	rdmsr
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, (%rsi)
	mov	$1, %eax
	ret

/* bool trap_try_wrmsr(uint32_t msr, uint64_t value) */
	.globl	trap_try_wrmsr
trap_try_wrmsr:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
	.globl	trap_try_wrmsr_insn
trap_try_wrmsr_insn:
	wrmsr
	mov	$1, %eax
	ret

	.globl	trap_try_failed
trap_try_failed:
	xor	%eax, %eax
	ret

	.section .note.GNU-stack, "", @progbits
