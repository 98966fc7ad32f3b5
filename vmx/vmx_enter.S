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
	save_host
	push	%rdi
	mov	$VMCSNW_HOST_RSP, %eax
	vmwrite	%rsp, %rax
	jbe	failed
	test	%sil, %sil
	/* MOV leaves the flag alone. */
	mov	REGS_RAX(%rdi), %rax
	load_guest
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
	find_regs
	mov	%rax, REGS_RAX(%rdi)
	save_guest
	pop	%rdi
	mov	$1, %eax
restore:
	restore_host

	.section .note.GNU-stack, "", @progbits
