/* SPDX-License-Identifier: BSD-2-Clause */
/* npt: the nested page-table engine.  Pure. */
#include "mm/npt.h"

#include "mm/npte_edge.h"

enum hv_status npt_create(struct npt *n, const struct npt_fmt *fmt, const struct npt_env *env)
{
	n->fmt = fmt;
	n->env = env;
	n->log = NULL;
	n->root = env->alloc_table(env->ctx);
	return n->root ? HV_OK : HV_NOMEM;
}

/* The loser of a race frees its own. */
enum hv_status npt_descend(struct npt *n, uint64_t *e, unsigned shift, uint64_t **table)
{
	uint64_t v = npt_load(e), *t;

	if (v == NPTE_EMPTY) {
		t = n->env->alloc_table(n->env->ctx);
		if (!t)
			return HV_NOMEM;
		if (npte_cas(n, EDGE_LINK, shift, e, NPTE_EMPTY,
			     npte_table(n->fmt, npt_table_hpa(n, t)))) {
			*table = t;
			return HV_OK;
		}
		n->env->free_table(n->env->ctx, t);
		v = npt_load(e);
	}
	if (!npte_present(v) || npte_is_leaf(n->fmt, v, shift))
		return HV_EXIST;
	*table = npt_table_of(n, v);
	return HV_OK;
}

enum hv_status npt_reach(struct npt *n, gpa_t gpa, unsigned shift, uint64_t **e)
{
	uint64_t *t = n->root;
	enum hv_status st;

	if (gpa.v >> NPT_GPA_BITS)
		return HV_RANGE;
	for (unsigned s = NPT_ROOT_SHIFT; s > shift; s -= 9) {
		st = npt_descend(n, &t[npt_index(gpa, s)], s, &t);
		if (st)
			return st;
	}
	*e = &t[npt_index(gpa, shift)];
	return HV_OK;
}

enum hv_status npt_map(struct npt *n, gpa_t gpa, unsigned shift, uint64_t leaf)
{
	uint64_t *e;
	enum hv_status st = npt_reach(n, gpa, shift, &e);

	if (st)
		return st;
	return npte_cas(n, EDGE_INSTALL, shift, e, NPTE_EMPTY, leaf) ? HV_OK : HV_EXIST;
}

uint64_t *npt_parent(const struct npt *n, gpa_t gpa, uint64_t *value)
{
	uint64_t *t = n->root;

	for (unsigned s = NPT_ROOT_SHIFT;; s -= 9) {
		uint64_t *e = &t[npt_index(gpa, s)];

		*value = npt_load(e);
		if (!npte_present(*value) || npte_is_leaf(n->fmt, *value, s))
			return NULL;
		if (s == NPT_SHIFT_2M)
			return e;
		t = npt_table_of(n, *value);
	}
}

bool npt_lookup(const struct npt *n, gpa_t gpa, struct npt_leaf *leaf)
{
	unsigned shift;
	uint64_t v;

	if (gpa.v >> NPT_GPA_BITS)
		return false;
	npt_find(n, gpa, &shift, &v);
	if (!npte_present(v))
		return false;
	*leaf = (struct npt_leaf){ npte_hpa(n->fmt, v), (uint8_t)shift,
				   (uint8_t)npte_perms(n->fmt, v) };
	return true;
}

bool npt_next_run(const struct npt *n, uint64_t *at, uint64_t end, struct npt_run *run)
{
	while (*at < end) {
		unsigned shift;
		uint64_t v, *e = npt_find(n, GPA(*at), &shift, &v);
		uint64_t next = align_down(*at, BIT64(shift)) + BIT64(shift);

		if (shift > NPT_SHIFT_4K && v == NPTE_EMPTY) {
			*at = next;
			continue;
		}
		*run = (struct npt_run){ e, 1, GPA(align_down(*at, BIT64(shift))), shift };
		if (shift == NPT_SHIFT_4K) {
			next = min_u64(align_down(*at, BIT64(NPT_SHIFT_2M)) + BIT64(NPT_SHIFT_2M),
				       end);
			run->count = (next - run->gpa.v) >> NPT_SHIFT_4K;
		}
		*at = next;
		return true;
	}
	return false;
}

/* Depth-first with an explicit stack: a table is freed once its entries are done. */
void npt_destroy(struct npt *n, npt_leaf_fn fn, void *arg)
{
	uint64_t *table[4] = { n->root };
	unsigned i[4] = { 0 }, depth = 0;

	if (!n->root)
		return;
	for (;;) {
		unsigned shift = NPT_ROOT_SHIFT - 9 * depth;
		uint64_t e;

		if (i[depth] == NPT_ENTRIES) {
			n->env->free_table(n->env->ctx, table[depth]);
			if (!depth--)
				break;
			continue;
		}
		e = table[depth][i[depth]++];
		if (!npte_present(e))
			continue;
		if (npte_is_leaf(n->fmt, e, shift)) {
			fn(arg, &(struct npt_leaf){ npte_hpa(n->fmt, e), (uint8_t)shift,
						    (uint8_t)npte_perms(n->fmt, e) });
			continue;
		}
		table[++depth] = npt_table_of(n, e);
		i[depth] = 0;
	}
	n->root = NULL;
}
