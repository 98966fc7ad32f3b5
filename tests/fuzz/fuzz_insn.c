/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_insn: any bytes through the decoder in every mode, and what it accepts
 * through the executor, with registers, segments and memory from the input too.
 *
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_insn.c \
 *	hv/insn_{decode,table,operand,addr,alu,exec,string}.c tests/host/hosted.c -o fuzz_insn
 */
#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/insn_exec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *data;
	size_t size, pos;
};

static void take(struct source *s, void *out, size_t n)
{
	size_t have = s->size - s->pos < n ? s->size - s->pos : n;

	memset(out, 0, n);
	memcpy(out, s->data + s->pos, have);
	s->pos += have;
}

static enum insn_result answer(struct source *s, struct insn_fault *f)
{
	uint8_t b;

	take(s, &b, 1);
	if (b < 0xf0)
		return INSN_DONE;
	*f = (struct insn_fault){.vector = VEC_PF, .has_error = true};
	return (enum insn_result)(b & 3);
}

static enum insn_result mem_read(void *ctx, uint64_t linear, unsigned size, enum insn_intent intent,
				 uint64_t *val, struct insn_fault *f)
{
	(void)linear, (void)intent;
	HV_ASSERT(size == 1 || size == 2 || size == 4 || size == 8);
	take(ctx, val, 8);
	return answer(ctx, f);
}

static enum insn_result mem_write(void *ctx, uint64_t linear, unsigned size, uint64_t val,
				  struct insn_fault *f)
{
	(void)linear;
	HV_ASSERT(size == 1 || size == 2 || size == 4 || size == 8);
	HV_ASSERT(!(val & ~mask_bytes(size)));
	return answer(ctx, f);
}

static enum insn_result mem_cmpxchg(void *ctx, uint64_t linear, unsigned size, uint64_t old[2],
				    const uint64_t new_val[2], struct insn_fault *f)
{
	(void)linear, (void)new_val;
	HV_ASSERT(size == 1 || size == 2 || size == 4 || size == 8 || size == 16);
	take(ctx, old, size);
	return answer(ctx, f);
}

static void execute(const struct insn *in, struct source *src)
{
	struct insn_env env = {.ctx = src, .read = mem_read, .write = mem_write};
	struct hv_sregs sregs;
	struct hv_regs regs, before;
	struct insn_fault fault;
	enum insn_result res;
	uint8_t choice;

	take(src, &choice, 1);
	take(src, &regs, sizeof(regs));
	take(src, &sregs, sizeof(sregs));
	if (choice & 1)
		env.cmpxchg = mem_cmpxchg;
	before = regs;
	res = insn_exec(in, &regs, &sregs, &env, choice, &fault);
	if (res == INSN_DONE)
		HV_ASSERT(!(regs.rflags & RFLAGS_RF));
	else
		HV_ASSERT(regs.rip == before.rip && regs.rflags == before.rflags);
	if (res != INSN_DONE && !insn_repeats(in))
		HV_ASSERT(!memcmp(&before, &regs, sizeof(regs)));
}

static void decode(const uint8_t *data, size_t size, enum insn_mode mode)
{
	size_t len = size < INSN_MAX_LEN ? size : INSN_MAX_LEN;
	uint8_t *exact = malloc(len + 1);
	struct insn in, again;
	enum hv_status st;

	if (!exact)
		return;
	memcpy(exact + 1, data, len);
	st = insn_decode(exact + 1, len, mode, &in);
	HV_ASSERT(st == HV_OK || st == HV_INVAL || st == HV_NOTSUP ||
		  (st == HV_RETRY && len < INSN_MAX_LEN));
	if (st == HV_OK) {
		struct source src = {.data = data, .size = size, .pos = in.len};

		HV_ASSERT(in.len > 0 && in.len <= len);
		HV_ASSERT(insn_decode(exact + 1, in.len - 1U, mode, &again) == HV_RETRY);
		execute(&in, &src);
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode(data, size, INSN_16);
	decode(data, size, INSN_32);
	decode(data, size, INSN_64);
	return 0;
}
