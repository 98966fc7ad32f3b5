/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_fast: the faults that one compare-and-swap resolves.  Pure. */
#include "mm/fault_fast.h"

#include "mm/dirty.h"
#include "mm/npte_edge.h"

static enum fault_fast swap(const struct npt *n, enum npte_edge edge, const struct npt_walk *w,
			    uint64_t new, struct dirty_log *log, gpa_t gpa)
{
	if (!npte_cas(n, edge, w->shift, w->e, w->v, new))
		return FAST_SPURIOUS;
	/* Only now, or the harvester could take the bit and leave the permission. */
	if (log)
		dirty_mark(log, gpa);
	return edge == EDGE_GRANT ? FAST_WRITE : FAST_ACCESS;
}

static enum fault_fast unage(const struct npt *n, const struct npt_walk *w, gpa_t gpa, bool write)
{
	struct dirty_log *log = dirty_log_of(n);

	if (write && (!(w->v & NPTE_MW) || (log && w->shift > NPT_SHIFT_4K)))
		return FAST_NONE;
	return swap(n, EDGE_UNAGE, w, npte_unaged(n->fmt, w->v, (w->v & NPTE_MW) && (!log || write)),
		    write ? log : NULL, gpa);
}

enum fault_fast fault_fast(const struct npt *n, gpa_t gpa, unsigned access, struct npt_walk *w,
			   uint64_t gen)
{
	const struct npt_fmt *f = n->fmt;
	bool write = access & NPT_WRITE;
	struct dirty_log *log;

	if (gpa.v >> NPT_GPA_BITS)
		return FAST_NONE;
	npt_walk(n, w, gpa, gen);
	if (!npte_present(w->v) || ((access & NPT_EXEC) && !(npte_perms(f, w->v) & NPT_EXEC)))
		return FAST_NONE;
	if (npte_is_aged(f, w->v))
		return unage(n, w, gpa, write);
	if (!write || (w->v & f->write))
		return FAST_SPURIOUS;
	log = dirty_log_of(n);
	/* A large leaf under a log is split first. */
	if (!(w->v & NPTE_MW) || (log && w->shift > NPT_SHIFT_4K))
		return FAST_NONE;
	return swap(n, EDGE_GRANT, w, w->v | f->write, log, gpa);
}
