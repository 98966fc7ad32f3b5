/* SPDX-License-Identifier: BSD-2-Clause */
/* npt_split: large leaves into tables of smaller ones, and back.  Pure. */
#include "mm/npt_split.h"

#include "mm/npte_edge.h"

static uint64_t child_of(const struct npt_fmt *f, uint64_t parent, unsigned shift, unsigned i,
			 bool grant)
{
	uint64_t c = parent + ((uint64_t)i << shift);

	if (shift == NPT_SHIFT_4K)
		c &= ~f->large;
	if (grant)
		c = (c | f->write) & ~f->dirty;
	return c;
}

enum hv_status npt_split(struct npt *n, uint64_t *e, unsigned shift, uint64_t old, bool grant)
{
	uint64_t *t = n->env->alloc_table(n->env->ctx);

	if (!t)
		return HV_NOMEM;
	for (unsigned i = 0; i < NPT_ENTRIES; i++)
		t[i] = child_of(n->fmt, old, shift - 9, i, grant);
	/* A bit that the CPU sets meanwhile makes this fail: the children would not have it. */
	if (npte_cas(n, EDGE_SPLIT, shift, e, old, npte_table(n->fmt, npt_table_hpa(n, t))))
		return HV_OK;
	n->env->free_table(n->env->ctx, t);
	return HV_RETRY;
}

enum hv_status npt_split_at(struct npt *n, gpa_t gpa)
{
	enum hv_status st = HV_OK;

	while (st != HV_NOMEM) {
		unsigned shift;
		uint64_t v, *e = npt_find(n, gpa, &shift, &v), *t;

		if (!(gpa.v & (BIT64(shift) - 1)))
			return HV_OK;
		st = npte_present(v) ? npt_split(n, e, shift, v, false) : npt_descend(n, e, shift, &t);
	}
	return st;
}

enum hv_status npt_split_run(struct npt *n, const struct npt_run *run)
{
	uint64_t v = npt_load(run->e);

	if (run->shift == NPT_SHIFT_4K || !npte_present(v))
		return HV_OK;
	if (npte_is_leaf(n->fmt, v, run->shift) &&
	    npt_split(n, run->e, run->shift, v, false) == HV_NOMEM)
		return HV_NOMEM;
	return HV_RETRY;
}

/* Bits in which the pages of a span may differ; without a log all may be writable. */
static uint64_t joined(const struct npt_fmt *f)
{
	return f->accessed | f->dirty | f->write;
}

static bool fits(const struct npt_fmt *f, const uint64_t *child)
{
	uint64_t first = npt_load(&child[0]) & ~joined(f);

	if (!npte_present(first) || npte_is_aged(f, first) || !(first & NPTE_MW) ||
	    npte_hpa(f, first).v & (BIT64(NPT_SHIFT_2M) - 1))
		return false;
	for (unsigned i = 1; i < NPT_ENTRIES; i++)
		if ((npt_load(&child[i]) & ~joined(f)) != first + ((uint64_t)i << NPT_SHIFT_4K))
			return false;
	return true;
}

/* A span that is being joined. */
struct join {
	uint64_t *parent, value; /* its table entry, and what that was */
	uint64_t *table;
	uint64_t *was; /* the children before: not on the stack, it is 4 KiB */
};

static void freeze(struct npt *n, struct join *j)
{
	/* The CPU may set the table entry's own accessed bit at any time. */
	while (!npte_cas(n, EDGE_DETACH, NPT_SHIFT_2M, j->parent, j->value, NPTE_FROZEN))
		j->value = npt_load(j->parent);
	for (unsigned i = 0; i < NPT_ENTRIES; i++)
		j->was[i] = npte_freeze(n, NPT_SHIFT_4K, &j->table[i], npt_load(&j->table[i]));
}

/* False: nothing has changed. */
static bool begin_join(struct npt *n, gpa_t gpa, struct join *j)
{
	j->parent = npt_parent(n, gpa, &j->value);
	if (!j->parent)
		return false;
	j->table = npt_table_of(n, j->value);
	if (!fits(n->fmt, j->table))
		return false;
	j->was = n->env->alloc_table(n->env->ctx);
	if (!j->was)
		return false;
	freeze(n, j);
	return true;
}

static void restore(struct npt *n, const struct join *j)
{
	for (unsigned i = 0; i < NPT_ENTRIES; i++)
		npte_store(n, EDGE_RESTORE, NPT_SHIFT_4K, &j->table[i], j->was[i]);
	npte_store(n, EDGE_ATTACH, NPT_SHIFT_2M, j->parent, j->value);
}

/* No CPU translates by the children any more. */
static bool end_join(struct npt *n, struct flush *f, const struct join *j)
{
	bool fit = fits(n->fmt, j->was);
	uint64_t leaf;

	if (fit) {
		leaf = j->was[0] | n->fmt->large | n->fmt->write;
		for (unsigned i = 1; i < NPT_ENTRIES; i++)
			leaf |= j->was[i] & joined(n->fmt);
		npte_store(n, EDGE_MERGE, NPT_SHIFT_2M, j->parent, leaf);
		flush_retire(f, FLUSH_TABLE, npt_table_hpa(n, j->table), 1);
	} else {
		restore(n, j);
	}
	n->env->free_table(n->env->ctx, j->was);
	return fit;
}

uint64_t npt_promote(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len)
{
	const uint64_t span = BIT64(NPT_SHIFT_2M);
	uint64_t at = align_up(gpa.v, span), end = gpa.v + len, joined_spans = 0;
	struct join batch[8];

	while (at + span <= end) {
		unsigned count = 0;

		for (; at + span <= end && count < ARRAY_SIZE(batch); at += span)
			count += begin_join(n, GPA(at), &batch[count]);
		if (count)
			flush_wait(f, flush_begin(f));
		for (unsigned i = 0; i < count; i++)
			joined_spans += end_join(n, f, &batch[i]);
	}
	return joined_spans;
}
