/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_operand: what the decoder knows while it reads one instruction, and the
 * step that turns operand encodings into operands.  Private to the decoder.
 * Pure.
 * Spec: SDM 2A 2.1.3 to 2.1.5 and 2.2.1.
 */
#pragma once

#include "hv/insn_decode.h"
#include "hv/insn_table.h"

#define INSN_REX_B BIT(0)
#define INSN_REX_X BIT(1)
#define INSN_REX_R BIT(2)
#define INSN_REX_W BIT(3)

#define INSN_NO_SEG 0xff

struct insn_parse {
	const uint8_t *bytes;
	size_t len;
	size_t pos;
	struct insn *out;
	struct insn_entry entry;
	uint8_t opcode;
	uint8_t modrm;
	uint8_t rex;	    /* 0 when there is none that counts */
	uint8_t seg;	    /* override: enum hv_seg or INSN_NO_SEG */
	uint8_t repeat;	    /* the last of F2 and F3, or 0 */
	bool opsize_prefix; /* 66 */
	bool has_modrm;
};

/* Takes the next @size bytes, little-endian.  HV_OK, HV_RETRY or HV_INVAL. */
enum hv_status insn_take(struct insn_parse *p, unsigned size, uint64_t *val) __must_check;

/* Reads ModRM unless that has happened. */
enum hv_status insn_take_modrm(struct insn_parse *p) __must_check;

/* Fills out->opnd[n] from p->entry.arg[n]; sizes, ModRM and prefixes are known. */
enum hv_status insn_operand(struct insn_parse *p, unsigned n) __must_check;

/* Fills out->mem of a string instruction. */
void insn_string_operand(struct insn_parse *p);
