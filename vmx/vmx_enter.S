/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_enter: the world switch of VMX.
 *
 * bool vmx_enter(struct hv_regs *regs, bool launched)
 *
 * RSP, RIP and RFLAGS travel in the VMCS; the exit comes back at vmx_exited with
 * our stack, GS base, tables and control registers, and with interrupts off.
 * True: the guest ran, or VM entry failed while loading its state (there is an
 * exit reason); false: VMfail, nothing happened.
 * Spec: SDM 3C 25.5, 26, 28.5.
 */
#include "hv/asm_offsets.h"

#define VMCSNW_HOST_RSP 0x6c14

	.section .text
	.globl	vmx_enter
	.balign	16
vmx_enter:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdi
	mov	$VMCSNW_HOST_RSP, %eax
	vmwrite	%rsp, %rax
	jbe	failed
	test	%sil, %sil
	/* MOV leaves the flag alone. */
	mov	REGS_RAX(%rdi), %rax
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
	jnz	1f
	vmlaunch
	jmp	failed
1:	vmresume
failed:
	pop	%rdi
	xor	%eax, %eax
	jmp	restore

	.globl	vmx_exited
	.balign	16
vmx_exited:
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rax, REGS_RAX(%rdi)
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
	mov	$1, %eax
restore:
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
