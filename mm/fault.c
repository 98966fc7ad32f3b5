/* SPDX-License-Identifier: BSD-2-Clause */
/* fault: resolution of nested page faults.  Pure. */
#include "mm/fault.h"

/* One leaf of 2^shift bytes; HV_EXIST means that somebody else was faster, or smaller. */
static enum hv_status fill(struct npt *npt, gpa_t gpa, unsigned shift, const struct fault_env *env)
{
	unsigned order = shift - PAGE_SHIFT;
	hpa_t hpa = env->alloc_frames(env->ctx, order);
	enum hv_status st;

	if (!hpa_valid(hpa))
		return HV_NOMEM;
	env->clear_frames(env->ctx, hpa, order);
	st = npt_map(npt, GPA(align_down(gpa.v, BIT64(shift))), hpa, shift, NPT_RWX);
	if (st)
		env->free_frames(env->ctx, hpa, order);
	else
		env->account(env->ctx, BIT64(shift));
	return st;
}

enum fault_result fault_resolve(struct npt *npt, const struct region_map *regions, gpa_t gpa,
				unsigned max_leaf_shift, const struct fault_env *env)
{
	const struct region *r = region_find(regions, gpa);
	enum hv_status st;
	unsigned shift, room;

	if (!r || r->kind != REGION_RAM)
		return FAULT_DEVICE;
	shift = region_leaf_shift(r, gpa,
				  max_leaf_shift < npt->fmt->max_leaf_shift ?
					  max_leaf_shift :
					  npt->fmt->max_leaf_shift);
	for (;; shift -= 9) {
		/* Another CPU may have filled it, or a part of what is around it. */
		room = npt_room(npt, gpa);
		if (!room)
			return FAULT_RESOLVED;
		if (shift > room)
			shift = room;
		st = fill(npt, gpa, shift, env);
		if (!st)
			return FAULT_RESOLVED;
		/* A smaller leaf needs less memory, and fits beside what is there. */
		if (shift > NPT_SHIFT_4K)
			continue;
		/* The last frame may have gone to another CPU's fault on this very page. */
		return st == HV_NOMEM && npt_room(npt, gpa) ? FAULT_NOMEM : FAULT_RESOLVED;
	}
}
