/* SPDX-License-Identifier: BSD-2-Clause */
/* insn_cache: the length of the instruction that exited last. */
#include "hv/insn_cache.h"

#include "hv/vm.h"

void insn_cache_begin(struct vcpu *v)
{
	v->insn_cache.len = v->insn_cache.words = 0;
	/* No generation is this one: a miss until insn_cache_end(). */
	v->insn_cache.gen = 0;
}

static void add(struct vcpu *v, gpa_t gpa, uint64_t value, uint64_t mask)
{
	struct insn_cache *c = &v->insn_cache;

	if (c->words < INSN_CACHE_WORDS &&
	    guest_mem_word(v->vm, gpa, value, mask, &c->word[c->words]))
		c->words++;
	else
		c->words = INSN_CACHE_WORDS + 1; /* not to be cached */
}

void insn_cache_note(struct vcpu *v, gpa_t gpa, unsigned size, uint64_t entry)
{
	if (size == sizeof(uint64_t))
		add(v, gpa, entry, ~0ULL);
	else
		v->insn_cache.words = INSN_CACHE_WORDS + 1;
}

void insn_cache_end(struct vcpu *v, const struct hv_sregs *s, gpa_t gpa, unsigned len)
{
	struct insn_cache *c = &v->insn_cache;
	uint64_t bytes;

	if (len > sizeof(bytes) || guest_mem_read(v->vm, gpa, &bytes, sizeof(bytes)))
		return;
	add(v, gpa, bytes & mask_bytes(len), mask_bytes(len));
	if (c->words > INSN_CACHE_WORDS)
		return;
	c->key = (struct insn_cache_key){ v->regs.rip, s->seg[SEG_CS].base, s->cr0, s->cr3, s->cr4,
					  s->efer, s->seg[SEG_CS].attr };
	c->gen = flush_acked(&v->vm->flush, v->index);
	c->len = (uint8_t)len;
}
