/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bus: sorted range map of a VM's ports or MMIO addresses.
 *
 * Called from: VM construction (bus_add), exit path (all others).  Locks: none;
 * the map is constant once the VM runs.  Pure (tests/host/test_bus.c).
 */
#include "hv/bus.h"

void bus_init(struct bus *b)
{
	b->count = 0;
}

/* Index of the first range that ends above @addr, or count. */
static unsigned first_above(const struct bus *b, uint64_t addr)
{
	unsigned lo = 0, hi = b->count;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		const struct bus_range *r = &b->range[mid];

		if (r->base + (r->len - 1) < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The range that holds @addr, or NULL. */
static const struct bus_range *find(const struct bus *b, uint64_t addr)
{
	unsigned i = first_above(b, addr);

	return i < b->count && b->range[i].base <= addr ? &b->range[i] : NULL;
}

enum hv_status bus_add(struct bus *b, uint64_t base, uint64_t len, const struct dev_ops *ops,
		       void *dev)
{
	unsigned i;

	if (!len || base + (len - 1) < base)
		return HV_RANGE;
	i = first_above(b, base);
	if (i < b->count && b->range[i].base <= base + (len - 1))
		return HV_EXIST;
	if (b->count == BUS_RANGES)
		return HV_NOMEM;
	memmove(&b->range[i + 1], &b->range[i], (b->count - i) * sizeof(b->range[0]));
	b->range[i] = (struct bus_range){.base = base, .len = len, .ops = ops, .dev = dev};
	b->count++;
	return HV_OK;
}

/* True when @r holds all of [addr, addr + size). */
static bool holds(const struct bus_range *r, uint64_t addr, unsigned size)
{
	return r && r->len - (addr - r->base) >= size;
}

/* True when a range holds any byte of [addr, addr + size). */
static bool touches(const struct bus *b, uint64_t addr, unsigned size)
{
	uint64_t last = addr + (size - 1);
	unsigned i = first_above(b, addr);

	if (last < addr)
		last = ~0ULL;
	return i < b->count && b->range[i].base <= last;
}

uint64_t bus_read(const struct bus *b, uint64_t addr, unsigned size)
{
	const struct bus_range *r = find(b, addr);
	uint64_t v = 0;

	if (holds(r, addr, size))
		return r->ops->read(r->dev, addr - r->base, size) & mask_bytes(size);
	if (!touches(b, addr, size))
		return mask_bytes(size);
	for (unsigned i = 0; i < size; i++) {
		/* Past the top of the address space nothing answers. */
		r = addr + i < addr ? NULL : find(b, addr + i);
		v |= (r ? r->ops->read(r->dev, addr + i - r->base, 1) & 0xff : 0xff) << (i * 8);
	}
	return v;
}

void bus_write(const struct bus *b, uint64_t addr, unsigned size, uint64_t val)
{
	const struct bus_range *r = find(b, addr);

	if (holds(r, addr, size)) {
		r->ops->write(r->dev, addr - r->base, size, val & mask_bytes(size));
		return;
	}
	if (!touches(b, addr, size))
		return;
	for (unsigned i = 0; i < size; i++) {
		r = addr + i < addr ? NULL : find(b, addr + i);
		if (r)
			r->ops->write(r->dev, addr + i - r->base, 1, val >> (i * 8) & 0xff);
	}
}

bool bus_claims(const struct bus *b, uint64_t addr)
{
	return find(b, addr) != NULL;
}
