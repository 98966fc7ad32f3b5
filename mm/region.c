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

/* Joins the range to its neighbours of the same kind; @i is the one above it. */
static bool extends(struct region_map *m, uint32_t i, uint64_t base, uint64_t len,
		    enum region_kind kind)
{
	struct region *below = i ? &m->r[i - 1] : NULL, *above = i < m->count ? &m->r[i] : NULL;
	bool joins_below = below && below->kind == kind && below->base + below->len == base;
	bool joins_above = above && above->kind == kind && above->base == base + len;

	if (joins_below)
		below->len += len;
	else if (joins_above)
		*above = (struct region){ base, len + above->len, kind };
	if (joins_below && joins_above) {
		below->len += above->len;
		m->count--;
		memmove(above, above + 1, (m->count - i) * sizeof(*above));
	}
	return joins_below || joins_above;
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
	if (extends(m, i, base, len, kind))
		return HV_OK;
	if (m->count == REGION_MAX)
		return HV_NOMEM;
	memmove(&m->r[i + 1], &m->r[i], (m->count - i) * sizeof(m->r[0]));
	m->r[i] = (struct region){ base, len, kind };
	m->count++;
	return HV_OK;
}

enum hv_status region_remove(struct region_map *m, uint64_t base, uint64_t len)
{
	struct region_map rest = { 0 };
	uint64_t end = base + len;

	if (!len || ((base | len) & (PAGE_SIZE - 1)) || end < base)
		return HV_INVAL;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct region *r = &m->r[i];
		uint64_t r_end = r->base + r->len, below = min_u64(base, r_end);
		uint64_t above = max_u64(end, r->base);

		if (rest.count + (below > r->base) + (above < r_end) > REGION_MAX)
			return HV_NOMEM;
		if (below > r->base)
			rest.r[rest.count++] = (struct region){ r->base, below - r->base, r->kind };
		if (above < r_end)
			rest.r[rest.count++] = (struct region){ above, r_end - above, r->kind };
	}
	*m = rest;
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
