/* SPDX-License-Identifier: BSD-2-Clause */
/* npt_remove: taking leaves away from a running VM.  Pure. */
#include "mm/npt_remove.h"

#include "mm/dirty.h"
#include "mm/npt_split.h"
#include "mm/npte_edge.h"

struct removal {
	struct npt *n;
	struct flush *f;
	struct dirty_log *log;
	npt_leaf_fn fn;
	void *arg;
	uint64_t pages;
};

static uint64_t freeze(struct npt *n, uint64_t *e, unsigned shift, uint64_t v)
{
	while (!npte_cas(n, EDGE_FREEZE, shift, e, v, NPTE_FROZEN))
		v = npt_load(e);
	return v;
}

/* @unused too: an empty entry is frozen as well, so that nobody fills it. */
static void take(struct removal *r, uint64_t *e, unsigned shift, gpa_t gpa, bool unused)
{
	uint64_t v = npt_load(e);

	if (v == NPTE_FROZEN || (v == NPTE_EMPTY && !unused))
		return;
	v = freeze(r->n, e, shift, v);
	if (v == NPTE_EMPTY)
		return;
	r->pages += BIT64(shift - PAGE_SHIFT);
	/* What was there reads as zero from now on: that is a change like any other. */
	if (r->log)
		dirty_mark_range(r->log, gpa, BIT64(shift));
	r->fn(r->arg, &(struct npt_leaf){ npte_hpa(r->n->fmt, v), (uint8_t)shift,
					  (uint8_t)npte_perms(r->n->fmt, v) });
}

static void take_run(struct removal *r, const struct npt_run *run, bool unused)
{
	for (uint64_t i = 0; i < run->count; i++)
		take(r, &run->e[i], run->shift, GPA(run->gpa.v + (i << run->shift)), unused);
}

/* Unlinks the table that @run is all of: walkers may still hold it, so it is retired. */
static void take_table(struct removal *r, const struct npt_run *run)
{
	struct npt *n = r->n;
	uint64_t value, *parent = npt_parent(n, run->gpa, &value);

	while (!npte_cas(n, EDGE_DETACH, NPT_SHIFT_2M, parent, value, NPTE_FROZEN))
		value = npt_load(parent);
	take_run(r, run, true);
	flush_retire(r->f, FLUSH_TABLE, npte_hpa(n->fmt, value), 0);
}

static void freeze_range(struct removal *r, uint64_t at, uint64_t end)
{
	struct npt_run run;

	while (npt_next_run(r->n, &at, end, &run))
		if (run.count == NPT_ENTRIES)
			take_table(r, &run);
		else
			take_run(r, &run, false);
}

static void empty_range(struct npt *n, uint64_t at, uint64_t end)
{
	struct npt_run run;

	while (npt_next_run(n, &at, end, &run))
		for (uint64_t i = 0; i < run.count; i++)
			if (npt_load(&run.e[i]) == NPTE_FROZEN)
				npte_store(n, EDGE_EMPTY, run.shift, &run.e[i], NPTE_EMPTY);
}

enum hv_status npt_remove(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len, npt_leaf_fn fn,
			  void *arg, uint64_t *count)
{
	struct removal r = { .n = n, .f = f, .log = dirty_log_of(n), .fn = fn, .arg = arg };
	uint64_t end = gpa.v + len;
	enum hv_status st = npt_split_at(n, gpa);

	if (!st && end < BIT64(NPT_GPA_BITS))
		st = npt_split_at(n, GPA(end));
	if (st)
		return st;
	freeze_range(&r, gpa.v, end);
	flush_wait(f, flush_begin(f));
	empty_range(n, gpa.v, end);
	*count = r.pages;
	return HV_OK;
}

/* ---- moving ------------------------------------------------------------------- */

#define BATCH 32 /* pages for one flush */

struct batch {
	unsigned count;
	struct {
		uint64_t *e, was;
		hpa_t to;
	} page[BATCH];
};

/* Nobody can write to the old frames any more: neither the CPU nor we in root mode. */
static unsigned finish(struct npt *n, struct flush *f, const struct npt_move_env *env,
		       struct batch *b)
{
	unsigned moved = b->count;

	if (!moved)
		return 0;
	flush_wait_for_root(f, flush_begin(f));
	for (unsigned i = 0; i < moved; i++) {
		hpa_t from = npte_hpa(n->fmt, b->page[i].was);

		env->copy(env->ctx, b->page[i].to, from);
		npte_store(n, EDGE_REFILL, NPT_SHIFT_4K, b->page[i].e,
			   (b->page[i].was & ~n->fmt->addr) | b->page[i].to.v);
		flush_retire(f, FLUSH_FRAMES, from, 0);
	}
	b->count = 0;
	return moved;
}

static enum hv_status move_one(struct npt *n, const struct npt_move_env *env, uint64_t *e,
			       struct batch *b)
{
	uint64_t v = npt_load(e);
	hpa_t to;

	if (!npte_present(v))
		return HV_OK;
	to = env->alloc(env->ctx);
	if (!hpa_valid(to))
		return HV_NOMEM;
	b->page[b->count].e = e;
	b->page[b->count].was = freeze(n, e, NPT_SHIFT_4K, v);
	b->page[b->count++].to = to;
	return HV_OK;
}

/* Makes the next 4 KiB leaves reachable as a run. */
static enum hv_status split_run(struct npt *n, const struct npt_run *run)
{
	uint64_t v = npt_load(run->e);

	if (!npte_present(v))
		return HV_OK;
	return npt_split(n, run->e, run->shift, v, false) == HV_NOMEM ? HV_NOMEM : HV_RETRY;
}

enum hv_status npt_move(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			const struct npt_move_env *env, uint64_t *count)
{
	uint64_t at = gpa.v, end = gpa.v + len, from = at;
	struct batch b = { .count = 0 };
	enum hv_status st = HV_OK;
	struct npt_run run;

	*count = 0;
	for (; !st && npt_next_run(n, &at, end, &run); from = at) {
		if (run.shift > NPT_SHIFT_4K) {
			st = split_run(n, &run);
			if (st == HV_RETRY) {
				at = from;
				st = HV_OK;
			}
			continue;
		}
		for (uint64_t i = 0; !st && i < run.count; i++) {
			st = move_one(n, env, &run.e[i], &b);
			if (st || b.count == BATCH)
				*count += finish(n, f, env, &b);
		}
	}
	*count += finish(n, f, env, &b);
	return st;
}
