/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_enter: the world switch of SVM.
 *
 * void svm_enter(struct hv_regs *regs, uint64_t vmcb_pa, uint64_t host_vmcb_pa)
 *
 * With GIF clear from before the host state is given up until it is back.
 * RAX, RSP, RIP and RFLAGS travel in the VMCB; VMLOAD and VMSAVE swap FS, GS,
 * TR, LDTR and the SYSCALL/SYSENTER MSRs.  RFLAGS.IF is 1 at VMRUN, so that with
 * V_INTR_MASKING a physical interrupt exits whatever the guest's IF.
 * Spec: APM 2 15.5.1, 15.17, 15.21.1.
 */
#include "hv/asm_offsets.h"

	.section .text
	.globl	svm_enter
	.balign	16
svm_enter:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdx
	push	%rdi
	clgi
	sti
	mov	%rdx, %rax
	vmsave
	mov	%rsi, %rax
	vmload
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
	vmrun
	vmsave
	push	%rdi
	mov	8(%rsp), %rdi
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
	pop	%rdi
	pop	%rax
	vmload
	cli
	stgi
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

	.section .note.GNU-stack, "", @progbits
