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
	save_host
	push	%rdx
	push	%rdi
	clgi
	sti
	mov	%rsi, %rax
	vmload
	load_guest
	vmrun
	vmsave
	find_regs
	save_guest
	pop	%rdi
	pop	%rax
	vmload
	cli
	stgi
	restore_host

	.section .note.GNU-stack, "", @progbits
