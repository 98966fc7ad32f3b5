/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uint64_t firmware_call(uint64_t fn, const uint64_t arg[5], uint64_t cr3)
 * The Microsoft convention: four registers, the fifth above their home space.
 */
	.section .text
	.globl	firmware_call
firmware_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%cr3, %rax
	push	%rax
	mov	%rsp, firmware_stack(%rip)
	mov	%rdx, %cr3
	mov	%rdi, %rax
	mov	%rsi, %r10
	mov	(%r10), %rcx
	mov	8(%r10), %rdx
	mov	16(%r10), %r8
	mov	24(%r10), %r9
	mov	32(%r10), %r10
	sub	$48, %rsp
	mov	%r10, 32(%rsp)
	call	*%rax
firmware_back:
	cli
	cld
	mov	firmware_stack(%rip), %rsp
	pop	%rcx
	mov	%rcx, %cr3
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* Where an exception in the firmware goes on: as if it had returned an error of no kind. */
	.globl	firmware_fault
firmware_fault:
	mov	$-1, %rax
	jmp	firmware_back

	.section .data
	.balign	8
	.globl	firmware_stack
firmware_stack:
	.quad	0

	.section .note.GNU-stack, "", @progbits
