/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_fast: the faults that one compare-and-swap resolves.  Pure. */
#include "mm/fault_fast.h"

#include "mm/dirty.h"
#include "mm/npte_edge.h"

enum fault_fast fault_fast(const struct npt *n, gpa_t gpa, unsigned access)
{
	const struct npt_fmt *f = n->fmt;
	struct dirty_log *log = dirty_log_of(n);
	enum fault_fast result;
	uint64_t v, new, *e;
	unsigned shift;

	if (gpa.v >> NPT_GPA_BITS)
		return FAST_NONE;
	e = npt_find(n, gpa, &shift, &v);
	if (!npte_present(v) || access & ~(npte_perms(f, v) | NPT_WRITE))
		return FAST_NONE;
	if (access & NPT_WRITE) {
		if (v & f->write)
			return FAST_SPURIOUS;
		/* A large leaf under a log is split first. */
		if (!(v & NPTE_MW) || (log && shift > NPT_SHIFT_4K))
			return FAST_NONE;
	}
	if (npte_is_aged(f, v)) {
		new = npte_unaged(f, v, (v & NPTE_MW) && (!log || access & NPT_WRITE));
		result = FAST_ACCESS;
	} else if (access & NPT_WRITE) {
		new = v | f->write;
		result = FAST_WRITE;
	} else {
		return FAST_SPURIOUS;
	}
	if (!npte_cas(n, result == FAST_ACCESS ? EDGE_UNAGE : EDGE_GRANT, shift, e, v, new))
		return FAST_SPURIOUS;
	/* Only now, or the harvester could take the bit and leave the permission. */
	if (log && access & NPT_WRITE)
		dirty_mark(log, gpa);
	return result;
}
