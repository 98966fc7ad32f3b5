/* SPDX-License-Identifier: BSD-2-Clause */
/* catch_entry: the test guest's 256 interrupt stubs; struct frame on the stack. */
	.text
	.globl	guest_stubs
	.balign	16
guest_stubs:
	.set	v, 0
	.rept	256
	.balign	16
	.if !((v == 8) || (v >= 10 && v <= 14) || (v == 17) || (v == 21) || (v == 29) || (v == 30))
	pushq	$0
	.endif
	pushq	$v
	jmp	common
	.set	v, v + 1
	.endr
common:
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
	call	guest_interrupt
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
	.section .note.GNU-stack, "", @progbits
