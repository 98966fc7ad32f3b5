/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_insn_exec: the executor against the CPU on pseudo-random instructions
 * in 64-bit mode.  Faults, segments and the other modes: test_insn_fault.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/insn_alu.h"
#include "hv/insn_exec.h"
#include "hv/insn_string.h"
#include "tests/host/insn_native.h"
#include "tests/host/random.h"

#define RUNS 1500000u
#define MID  (NATIVE_DATA_SIZE / 2)

/* Small numbers, numbers near the sign changes, and any number. */
static uint64_t value(void)
{
	static const uint64_t edge[] = {0,	    1,		0x7f,	    0x80,
					0xff,	    0x7fff,	0x8000,	    0x7fffffff,
					0x80000000, 0xffffffff, 1ULL << 63, (1ULL << 63) - 1};

	switch (below(4)) {
	case 0:
		return below(16);
	case 1:
		return edge[below(ARRAY_SIZE(edge))] - below(2);
	default:
		return rnd();
	}
}

/* ---- memory for the executor: a copy of the data that the CPU works on ---------------------- */

static uint8_t shadow[NATIVE_DATA_SIZE];

static uint8_t *at(uint64_t linear, unsigned size)
{
	uint64_t off = linear - (uint64_t)(uintptr_t)native_data;

	if (off > NATIVE_DATA_SIZE - size)
		fail_msg("access to %lx outside of the data", linear);
	return shadow + off;
}

static enum insn_result mem_read(void *ctx, uint64_t linear, unsigned size, enum insn_intent intent,
				 uint64_t *val, struct insn_fault *f)
{
	(void)ctx, (void)intent, (void)f;
	*val = 0;
	memcpy(val, at(linear, size), size);
	return INSN_DONE;
}

static enum insn_result mem_write(void *ctx, uint64_t linear, unsigned size, uint64_t val,
				  struct insn_fault *f)
{
	(void)ctx, (void)f;
	memcpy(at(linear, size), &val, size);
	return INSN_DONE;
}

static enum insn_result mem_cmpxchg(void *ctx, uint64_t linear, unsigned size, uint64_t old[2],
				    const uint64_t new_val[2], struct insn_fault *f)
{
	uint8_t *p = at(linear, size);

	(void)ctx, (void)f;
	if (memcmp(p, old, size) || below(8) == 0) {
		memcpy(old, p, size);
		return INSN_AGAIN;
	}
	memcpy(p, new_val, size);
	return INSN_DONE;
}

static const struct insn_env with_cmpxchg = {
	.read = mem_read, .write = mem_write, .cmpxchg = mem_cmpxchg};
static const struct insn_env without_cmpxchg = {.read = mem_read, .write = mem_write};

/* ---- instructions --------------------------------------------------------------------------- */

static const uint8_t modrm_1byte[] = {0x63, 0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
				      0x8a, 0x8b, 0x8f, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff};
static const uint8_t plain_1byte[] = {0x68, 0x6a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5,
				      0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad,
				      0xae, 0xaf, 0x50, 0x58, 0x90, 0xb0, 0xb8};
static const uint8_t modrm_2byte[] = {0xa3, 0xab, 0xb3, 0xbb, 0xba, 0xba, 0xb0, 0xb1, 0xc0,
				      0xc1, 0xb6, 0xb7, 0xbe, 0xbf, 0xc3, 0xc7, 0x40, 0x90};

struct sample {
	uint8_t bytes[24];
	unsigned tail; /* offset of what follows ModRM, or the opcode if it has none */
	struct insn in;
	struct hv_regs regs;
};

static unsigned put_opcode(uint8_t *b)
{
	unsigned n = 0;
	uint8_t op;

	switch (below(5)) {
	case 0:
		b[n++] = (uint8_t)(below(8) << 3 | below(6));
		break;
	case 1:
		b[n++] = modrm_1byte[below(ARRAY_SIZE(modrm_1byte))];
		break;
	case 2:
		op = plain_1byte[below(ARRAY_SIZE(plain_1byte))];
		b[n++] = (op & 7) == 0 && op != 0xa0 && op != 0xa8 && op != 0x68
				 ? (uint8_t)(op | below(8))
				 : op;
		break;
	case 3:
		b[n++] = 0x0f;
		op = modrm_2byte[below(ARRAY_SIZE(modrm_2byte))];
		b[n++] = op == 0x40 || op == 0x90 ? (uint8_t)(op | below(16)) : op;
		break;
	default:
		if (below(3))
			return 0;
		b[n++] = 0x0f;
		b[n++] = 0x38;
		b[n++] = (uint8_t)(0xf0 | below(2));
	}
	return n;
}

static bool executable(const struct insn *in)
{
	if (in->op >= INSN_MOVS && in->op <= INSN_SCAS)
		return true;
	return in->op >= INSN_ADD && in->op <= INSN_POP;
}

static bool has_mem(const struct insn *in)
{
	return in->opnd[0].kind == INSN_OPND_MEM || in->opnd[1].kind == INSN_OPND_MEM;
}

static bool is_string(const struct insn *in)
{
	return in->op >= INSN_MOVS;
}

/* Draws bytes until they are an instruction that the executor knows. */
static void draw(struct sample *s)
{
	for (;;) {
		uint8_t *b = s->bytes;
		unsigned n = 0, opcode;

		for (unsigned i = 0; i < 24; i += 8) {
			uint64_t v = rnd();

			memcpy(b + i, &v, 8);
		}
		if (below(3) == 0)
			b[n++] = 0x66;
		if (below(4) == 0)
			b[n++] = 0x67;
		if (below(6) == 0)
			b[n++] = 0x65;
		switch (below(6)) {
		case 0:
			b[n++] = 0xf0;
			break;
		case 1:
			b[n++] = (uint8_t)(0xf2 | below(2));
			break;
		}
		if (below(3))
			b[n++] = (uint8_t)(0x40 | below(16));
		opcode = put_opcode(b + n);
		if (!opcode)
			continue;
		n += opcode;
		s->tail = n;
		if (insn_decode(b, 15, INSN_64, &s->in) || !executable(&s->in))
			continue;
		/* HLE would begin a transaction. */
		if ((memchr(b, 0xf2, n) || memchr(b, 0xf3, n)) && !is_string(&s->in))
			continue;
		return;
	}
}

/* ---- operands that lie in the data ---------------------------------------------------------- */

static uint64_t target(const struct sample *s)
{
	uint64_t off = MID + below(256);

	if (s->in.op == INSN_CMPXCHG8B)
		off &= ~15ULL;
	return (uint64_t)(uintptr_t)native_data + off;
}

static void patch(struct sample *s, unsigned off, uint64_t val, unsigned size)
{
	memcpy(s->bytes + off, &val, size);
	assert_int_equal(insn_decode(s->bytes, 15, INSN_64, &s->in), HV_OK);
}

/* Whether the bit offset is in a register that must not be changed any more. */
static bool bit_register(const struct insn *in, uint8_t *reg)
{
	*reg = in->opnd[1].reg;
	return in->op >= INSN_BT && in->op <= INSN_BTC && in->opnd[1].kind == INSN_OPND_REG;
}

static void set_bit_offset(struct sample *s)
{
	uint64_t mask = mask_bytes(s->in.opsize);
	uint64_t bit = (uint64_t)((int64_t)below(8000) - 4000);
	uint8_t reg;

	if (bit_register(&s->in, &reg))
		s->regs.gpr[reg] = (rnd() & ~mask) | (bit & mask);
}

static bool stack_is_in_data(const struct sample *s)
{
	uint64_t off = s->regs.gpr[GPR_RSP] - (uint64_t)(uintptr_t)native_data;

	return (s->in.op != INSN_PUSH && s->in.op != INSN_POP) ||
	       (off >= 8 && off < NATIVE_DATA_SIZE - 8);
}

/* Makes registers and displacement so that the operand is at the target; false: not possible. */
static bool aim(struct sample *s)
{
	struct insn_mem *m = &s->in.mem;
	bool gs = m->seg == SEG_GS;
	uint64_t want = target(s) - (gs ? NATIVE_GS_BASE : 0);
	uint64_t rest = want, mask = mask_bytes(s->in.addrsize);
	uint8_t bit_reg;
	bool bit = bit_register(&s->in, &bit_reg);

	if (m->base == INSN_NO_REG && m->index != INSN_NO_REG && !(bit && m->index == bit_reg))
		s->regs.gpr[m->index] = below(256);
	if (m->index != INSN_NO_REG)
		rest -= s->regs.gpr[m->index] * m->scale;
	if (m->base != INSN_NO_REG) {
		if (m->base == m->index || (bit && m->base == bit_reg))
			return false;
		rest -= (uint64_t)m->disp;
		if (s->in.op == INSN_POP && m->base == GPR_RSP)
			rest -= s->in.opsize;
		s->regs.gpr[m->base] = (rest & mask) | (rnd() & ~mask);
		return stack_is_in_data(s);
	}
	if (m->rip_relative) {
		patch(s, s->tail + 1, rest - (uint64_t)(uintptr_t)native_code - s->in.len, 4);
	} else if (s->in.op == INSN_MOV && (s->bytes[s->tail - 1] & 0xfc) == 0xa0) {
		patch(s, s->tail, rest, s->in.addrsize);
	} else {
		if (rest + 0x80000000u > 0xffffffffu && (s->in.addrsize == 8 || bit))
			return false;
		patch(s, s->tail + 2, rest, 4);
	}
	return true;
}

static bool prepare(struct sample *s)
{
	struct hv_regs *r = &s->regs;
	uint64_t data = (uint64_t)(uintptr_t)native_data;
	bool gs = s->in.mem.seg == SEG_GS;

	for (unsigned i = 0; i < GPR_COUNT; i++)
		r->gpr[i] = value();
	r->rflags = (rnd() & (INSN_ARITH_FLAGS | RFLAGS_DF)) | RFLAGS_ONE | RFLAGS_IF;
	r->rip = (uint64_t)(uintptr_t)native_code;
	r->gpr[GPR_RSP] = data + MID + below(512);
	if (is_string(&s->in)) {
		r->gpr[GPR_RCX] = below(40);
		r->gpr[GPR_RSI] = data + MID + below(600) - (gs ? NATIVE_GS_BASE : 0);
		r->gpr[GPR_RDI] = data + MID + below(600);
		return true;
	}
	if (!has_mem(&s->in))
		return true;
	set_bit_offset(s);
	return aim(s);
}

/* Makes comparisons succeed now and then. */
static void even_odds(struct sample *s, const struct hv_sregs *sregs)
{
	struct insn_fault f;
	uint64_t linear;

	if (below(2))
		return;
	if (is_string(&s->in)) {
		memset(native_data + MID - 512, 0x5a, 1400);
		s->regs.gpr[GPR_RAX] = 0x5a5a5a5a5a5a5a5aULL;
	} else if (s->in.op == INSN_CMPXCHG && s->in.mem.base != GPR_RAX &&
		   s->in.mem.index != GPR_RAX && has_mem(&s->in)) {
		assert_int_equal(insn_linear(&s->in, &s->regs, sregs, true, &linear, &f),
				 INSN_DONE);
		memcpy(&s->regs.gpr[GPR_RAX], (void *)(uintptr_t)linear, 8);
	} else if (s->in.op == INSN_CMPXCHG8B && s->in.mem.base != GPR_RAX &&
		   s->in.mem.index != GPR_RAX && s->in.mem.base != GPR_RDX &&
		   s->in.mem.index != GPR_RDX) {
		unsigned half = s->in.opnd[0].size / 2u;

		assert_int_equal(insn_linear(&s->in, &s->regs, sregs, true, &linear, &f),
				 INSN_DONE);
		memcpy(&s->regs.gpr[GPR_RAX], (void *)(uintptr_t)linear, half);
		memcpy(&s->regs.gpr[GPR_RDX], (void *)(uintptr_t)(linear + half), half);
	}
}

/* ---- comparison ----------------------------------------------------------------------------- */

static uint64_t undefined_flags(const struct insn *in)
{
	switch (in->op) {
	case INSN_AND:
	case INSN_OR:
	case INSN_XOR:
	case INSN_TEST:
		return RFLAGS_AF;
	case INSN_BT:
	case INSN_BTS:
	case INSN_BTR:
	case INSN_BTC:
		return RFLAGS_OF | RFLAGS_SF | RFLAGS_AF | RFLAGS_PF;
	default:
		return 0;
	}
}

static void explain(const struct sample *s, const struct hv_regs *ours, const struct hv_regs *cpu)
{
	fprintf(stderr, "op %u:", s->in.op);
	for (unsigned i = 0; i < s->in.len; i++)
		fprintf(stderr, " %02x", s->bytes[i]);
	fprintf(stderr, "\n");
	for (unsigned i = 0; i < GPR_COUNT; i++) {
		if (ours->gpr[i] != cpu->gpr[i])
			fprintf(stderr, "  r%u: before %lx ours %lx cpu %lx\n", i, s->regs.gpr[i],
				ours->gpr[i], cpu->gpr[i]);
	}
	fprintf(stderr, "  flags: before %lx ours %lx cpu %lx\n", s->regs.rflags, ours->rflags,
		cpu->rflags);
	for (unsigned i = 0; i < NATIVE_DATA_SIZE; i++) {
		if (shadow[i] != native_data[i])
			fprintf(stderr, "  data[%x]: ours %x cpu %x\n", i, shadow[i],
				native_data[i]);
	}
	fail_msg("differs from the CPU");
}

static void compare(const struct sample *s, const struct hv_sregs *sregs)
{
	const struct insn_env *env = below(2) ? &with_cmpxchg : &without_cmpxchg;
	struct hv_regs ours = s->regs, cpu = s->regs;
	struct insn_fault f;
	enum insn_result res;

	memcpy(shadow, native_data, sizeof(shadow));
	native_run(s->bytes, s->in.len, &cpu);
	do {
		res = insn_exec(&s->in, &ours, sregs, env, below(64), &f);
	} while (res == INSN_AGAIN);
	assert_int_equal(res, INSN_DONE);
	assert_int_equal(ours.rip, s->regs.rip + s->in.len);
	/* CPUs differ in whether a count of zero in ECX clears upper halves. */
	if (is_string(&s->in) && s->in.addrsize == 4 && !insn_string_count(&s->in, &s->regs))
		memcpy(cpu.gpr, ours.gpr, sizeof(cpu.gpr));
	if (memcmp(ours.gpr, cpu.gpr, sizeof(cpu.gpr)) ||
	    (ours.rflags ^ cpu.rflags) & ~undefined_flags(&s->in) ||
	    memcmp(shadow, native_data, sizeof(shadow)))
		explain(s, &ours, &cpu);
}

static void agrees_with_the_cpu(void **state)
{
	static struct hv_sregs sregs;
	unsigned per_op[INSN_OP_COUNT] = {0};

	(void)state;
	sregs.seg[SEG_GS].base = NATIVE_GS_BASE;
	for (unsigned i = 0; i < RUNS; i++) {
		struct sample s;

		if (i % 64 == 0) {
			for (unsigned n = 0; n < NATIVE_DATA_SIZE; n += 8) {
				uint64_t v = value();

				memcpy(native_data + n, &v, 8);
			}
		}
		draw(&s);
		if (!prepare(&s))
			continue;
		even_odds(&s, &sregs);
		compare(&s, &sregs);
		per_op[s.in.op]++;
	}
	for (unsigned op = INSN_ADD; op <= INSN_SCAS; op++) {
		if (op < INSN_CALL || op > INSN_JMP_FAR)
			assert_true(per_op[op] > 500);
	}
}

static int setup(void **s)
{
	(void)s;
	return native_setup();
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(agrees_with_the_cpu),
	};
	return cmocka_run_group_tests_name("insn_exec", t, setup, NULL);
}
