/* SPDX-License-Identifier: BSD-2-Clause */
/* fault: resolution of nested page faults.  Pure. */
#include "mm/fault.h"

#include "mm/dirty.h"
#include "mm/fault_fast.h"
#include "mm/npt_split.h"
#include "mm/npte_edge.h"

struct fault {
	struct npt *npt;
	gpa_t gpa;
	unsigned access;
	struct dirty_log *log;
	const struct fault_env *env;
};

/* One leaf of 2^shift bytes; HV_EXIST means that somebody else was faster, or smaller. */
static enum hv_status fill(const struct fault *f, const struct npt_walk *w, unsigned shift)
{
	/* Under a log, what is only read stays write-protected, unless D bits tell of writes. */
	bool write = !f->log || f->log->mode != DIRTY_PROTECT || f->access & NPT_WRITE;
	const struct fault_env *env = f->env;
	unsigned order = shift - PAGE_SHIFT;
	enum hv_status st = HV_OK;
	uint64_t *e = w->e, leaf;
	bool is_clear;
	hpa_t hpa;

	/* First, or without a table the frame would have been cleared for nothing. */
	if (w->shift != shift)
		st = npt_reach(f->npt, f->gpa, shift, &e);
	if (!st)
		st = env->alloc_frames(env->ctx, order, &hpa, &is_clear);
	if (st)
		return st;
	if (!is_clear)
		env->clear_frames(env->ctx, hpa, order);
	leaf = npte_leaf(f->npt->fmt, hpa, shift, write ? NPT_RWX : NPT_READ | NPT_EXEC, true);
	if (!npte_cas(f->npt, EDGE_INSTALL, shift, e, NPTE_EMPTY, leaf)) {
		env->free_frames(env->ctx, hpa, order);
		return HV_EXIST;
	}
	if (f->log && f->access & NPT_WRITE)
		dirty_mark(f->log, f->gpa);
	env->account(env->ctx, BIT64(shift));
	return HV_OK;
}

/* Something is there: a large leaf that the log wants smaller, or what another CPU did. */
static enum fault_result present(const struct fault *f, const struct npt_walk *w)
{
	const struct npt_fmt *fmt = f->npt->fmt;

	if (f->log && w->shift > NPT_SHIFT_4K && f->access & NPT_WRITE && !(w->v & fmt->write) &&
	    npt_split(f->npt, w->e, w->shift, w->v,
		      f->log->mode != DIRTY_PROTECT && !npte_is_aged(fmt, w->v)) == HV_NOMEM)
		return FAULT_REFILL;
	fault_fast(f->npt, f->gpa, f->access, &(struct npt_walk){ 0 }, 0);
	return FAULT_RESOLVED;
}

static unsigned largest(const struct fault *f, const struct region *r, unsigned max)
{
	if (f->log)
		return NPT_SHIFT_4K;
	return region_leaf_shift(r, f->gpa, max < f->npt->fmt->max_leaf_shift ?
						    max : f->npt->fmt->max_leaf_shift);
}

enum fault_result fault_resolve(struct npt *npt, const struct region_map *regions, gpa_t gpa,
				unsigned access, unsigned max_leaf_shift,
				const struct fault_env *env, const struct npt_walk *start)
{
	const struct fault f = { npt, gpa, access, dirty_log_of(npt), env };
	const struct region *r = region_find(regions, gpa);
	struct npt_walk w = { 0 };
	enum hv_status st = HV_OK;
	unsigned shift;

	if (!r || r->kind != REGION_RAM)
		return FAULT_DEVICE;
	if (start)
		w = *start;
	for (shift = largest(&f, r, max_leaf_shift);; shift -= 9) {
		/* Another CPU may have filled it, or a part of what is around it. */
		if (!start || st)
			w.e = npt_find(npt, gpa, &w.shift, &w.v);
		if (npte_present(w.v))
			return present(&f, &w);
		if (w.v != NPTE_EMPTY)
			return FAULT_RESOLVED;
		if (st && shift < NPT_SHIFT_4K)
			return st == HV_EXIST ? FAULT_RESOLVED : FAULT_REFILL;
		if (shift > w.shift)
			shift = w.shift;
		st = fill(&f, &w, shift);
		if (!st)
			return FAULT_RESOLVED;
		if (st == HV_RETRY) /* of the stock: the pool may have a large one */
			return FAULT_REFILL;
		/* A smaller leaf needs less memory, and fits beside what is there. */
	}
}
