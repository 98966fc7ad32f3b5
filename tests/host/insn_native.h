/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_native: runs one instruction on the CPU that runs the test, with every
 * general register (RSP too) and the arithmetic flags of our choice.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hv/state.h"

#define NATIVE_DATA_SIZE 4096u
#define NATIVE_GS_BASE	 0x1230u

static struct {
	uint64_t gpr[GPR_COUNT];
	uint64_t rflags;
	uint64_t code;
	uint64_t host_rsp;
} native_ctx __attribute__((used));

void native_enter(void);
void native_leave(void);

#define LOADS(op)                                                                                  \
	op(rax, 0) op(rcx, 8) op(rdx, 16) op(rbx, 24) op(rbp, 40) op(rsi, 48) op(rdi, 56)          \
		op(r8, 64) op(r9, 72) op(r10, 80) op(r11, 88) op(r12, 96) op(r13, 104)             \
			op(r14, 112) op(r15, 120) op(rsp, 32)
#define LOAD_ONE(reg, off)  "movq native_ctx+" #off "(%rip), %" #reg "\n"
#define STORE_ONE(reg, off) "movq %" #reg ", native_ctx+" #off "(%rip)\n"

__asm__(".text\n"
	".globl native_enter, native_leave\n"
	"native_enter:\n"
	"pushq %rbx\npushq %rbp\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
	"movq %rsp, native_ctx+144(%rip)\n"
	"pushq native_ctx+128(%rip)\n"
	"popfq\n" LOADS(
		LOAD_ONE) "jmp *native_ctx+136(%rip)\n"
			  "native_leave:\n" LOADS(
				  STORE_ONE) "movq native_ctx+144(%rip), %rsp\n"
					     "pushfq\n"
					     "popq native_ctx+128(%rip)\n"
					     "cld\n"
					     "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbp\npopq %rbx\n"
					     "ret\n");

static uint8_t *native_code, *native_data;

/* Both below 2 GiB, so that every addressing form reaches the data. */
static int native_setup(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;

	native_code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
	native_data = mmap(NULL, NATIVE_DATA_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (native_code == MAP_FAILED || native_data == MAP_FAILED)
		return -1;
	return (int)syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, (long)NATIVE_GS_BASE);
}

/* Executes @len bytes at native_code; @regs in and out, but for RIP. */
static void native_run(const uint8_t *bytes, unsigned len, struct hv_regs *regs)
{
	static const uint8_t jump[6] = {0xff, 0x25}; /* jmp *0(%rip) */
	void (*leave)(void) = native_leave;

	memcpy(native_code, bytes, len);
	memcpy(native_code + len, jump, sizeof(jump));
	memcpy(native_code + len + sizeof(jump), &leave, sizeof(leave));
	memcpy(native_ctx.gpr, regs->gpr, sizeof(native_ctx.gpr));
	native_ctx.rflags = regs->rflags | RFLAGS_ONE | RFLAGS_IF;
	native_ctx.code = (uint64_t)(uintptr_t)native_code;
	native_enter();
	memcpy(regs->gpr, native_ctx.gpr, sizeof(native_ctx.gpr));
	regs->rflags = native_ctx.rflags;
}
