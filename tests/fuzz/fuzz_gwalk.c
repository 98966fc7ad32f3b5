/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_gwalk: any page tables, control registers and accesses through the walk.
 *
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_gwalk.c \
 *	hv/gwalk.c tests/host/hosted.c -o fuzz_gwalk
 */
#include <string.h>

#include "hv/assert.h"
#include "hv/gwalk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Entries come from the input in the order of reads, whatever their address. */
struct source {
	const uint8_t *data;
	size_t size, pos;
	uint8_t maxphyaddr;
};

static void take(struct source *s, void *out, size_t n)
{
	size_t have = s->size - s->pos < n ? s->size - s->pos : n;

	memset(out, 0, n);
	memcpy(out, s->data + s->pos, have);
	s->pos += have;
}

static enum hv_status read_entry(void *ctx, gpa_t gpa, unsigned size, uint64_t *entry)
{
	struct source *s = ctx;

	HV_ASSERT(!(gpa.v & (size - 1)) && !(gpa.v >> s->maxphyaddr));
	*entry = 0;
	take(s, entry, size);
	return s->pos < s->size ? HV_OK : HV_FAULT;
}

static enum hv_status swap_entry(void *ctx, gpa_t gpa, unsigned size, uint64_t old,
				 uint64_t new_val)
{
	struct source *s = ctx;
	uint8_t b;

	HV_ASSERT(!(gpa.v & (size - 1)));
	HV_ASSERT((old | 0x60) == (new_val | 0x60) && old & 1 && old != new_val);
	take(s, &b, 1);
	return b & 1 ? HV_OK : HV_RETRY;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source src = {.data = data, .size = size};
	struct gwalk_env env = {.ctx = &src, .read = read_entry, .cmpxchg = swap_entry};
	struct {
		uint64_t linear, rflags, cr0, cr3, cr4, efer;
		uint8_t access, maxphyaddr, page1g;
	} in;
	struct hv_sregs s = {.cr0 = 0};
	struct gwalk_result r;
	enum hv_status st;

	take(&src, &in, sizeof(in));
	s.cr0 = in.cr0;
	s.cr3 = in.cr3;
	s.cr4 = in.cr4;
	/* IA-32e mode has PAE. */
	s.efer = in.cr4 & CR4_PAE ? in.efer : in.efer & ~EFER_LMA;
	src.maxphyaddr = (uint8_t)(32 + in.maxphyaddr % 21);
	env.maxphyaddr = src.maxphyaddr;
	env.page1g = in.page1g & 1;
	st = gwalk(&env, &s, in.rflags, in.linear, in.access & 0xf, &r);
	HV_ASSERT(st == HV_OK || st == HV_FAULT || st == HV_RETRY);
	if (st == HV_OK) {
		HV_ASSERT(r.left && r.left <= GIB);
		HV_ASSERT(!((r.gpa.v ^ in.linear) & 0xfff));
		HV_ASSERT(!((r.gpa.v + r.left) & 0xfff));
	}
	return 0;
}
