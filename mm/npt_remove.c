/* SPDX-License-Identifier: BSD-2-Clause */
/* npt_remove: taking leaves away from a running VM.  Pure. */
#include "mm/npt_remove.h"

#include "mm/dirty.h"
#include "mm/npt_split.h"
#include "mm/npte_edge.h"

/* Frames side by side, retired as one: one by one would be most of what a removal costs. */
struct gathered {
	struct flush *f;
	uint64_t from, to;
	uint64_t retired; /* pages, all in all */
};

static void gathered_retire(struct gathered *g)
{
	uint64_t pages = (g->to - g->from) >> PAGE_SHIFT;

	if (pages)
		flush_retire(g->f, FLUSH_FRAMES, HPA(g->from), pages);
	g->retired += pages;
}

static void gather(struct gathered *g, hpa_t hpa, uint64_t len)
{
	if (hpa.v != g->to) {
		gathered_retire(g);
		g->from = hpa.v;
	}
	g->to = hpa.v + len;
}

struct removal {
	struct npt *n;
	struct dirty_log *log;
	struct gathered frames;
};

/*
 * @unused too: an empty entry is frozen as well, so that nobody fills it.  False:
 * a fault has split the leaf meanwhile, look again.  Inlined once for pages, of
 * which a removal has most: there nothing is asked again for each.
 */
static inline __attribute__((always_inline)) bool take_entries(struct removal *r,
							       const struct npt_run *run,
							       unsigned shift, bool unused)
{
	const struct npt *n = r->n;
	const uint64_t len = BIT64(shift), addr = n->fmt->addr;
	struct dirty_log *log = r->log;
	uint64_t *e = run->e, *end = e + run->count;

	for (gpa_t gpa = run->gpa; e < end; e++, gpa.v += len) {
		uint64_t v = npt_load(e);

		if (v == NPTE_FROZEN || (v == NPTE_EMPTY && !unused))
			continue;
		v = npte_freeze(n, shift, e, v);
		if (npte_is_table(n->fmt, v, shift))
			return false;
		if (v == NPTE_EMPTY)
			continue;
		/* What was there reads as zero from now on: that is a change like any other. */
		if (log)
			dirty_mark_range(log, gpa, len);
		gather(&r->frames, HPA(v & addr), len);
	}
	return true;
}

static bool take_run(struct removal *r, const struct npt_run *run, bool unused)
{
	return run->shift == NPT_SHIFT_4K ? take_entries(r, run, NPT_SHIFT_4K, unused) :
					    take_entries(r, run, run->shift, unused);
}

/* Unlinks the table that @run is all of: walkers may still hold it, so it is retired. */
static void take_table(struct removal *r, const struct npt_run *run)
{
	struct npt *n = r->n;
	uint64_t value, *parent = npt_parent(n, run->gpa, &value);

	while (!npte_cas(n, EDGE_DETACH, NPT_SHIFT_2M, parent, value, NPTE_FROZEN))
		value = npt_load(parent);
	take_run(r, run, true);
	flush_retire(r->frames.f, FLUSH_TABLE, npte_hpa(n->fmt, value), 1);
}

static void freeze_range(struct removal *r, uint64_t at, uint64_t end)
{
	struct npt_run run;

	while (npt_next_run(r->n, &at, end, &run))
		if (run.count == NPT_ENTRIES)
			take_table(r, &run);
		else if (!take_run(r, &run, false))
			at = run.gpa.v;
}

/* Under the mutation lock every FROZEN entry in the range is ours. */
static void empty_range(struct npt *n, uint64_t at, uint64_t end)
{
	struct npt_run run;

	while (npt_next_run(n, &at, end, &run))
		for (uint64_t i = 0; i < run.count; i++)
			if (npt_load(&run.e[i]) == NPTE_FROZEN)
				npte_store(n, EDGE_EMPTY, run.shift, &run.e[i], NPTE_EMPTY);
}

enum hv_status npt_remove(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			  uint64_t *count)
{
	struct removal r = { .n = n, .log = dirty_log_of(n), .frames = { .f = f } };
	uint64_t end = gpa.v + len;
	enum hv_status st = npt_split_at(n, gpa);

	if (!st && end < BIT64(NPT_GPA_BITS))
		st = npt_split_at(n, GPA(end));
	if (st)
		return st;
	freeze_range(&r, gpa.v, end);
	gathered_retire(&r.frames);
	flush_wait(f, flush_begin(f));
	empty_range(n, gpa.v, end);
	*count = r.frames.retired;
	return HV_OK;
}

/* ---- moving ------------------------------------------------------------------- */

#define BATCH 32 /* pages for one flush */

struct batch {
	struct gathered old;
	unsigned count;
	struct {
		uint64_t *e, was;
		hpa_t to;
	} page[BATCH];
};

/* Nobody can write to the old frames any more: neither the CPU nor we in root mode. */
static void finish(struct npt *n, struct flush *f, const struct npt_move_env *env,
		   struct batch *b)
{
	if (!b->count)
		return;
	flush_wait_for_root(f, flush_begin(f));
	for (unsigned i = 0; i < b->count; i++) {
		hpa_t from = npte_hpa(n->fmt, b->page[i].was);

		env->copy(env->ctx, b->page[i].to, from);
		npte_store(n, EDGE_REFILL, NPT_SHIFT_4K, b->page[i].e,
			   (b->page[i].was & ~n->fmt->addr) | b->page[i].to.v);
		gather(&b->old, from, PAGE_SIZE);
	}
	b->count = 0;
}

static enum hv_status move_one(struct npt *n, const struct npt_move_env *env, uint64_t *e,
			       struct batch *b)
{
	hpa_t to;

	if (!npte_present(npt_load(e)))
		return HV_OK;
	to = env->alloc(env->ctx);
	if (!hpa_valid(to))
		return HV_NOMEM;
	b->page[b->count].e = e;
	b->page[b->count].was = npte_freeze(n, NPT_SHIFT_4K, e, npt_load(e));
	b->page[b->count++].to = to;
	return HV_OK;
}

enum hv_status npt_move(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			const struct npt_move_env *env, uint64_t *count)
{
	uint64_t at = gpa.v, end = gpa.v + len, from = at;
	struct batch b = { .old = { .f = f } };
	enum hv_status st = HV_OK;
	struct npt_run run;

	for (; !st && npt_next_run(n, &at, end, &run); from = at) {
		st = npt_split_run(n, &run);
		if (st == HV_RETRY) {
			at = from;
			st = HV_OK;
			continue;
		}
		if (run.shift > NPT_SHIFT_4K)
			continue;
		for (uint64_t i = 0; !st && i < run.count; i++) {
			st = move_one(n, env, &run.e[i], &b);
			if (st || b.count == BATCH)
				finish(n, f, env, &b);
		}
	}
	finish(n, f, env, &b);
	gathered_retire(&b.old);
	*count = b.old.retired;
	return st;
}
