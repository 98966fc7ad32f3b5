/* SPDX-License-Identifier: BSD-2-Clause */
/* npte_edge: the table of legal edges.  Pure. */
#include "mm/npte_edge.h"

#include "hv/assert.h"
#include "mm/audit.h"

#define S(state) BIT(NPTE_##state)

static const struct {
	const char *name;
	uint16_t from, to;
	bool same_frame, owed;
} edges[EDGE_COUNT] = {
#define X(name, from, to, frame, owed) [EDGE_##name] = {#name, from, to, frame, owed},
	NPTE_EDGES(X)
#undef X
};

#ifdef HV_TEST
void (*npte_step)(uint64_t *e);
#endif

const char *npte_edge_name(enum npte_edge edge)
{
	return edges[edge].name;
}

bool npte_edge_legal(const struct npt_fmt *f, enum npte_edge edge, unsigned shift, uint64_t old,
		     uint64_t new)
{
	return (edges[edge].from & BIT(npte_state(f, old, shift))) &&
	       (edges[edge].to & BIT(npte_state(f, new, shift))) &&
	       (!edges[edge].same_frame || npte_hpa(f, old).v == npte_hpa(f, new).v);
}

#ifdef HV_DEBUG
void npte_edge_taken(const struct npt *n, enum npte_edge edge, unsigned shift, uint64_t old,
		     uint64_t new)
{
	HV_ASSERT(npte_edge_legal(n->fmt, edge, shift, old, new));
	if (edges[edge].owed && npte_present(old))
		audit_restricted(n->audit);
}
#endif
