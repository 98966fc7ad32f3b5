/* SPDX-License-Identifier: BSD-2-Clause */
/* region: what a VM's guest-physical addresses mean.  Pure. */
#include "mm/region.h"

#define GPA_LIMIT BIT64(48)

/* Index of the first region that ends above @gpa. */
static uint32_t lower_bound(const struct region_map *m, uint64_t gpa)
{
	uint32_t lo = 0, hi = m->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->r[mid].base + m->r[mid].len > gpa)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

enum hv_status region_add(struct region_map *m, uint64_t base, uint64_t len, enum region_kind kind)
{
	uint32_t i;

	if (!len || ((base | len) & (PAGE_SIZE - 1)))
		return HV_INVAL;
	if (base >= GPA_LIMIT || len > GPA_LIMIT - base)
		return HV_RANGE;
	i = lower_bound(m, base);
	if (i < m->count && m->r[i].base < base + len)
		return HV_EXIST;
	if (m->count == REGION_MAX)
		return HV_NOMEM;
	memmove(&m->r[i + 1], &m->r[i], (m->count - i) * sizeof(m->r[0]));
	m->r[i] = (struct region){ base, len, kind };
	m->count++;
	return HV_OK;
}

const struct region *region_find(const struct region_map *m, gpa_t gpa)
{
	uint32_t i = lower_bound(m, gpa.v);

	return i < m->count && m->r[i].base <= gpa.v ? &m->r[i] : NULL;
}

unsigned region_leaf_shift(const struct region *r, gpa_t gpa, unsigned max_shift)
{
	for (unsigned shift = 30; shift > 12; shift -= 9) {
		uint64_t start = align_down(gpa.v, BIT64(shift));

		if (shift <= max_shift && start >= r->base &&
		    start + BIT64(shift) <= r->base + r->len)
			return shift;
	}
	return 12;
}
