/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asm_offsets: where the enter code finds the registers in struct hv_regs.
 * The C side asserts that they are right (hv/vcpu.c).
 */
#pragma once

#define REGS_RAX 0x00
#define REGS_RCX 0x08
#define REGS_RDX 0x10
#define REGS_RBX 0x18
#define REGS_RSP 0x20
#define REGS_RBP 0x28
#define REGS_RSI 0x30
#define REGS_RDI 0x38
#define REGS_R8	 0x40
#define REGS_R9	 0x48
#define REGS_R10 0x50
#define REGS_R11 0x58
#define REGS_R12 0x60
#define REGS_R13 0x68
#define REGS_R14 0x70
#define REGS_R15 0x78
#define REGS_RIP 0x80
#define REGS_RFLAGS 0x88
