/* SPDX-License-Identifier: BSD-2-Clause */
/* age: which pages a VM has used since it was last asked.  Pure. */
#include "mm/age.h"

#include "mm/npte_edge.h"

/* True: it has been used since it was last aged. */
static bool age_one(struct npt *n, uint64_t *e, unsigned shift)
{
	const struct npt_fmt *f = n->fmt;
	enum npte_edge edge = f->accessed ? EDGE_CLEAR_A : EDGE_AGE;
	uint64_t v, new;

	do {
		v = npt_load(e);
		if (!npte_present(v) || !npte_is_leaf(f, v, shift))
			return false;
		if (f->accessed ? !(v & f->accessed) : npte_is_aged(f, v))
			return false;
		new = f->accessed ? v & ~f->accessed : npte_aged(f, v);
	} while (!npte_cas(n, edge, shift, e, v, new));
	return true;
}

static void note(uint16_t *used, uint64_t first_span, gpa_t gpa, unsigned shift)
{
	uint64_t span = (gpa.v >> NPT_SHIFT_2M) - first_span;

	if (shift == NPT_SHIFT_4K)
		used[span]++;
	else
		for (uint64_t i = 0; i < BIT64(shift - NPT_SHIFT_2M); i++)
			used[span + i] = NPT_ENTRIES;
}

uint64_t age_range(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len, uint16_t *used)
{
	uint64_t at = gpa.v, end = gpa.v + len, pages = 0;
	struct npt_run run;

	if (used)
		memset(used, 0, ((align_up(end, BIT64(NPT_SHIFT_2M)) >> NPT_SHIFT_2M) -
				 (at >> NPT_SHIFT_2M)) * sizeof(*used));
	while (npt_next_run(n, &at, end, &run)) {
		for (uint64_t i = 0; i < run.count; i++) {
			gpa_t page = GPA(run.gpa.v + (i << run.shift));

			/* A large leaf across an end belongs to the range that it begins in. */
			if (page.v < gpa.v || page.v + BIT64(run.shift) > end ||
			    !age_one(n, &run.e[i], run.shift))
				continue;
			pages += BIT64(run.shift - PAGE_SHIFT);
			if (used)
				note(used, gpa.v >> NPT_SHIFT_2M, page, run.shift);
		}
	}
	/* Not waited for: each vCPU drops its translations when it enters next. */
	flush_begin(f);
	return pages;
}
