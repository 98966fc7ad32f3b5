/* SPDX-License-Identifier: BSD-2-Clause */
/* npt: the nested page-table engine.  Pure. */
#include "mm/npt.h"

#define ROOT_SHIFT 39
#define ENTRIES	   512

static uint64_t load(const uint64_t *e)
{
	return __atomic_load_n(e, __ATOMIC_ACQUIRE);
}

static bool replace(uint64_t *e, uint64_t old, uint64_t new)
{
	return __atomic_compare_exchange_n(e, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static unsigned index_at(gpa_t gpa, unsigned shift)
{
	return gpa.v >> shift & (ENTRIES - 1);
}

static uint64_t *table_of(const struct npt *n, uint64_t e)
{
	return n->env->to_ptr(npte_hpa(n->fmt, e));
}

enum hv_status npt_create(struct npt *n, const struct npt_fmt *fmt, const struct npt_env *env)
{
	*n = (struct npt){ .fmt = fmt, .env = env, .root = env->alloc_table(env->ctx) };
	return n->root ? HV_OK : HV_NOMEM;
}

/* The table below *e, made if there is none.  The loser of a race frees its own. */
static enum hv_status descend(struct npt *n, uint64_t *e, unsigned shift, uint64_t **table)
{
	uint64_t v = load(e), *t;

	if (v == NPTE_EMPTY) {
		t = n->env->alloc_table(n->env->ctx);
		if (!t)
			return HV_NOMEM;
		if (replace(e, NPTE_EMPTY, npte_table(n->fmt, n->env->to_hpa(t)))) {
			*table = t;
			return HV_OK;
		}
		n->env->free_table(n->env->ctx, t);
		v = load(e);
	}
	if (!npte_present(n->fmt, v) || npte_is_leaf(n->fmt, v, shift))
		return HV_EXIST;
	*table = table_of(n, v);
	return HV_OK;
}

enum hv_status npt_map(struct npt *n, gpa_t gpa, hpa_t hpa, unsigned shift, unsigned perms)
{
	uint64_t *t = n->root;
	enum hv_status st;

	if (gpa.v >> NPT_GPA_BITS)
		return HV_RANGE;
	for (unsigned s = ROOT_SHIFT; s > shift; s -= 9) {
		st = descend(n, &t[index_at(gpa, s)], s, &t);
		if (st)
			return st;
	}
	return replace(&t[index_at(gpa, shift)], NPTE_EMPTY, npte_leaf(n->fmt, hpa, shift, perms)) ?
		       HV_OK :
		       HV_EXIST;
}

bool npt_lookup(const struct npt *n, gpa_t gpa, struct npt_leaf *leaf)
{
	const uint64_t *t = n->root;

	if (gpa.v >> NPT_GPA_BITS)
		return false;
	for (unsigned s = ROOT_SHIFT;; s -= 9) {
		uint64_t e = load(&t[index_at(gpa, s)]);

		if (!npte_present(n->fmt, e))
			return false;
		if (npte_is_leaf(n->fmt, e, s)) {
			*leaf = (struct npt_leaf){ npte_hpa(n->fmt, e), (uint8_t)s,
						   (uint8_t)npte_perms(n->fmt, e) };
			return true;
		}
		t = table_of(n, e);
	}
}

unsigned npt_room(const struct npt *n, gpa_t gpa)
{
	const uint64_t *t = n->root;

	if (gpa.v >> NPT_GPA_BITS)
		return 0;
	for (unsigned s = ROOT_SHIFT;; s -= 9) {
		uint64_t e = load(&t[index_at(gpa, s)]);

		if (e == NPTE_EMPTY)
			return s;
		if (!npte_present(n->fmt, e) || npte_is_leaf(n->fmt, e, s))
			return 0;
		t = table_of(n, e);
	}
}

/*
 * The first entry at or after *gpa (below @end) that is neither empty nor a
 * table, moving *gpa to what it maps; NULL when there is none.  Descends from
 * the root each time: removal is rare and the code stays flat.
 */
static uint64_t *next_entry(const struct npt *n, uint64_t *gpa, uint64_t end, unsigned *shift)
{
	while (*gpa < end) {
		uint64_t *t = n->root, e;
		unsigned s = ROOT_SHIFT;

		for (;; s -= 9) {
			e = load(&t[index_at(GPA(*gpa), s)]);
			if (!npte_present(n->fmt, e) || npte_is_leaf(n->fmt, e, s))
				break;
			t = table_of(n, e);
		}
		if (e != NPTE_EMPTY) {
			*shift = s;
			return &t[index_at(GPA(*gpa), s)];
		}
		*gpa = align_down(*gpa, BIT64(s)) + BIT64(s);
	}
	return NULL;
}

uint64_t npt_freeze(struct npt *n, gpa_t gpa, uint64_t len, npt_leaf_fn fn, void *arg)
{
	uint64_t at = gpa.v, end = gpa.v + len, count = 0, *e;
	unsigned shift;

	while ((e = next_entry(n, &at, end, &shift))) {
		/* XCHG: the accessed and dirty bits may change until the very end. */
		uint64_t old = __atomic_exchange_n(e, NPTE_FROZEN, __ATOMIC_ACQ_REL);

		if (npte_present(n->fmt, old)) {
			fn(arg, &(struct npt_leaf){ npte_hpa(n->fmt, old), (uint8_t)shift,
						    (uint8_t)npte_perms(n->fmt, old) });
			count++;
		}
		at = align_down(at, BIT64(shift)) + BIT64(shift);
	}
	return count;
}

void npt_thaw(struct npt *n, gpa_t gpa, uint64_t len)
{
	uint64_t at = gpa.v, end = gpa.v + len, *e;
	unsigned shift;

	while ((e = next_entry(n, &at, end, &shift))) {
		if (load(e) == NPTE_FROZEN)
			__atomic_store_n(e, NPTE_EMPTY, __ATOMIC_RELEASE);
		at = align_down(at, BIT64(shift)) + BIT64(shift);
	}
}

/* Depth-first with an explicit stack: a table is freed once its entries are done. */
void npt_destroy(struct npt *n, npt_leaf_fn fn, void *arg)
{
	uint64_t *table[4] = { n->root };
	unsigned i[4] = { 0 }, depth = 0;

	if (!n->root)
		return;
	for (;;) {
		unsigned shift = ROOT_SHIFT - 9 * depth;
		uint64_t e;

		if (i[depth] == ENTRIES) {
			n->env->free_table(n->env->ctx, table[depth]);
			if (!depth--)
				break;
			continue;
		}
		e = table[depth][i[depth]++];
		if (!npte_present(n->fmt, e))
			continue;
		if (npte_is_leaf(n->fmt, e, shift)) {
			fn(arg, &(struct npt_leaf){ npte_hpa(n->fmt, e), (uint8_t)shift,
						    (uint8_t)npte_perms(n->fmt, e) });
			continue;
		}
		table[++depth] = table_of(n, e);
		i[depth] = 0;
	}
	n->root = NULL;
}
