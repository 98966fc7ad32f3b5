/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn_cache: the length of the instruction that exited last.
 *
 * A CPU that does not tell the next RIP makes us fetch and decode through the
 * guest's page tables.  What that read is kept here, word by word; when the
 * same instruction exits again, the same words in the same paging mode prove the
 * same length.  Nothing is assumed: a word that has changed, in a page table or
 * in the instruction, makes it a miss, and so does a newer flush generation,
 * after which the pointers might be dead.
 * On the vCPU's CPU, between exits.
 */
#pragma once

#include "hv/guest_mem.h"
#include "hv/state.h"

struct vcpu;

struct insn_cache_key {
	uint64_t rip, cs_base, cr0, cr3, cr4, efer, cs_attr;
};

#define INSN_CACHE_WORDS 5 /* four levels of page tables, and the instruction */

struct insn_cache {
	uint8_t len; /* 0: nothing is cached */
	uint8_t words;
	uint64_t gen;
	struct insn_cache_key key;
	struct guest_mem_word word[INSN_CACHE_WORDS];
};

/* The length, or 0; @gen: the generation that the vCPU has acknowledged. */
static inline unsigned insn_cache_len(const struct insn_cache *c, const struct insn_cache_key *k,
				      uint64_t gen)
{
	if (c->key.rip != k->rip || c->key.cr3 != k->cr3 || c->key.cs_base != k->cs_base ||
	    c->key.cr0 != k->cr0 || c->key.cr4 != k->cr4 || c->key.efer != k->efer ||
	    c->key.cs_attr != k->cs_attr || c->gen != gen)
		return 0;
	return guest_mem_words_are(c->word, c->words) ? c->len : 0;
}

/* While the slow way reads: forgets what was, notes the 8-byte entry at @gpa, ... */
void insn_cache_begin(struct vcpu *v);
void insn_cache_note(struct vcpu *v, gpa_t gpa, unsigned size, uint64_t entry);
/* ... and keeps it all for the instruction of @len bytes at @gpa. */
void insn_cache_end(struct vcpu *v, const struct hv_sregs *s, gpa_t gpa, unsigned len);
