/* SPDX-License-Identifier: BSD-2-Clause */
/* dirty: the log of written pages.  Pure. */
#include "mm/dirty.h"

#include "mm/npt_split.h"
#include "mm/npte_edge.h"

#define WORD_PAGES 64
#define WORD_SHIFT (PAGE_SHIFT + 6)

void dirty_mark_range(struct dirty_log *log, gpa_t gpa, uint64_t len)
{
	for (uint64_t at = align_down(gpa.v, PAGE_SIZE); at < gpa.v + len; at += PAGE_SIZE)
		dirty_mark(log, GPA(at));
}

/* ---- on and off ------------------------------------------------------------------ */

/* Takes W or D from a leaf; false: it had none, as no entry has that is not present. */
static bool take(struct npt *n, enum npte_edge edge, unsigned shift, uint64_t *e, uint64_t right)
{
	uint64_t v;

	do {
		v = npt_load(e);
		if (!(v & right) || !npte_is_leaf(n->fmt, v, shift))
			return false;
	} while (!npte_cas(n, edge, shift, e, v, v & ~right));
	return true;
}

/*
 * Of 64 entries of a lowest table, those that @among names: the next write to them
 * leaves a mark from now on; after the flush, that is.
 */
static void arm_word(struct npt *n, const struct dirty_log *log, uint64_t *e, uint64_t among)
{
	bool protect = log->mode == DIRTY_PROTECT;
	enum npte_edge edge = protect ? EDGE_PROTECT : EDGE_CLEAR_D;
	uint64_t right = protect ? n->fmt->write : n->fmt->dirty;

	for (; among; among &= among - 1)
		take(n, edge, NPT_SHIFT_4K, &e[__builtin_ctzll(among)], right);
}

static void arm_run(struct npt *n, const struct dirty_log *log, const struct npt_run *run)
{
	if (run->shift > NPT_SHIFT_4K)
		take(n, EDGE_PROTECT, run->shift, run->e, n->fmt->write);
	else
		for (uint64_t i = 0; i < run->count; i += WORD_PAGES)
			arm_word(n, log, &run->e[i], ~0ULL);
}

enum hv_status dirty_enable(struct npt *n, struct flush *f, struct dirty_log *log, bool eager)
{
	uint64_t at = 0, from = 0, end = log->pages << PAGE_SHIFT;
	enum hv_status st = HV_OK;
	struct npt_run run;

	if (n->log)
		return HV_EXIST;
	__atomic_store_n(&n->log, log, __ATOMIC_RELEASE);
	/* Whoever looked before that may yet install a writable leaf. */
	flush_wait_for_root(f, flush_begin(f));
	for (; npt_next_run(n, &at, end, &run); from = at) {
		enum hv_status split = eager && !st ? npt_split_run(n, &run) : HV_OK;

		if (split == HV_RETRY) {
			at = from;
			continue;
		}
		st = split ? split : st;
		arm_run(n, log, &run);
	}
	flush_wait(f, flush_begin(f));
	return st;
}

struct dirty_log *dirty_disable(struct npt *n, struct flush *f)
{
	struct dirty_log *log = n->log;

	if (!log)
		return NULL;
	__atomic_store_n(&n->log, NULL, __ATOMIC_RELEASE);
	flush_wait_for_root(f, flush_begin(f));
	return log;
}

/* ---- harvest ----------------------------------------------------------------------- */

/* The 64 entries of the lowest table for the word at @gpa, or NULL. */
static uint64_t *entries_of(const struct npt *n, struct npt_walk *w, gpa_t gpa)
{
	npt_walk(n, w, gpa, 0); /* no table goes away under the mutation lock */
	return w->shift == NPT_SHIFT_4K ? w->e : NULL;
}

/* Which of 64 entries have D. */
static uint64_t look_for_d(const struct npt *n, const uint64_t *e)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < WORD_PAGES; i++)
		if (npt_load(&e[i]) & n->fmt->dirty)
			bits |= BIT64(i);
	return bits;
}

/* Likewise, and they lose it. */
static uint64_t take_d(struct npt *n, uint64_t *e)
{
	const uint64_t dirty = n->fmt->dirty;
	uint64_t bits = 0;

	for (uint64_t bit = 1; bit; bit <<= 1, e++)
		if (take(n, EDGE_CLEAR_D, NPT_SHIFT_4K, e, dirty))
			bits |= bit;
	return bits;
}

/* One word of the log: the bit first, then the permission (or D) that lets it stay set. */
static uint64_t harvest_word(struct npt *n, struct dirty_log *log, struct npt_walk *w, gpa_t gpa,
			     unsigned flags, uint64_t named)
{
	uint64_t *word = &log->bits[gpa.v >> WORD_SHIFT], *e, bits;
	bool get = flags & DIRTY_GET, clear = flags & DIRTY_CLEAR;
	bool search = get && log->mode == DIRTY_DBIT;

	if (get) {
		bits = __atomic_load_n(word, __ATOMIC_SEQ_CST);
		if (bits && clear)
			bits = __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST);
	} else {
		__atomic_fetch_and(word, ~named, __ATOMIC_SEQ_CST);
		bits = named;
	}
	if (!bits && !search)
		return 0;
	e = clear || search ? entries_of(n, w, gpa) : NULL;
	if (!e)
		return bits;
	if (search)
		return bits | (clear ? take_d(n, e) : look_for_d(n, e));
	arm_word(n, log, e, bits);
	return bits;
}

/* How many bits of @v are set; not every CPU has POPCNT, and we have no libgcc. */
static uint64_t ones(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555;
	v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return v * 0x0101010101010101 >> 56;
}

/* With a PML buffer per vCPU: what is in them is in the log after every vCPU has left. */
static void drain(struct flush *f)
{
	flush_wait(f, flush_begin(f));
}

enum hv_status dirty_harvest(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			     unsigned flags, uint64_t *bitmap, uint64_t *count)
{
	struct dirty_log *log = n->log;
	uint64_t words = len >> WORD_SHIFT;
	struct npt_walk w = { .table = NULL };

	if (!log)
		return HV_NOENT;
	if ((gpa.v | len) & (BIT64(WORD_SHIFT) - 1) || !flags || flags & ~(DIRTY_GET | DIRTY_CLEAR))
		return HV_INVAL;
	if (gpa.v >> PAGE_SHIFT > log->pages || len >> PAGE_SHIFT > log->pages - (gpa.v >> PAGE_SHIFT))
		return HV_RANGE;
	if (log->mode == DIRTY_PML)
		drain(f);
	*count = 0;
	for (uint64_t i = 0; i < words; i++) {
		bitmap[i] = harvest_word(n, log, &w, GPA(gpa.v + (i << WORD_SHIFT)), flags,
					 bitmap[i]);
		*count += ones(bitmap[i]);
	}
	/* Also when no bit was set: somebody else may owe a flush for what we found cleared. */
	if (flags & DIRTY_CLEAR)
		flush_wait(f, flush_begin(f));
	return HV_OK;
}
