/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * start: from multiboot's 32-bit entry to long mode and guest_main().
 *
 * Identity-maps the low 4 GiB by 2 MiB pages.  The other CPUs come by
 * ap_boot, which guest_smp.c copies below 1 MiB.
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 3

	.section .multiboot, "a"
	.balign	4
	.long	MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.text
	.code32
	.globl	_start
_start:
	cli
	mov	%eax, boot_magic
	mov	%ebx, boot_info
	mov	$boot_stack_top, %esp
	/* four page directories, 2 MiB pages, present, writable, user */
	mov	$boot_pd, %edi
	mov	$0x87, %eax
	mov	$2048, %ecx
1:	mov	%eax, (%edi)
	movl	$0, 4(%edi)
	add	$0x200000, %eax
	add	$8, %edi
	loop	1b
	mov	$boot_pd + 7, %eax
	mov	%eax, boot_pdpt
	add	$0x1000, %eax
	mov	%eax, boot_pdpt + 8
	add	$0x1000, %eax
	mov	%eax, boot_pdpt + 16
	add	$0x1000, %eax
	mov	%eax, boot_pdpt + 24
	movl	$boot_pdpt + 7, boot_pml4
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	$0x620, %eax		/* PAE, OSFXSR, OSXMMEXCPT */
	mov	%eax, %cr4
	mov	$0xc0000080, %ecx
	rdmsr
	or	$0x901, %eax		/* NXE, LME, SCE */
	wrmsr
	mov	$0x80010033, %eax
	mov	%eax, %cr0
	lgdt	boot_gdtr
	ljmp	$0x08, $1f
	.code64
1:	mov	$0x10, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	xor	%eax, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	mov	boot_magic, %edi
	mov	boot_info, %esi
	xor	%ebp, %ebp
	call	guest_main
2:	cli
	hlt
	jmp	2b

/* ---- the other CPUs, copied to 0x8000 (SIPI vector 8) ---------------------- */
	.globl	ap_boot, ap_boot_end
	.balign	16
	.code16
ap_boot:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	lgdtl	0x8000 + (ap_gdtr - ap_boot)
	mov	$0x620, %eax
	mov	%eax, %cr4
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	$0xc0000080, %ecx
	rdmsr
	or	$0x901, %eax
	wrmsr
	mov	$0x80010033, %eax
	mov	%eax, %cr0
	ljmpl	$0x08, $ap_long
ap_gdtr:
	.word	boot_gdt_end - boot_gdt - 1
	.long	boot_gdt
ap_boot_end:
	.code64
ap_long:
	mov	$0x10, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	/* a number of its own, and the stack that belongs to it */
	mov	$1, %edi
	lock xadd %edi, ap_next
	mov	%edi, %eax
	shl	$14, %eax
	lea	ap_stacks(%eax), %rsp
	xor	%ebp, %ebp
	call	guest_ap_main
3:	cli
	hlt
	jmp	3b

	.data
	.balign	16
	.globl	boot_gdt, ap_next
boot_gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* 0x08 64-bit code */
	.quad	0x00cf93000000ffff	/* 0x10 data */
	.quad	0x00cffb000000ffff	/* 0x18 32-bit user code */
	.quad	0x00cff3000000ffff	/* 0x20 user data */
	.quad	0x00affb000000ffff	/* 0x28 64-bit user code */
	.quad	0, 0			/* 0x30 TSS */
	.quad	0x00cf9b000000ffff	/* 0x40 32-bit code */
	.quad	0x008f9b000000ffff	/* 0x48 16-bit code */
boot_gdt_end:
boot_gdtr:
	.word	boot_gdt_end - boot_gdt - 1
	.quad	boot_gdt
boot_magic:
	.long	0
boot_info:
	.long	0
ap_next:
	.long	1

	.bss
	.balign	4096
	.globl	boot_pml4, boot_pdpt, boot_pd
boot_pml4:
	.skip	4096
boot_pdpt:
	.skip	4096
boot_pd:
	.skip	4 * 4096
	.globl	boot_stack_top
	.skip	32768
boot_stack_top:
ap_stacks:
	.skip	32 * 16384 + 16384

	.section .note.GNU-stack, "", @progbits
