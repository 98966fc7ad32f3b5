/* SPDX-License-Identifier: BSD-2-Clause */
/* buddy: a binary buddy allocator over page-frame numbers.  Pure. */
#include "mm/buddy.h"

#include "hv/assert.h"

enum { HOLE = 0, FREE_HEAD, USED_HEAD, INNER };

void buddy_init(struct buddy *b, struct buddy_meta *meta, uint64_t base, uint64_t count)
{
	HV_ASSERT(!(base & (BIT64(BUDDY_ORDERS - 1) - 1)));
	HV_ASSERT(count < UINT32_MAX - 1);
	*b = (struct buddy){ .meta = meta, .base = base, .count = count };
}

static void push(struct buddy *b, uint64_t i, unsigned order)
{
	struct buddy_meta *m = &b->meta[i];

	*m = (struct buddy_meta){ .next = b->head[order], .order = (uint8_t)order, .state = FREE_HEAD };
	if (m->next)
		b->meta[m->next - 1].prev = (uint32_t)i + 1;
	b->head[order] = (uint32_t)i + 1;
	b->free += BIT64(order);
}

static void unlink(struct buddy *b, uint64_t i)
{
	struct buddy_meta *m = &b->meta[i];

	if (m->prev)
		b->meta[m->prev - 1].next = m->next;
	else
		b->head[m->order] = m->next;
	if (m->next)
		b->meta[m->next - 1].prev = m->prev;
	m->state = INNER;
	b->free -= BIT64(m->order);
}

/* Puts a block on its list, merged with its buddy as often as that is free. */
static void release(struct buddy *b, uint64_t i, unsigned order)
{
	b->meta[i].state = INNER;
	while (order + 1 < BUDDY_ORDERS) {
		uint64_t mate = i ^ BIT64(order);

		if (mate + BIT64(order) > b->count || b->meta[mate].state != FREE_HEAD ||
		    b->meta[mate].order != order)
			break;
		unlink(b, mate);
		i &= ~BIT64(order);
		order++;
	}
	push(b, i, order);
}

/* Of the largest block that begins at @i and is no longer than @n. */
static unsigned block_order(uint64_t i, uint64_t n)
{
	unsigned order = i ? (unsigned)__builtin_ctzll(i) : BUDDY_ORDERS - 1;

	if (order > BUDDY_ORDERS - 1)
		order = BUDDY_ORDERS - 1;
	while (BIT64(order) > n)
		order--;
	return order;
}

void buddy_add(struct buddy *b, uint64_t pfn, uint64_t n)
{
	uint64_t i = pfn - b->base;

	HV_ASSERT(pfn >= b->base && i <= b->count && n <= b->count - i);
	b->total += n;
	for (uint64_t k = 0; k < n; k++) {
		HV_ASSERT(b->meta[i + k].state == HOLE);
		b->meta[i + k].state = INNER;
	}
	while (n) {
		unsigned order = block_order(i, n);

		release(b, i, order);
		i += BIT64(order);
		n -= BIT64(order);
	}
}

uint64_t buddy_alloc(struct buddy *b, unsigned order)
{
	unsigned o = order;
	uint64_t i;

	while (o < BUDDY_ORDERS && !b->head[o])
		o++;
	if (o >= BUDDY_ORDERS)
		return BUDDY_NONE;
	i = b->head[o] - 1;
	unlink(b, i);
	while (o > order) {
		o--;
		push(b, i + BIT64(o), o);
	}
	b->meta[i].state = USED_HEAD;
	b->meta[i].order = (uint8_t)order;
	return b->base + i;
}

/* Halves the allocated block that covers the frames until one half is just these. */
static void carve(struct buddy *b, uint64_t i, unsigned order)
{
	uint64_t head = i;
	unsigned o = order;

	while (b->meta[head].state != USED_HEAD || b->meta[head].order < o) {
		HV_ASSERT(++o < BUDDY_ORDERS);
		head = i & ~(BIT64(o) - 1);
	}
	for (o = b->meta[head].order; o > order;) {
		uint64_t mate;

		o--;
		mate = head + BIT64(o);
		b->meta[mate].state = b->meta[head].state = USED_HEAD;
		b->meta[mate].order = b->meta[head].order = (uint8_t)o;
		if (i >= mate)
			head = mate;
	}
}

void buddy_free(struct buddy *b, uint64_t pfn, unsigned order)
{
	uint64_t i = pfn - b->base, end = i + BIT64(order);

	HV_ASSERT(pfn >= b->base && end <= b->count && !(i & (BIT64(order) - 1)));
	if (b->meta[i].state != USED_HEAD || b->meta[i].order > order)
		carve(b, i, order);
	for (uint64_t part = i; part < end; part += BIT64(b->meta[part].order)) {
		HV_ASSERT(b->meta[part].state == USED_HEAD);
		b->meta[part].state = INNER;
	}
	release(b, i, order);
}

void buddy_chain(struct buddy *b, uint32_t *chain, uint64_t pfn, uint32_t n)
{
	uint64_t i = pfn - b->base;

	HV_ASSERT(pfn >= b->base && i < b->count && n);
	b->meta[i].next = *chain;
	b->meta[i].prev = n;
	*chain = (uint32_t)i + 1;
}

/* As few blocks as there are: whatever is aligned is freed in one. */
static void free_range(struct buddy *b, uint64_t i, uint64_t n)
{
	while (n) {
		unsigned order = block_order(i, n);

		buddy_free(b, b->base + i, order);
		i += BIT64(order);
		n -= BIT64(order);
	}
}

void buddy_free_chain(struct buddy *b, uint32_t *chain)
{
	while (*chain) {
		uint64_t i = *chain - 1;

		*chain = b->meta[i].next;
		free_range(b, i, b->meta[i].prev);
	}
}
