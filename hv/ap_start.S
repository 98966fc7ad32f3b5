/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ap_start: the page that the other CPUs begin in, from real mode to long mode.
 *
 * Copied to low memory by hv/smp.c, which fills ap_params; the CPU takes its
 * stack from there, one CPU at a time.  Spec: SDM 3A 8.4.4.
 */
	.section .rodata
	.balign	16
	.globl	ap_start, ap_params, ap_start_end
	.code16
ap_start:
	cli
	cld
	mov	%cs, %ax
	mov	%ax, %ds
	lgdtl	ap_gdtr - ap_start
	mov	ap_cr4 - ap_start, %eax
	mov	%eax, %cr4
	mov	ap_cr3 - ap_start, %eax
	mov	%eax, %cr3
	mov	$0xc0000080, %ecx
	rdmsr
	or	$0x900, %eax		/* LME, NXE */
	wrmsr
	mov	$0x80010033, %eax	/* PG WP NE ET MP PE */
	mov	%eax, %cr0
	ljmpl	*(ap_far - ap_start)
	.code64
ap_long:
	mov	$0x10, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	ap_stack(%rip), %rsp
	mov	ap_arg(%rip), %rdi
	xor	%ebp, %ebp
	jmp	*ap_entry(%rip)

	.balign	8
ap_gdt:
	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
	.word	0, 0, 0		/* so that ap_params is aligned */
ap_gdtr:
	.word	23
ap_params:			/* struct ap_params in hv/smp.c */
ap_gdt_base:
	.long	0
ap_far:
	.long	ap_long - ap_start
	.word	8, 0
ap_cr3:
	.long	0
ap_cr4:
	.long	0
	.balign	8
ap_stack:
	.quad	0
ap_arg:
	.quad	0
ap_entry:
	.quad	0
ap_start_end:
	.section .note.GNU-stack, "", @progbits
