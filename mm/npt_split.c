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
	for (;;) {
		unsigned shift;
		uint64_t v, *e = npt_find(n, gpa, &shift, &v);

		if (!npte_present(v) || !(gpa.v & (BIT64(shift) - 1)))
			return HV_OK;
		if (npt_split(n, e, shift, v, false) == HV_NOMEM)
			return HV_NOMEM;
	}
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

static void freeze_children(struct npt *n, uint64_t *t, uint64_t *was)
{
	for (unsigned i = 0; i < NPT_ENTRIES; i++)
		do
			was[i] = npt_load(&t[i]);
		while (!npte_cas(n, EDGE_FREEZE, NPT_SHIFT_4K, &t[i], was[i], NPTE_FROZEN));
}

static void restore(struct npt *n, uint64_t *parent, uint64_t value, uint64_t *t,
		    const uint64_t *was)
{
	for (unsigned i = 0; i < NPT_ENTRIES; i++)
		npte_store(n, EDGE_RESTORE, NPT_SHIFT_4K, &t[i], was[i]);
	npte_store(n, EDGE_ATTACH, NPT_SHIFT_2M, parent, value);
}

bool npt_promote(struct npt *n, struct flush *f, gpa_t gpa)
{
	uint64_t value, *parent = npt_parent(n, gpa, &value), *t, leaf;
	/* Not on the stack: 4 KiB.  The mutation lock is per VM, a table page is not. */
	uint64_t *was;

	if (!parent)
		return false;
	t = npt_table_of(n, value);
	if (!fits(n->fmt, t))
		return false;
	was = n->env->alloc_table(n->env->ctx);
	if (!was)
		return false;
	/* The CPU may set the table entry's own accessed bit at any time. */
	while (!npte_cas(n, EDGE_DETACH, NPT_SHIFT_2M, parent, value, NPTE_FROZEN))
		value = npt_load(parent);
	freeze_children(n, t, was);
	flush_wait(f, flush_begin(f));
	if (fits(n->fmt, was)) {
		leaf = was[0] | n->fmt->large | n->fmt->write;
		for (unsigned i = 1; i < NPT_ENTRIES; i++)
			leaf |= was[i] & joined(n->fmt);
		npte_store(n, EDGE_MERGE, NPT_SHIFT_2M, parent, leaf);
		flush_retire(f, FLUSH_TABLE, npt_table_hpa(n, t), 0);
	} else {
		restore(n, parent, value, t, was);
		parent = NULL;
	}
	n->env->free_table(n->env->ctx, was);
	return parent;
}
