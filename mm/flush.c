/* SPDX-License-Identifier: BSD-2-Clause */
/* flush: generations of nested translations.  Pure. */
#include "mm/flush.h"

#include "hv/assert.h"

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

void flush_init(struct flush *f, uint32_t slots, void *ctx, void (*kick)(void *, uint32_t),
		void (*release)(void *, hpa_t, unsigned))
{
	HV_ASSERT(slots <= FLUSH_SLOTS);
	memset(f, 0, sizeof(*f));
	f->gen = 1;
	f->slot_count = slots;
	f->ctx = ctx;
	f->kick = kick;
	f->release = release;
}

bool flush_enter(struct flush *f, uint32_t slot)
{
	struct flush_slot *s = &f->slot[slot];
	uint64_t gen;

	/* Full fence: the flag must be seen before we look, or the remover misses us. */
	__atomic_store_n(&s->state, FLUSH_GUEST, __ATOMIC_SEQ_CST);
	gen = __atomic_load_n(&f->gen, __ATOMIC_SEQ_CST);
	if (s->acked == gen)
		return false;
	__atomic_store_n(&s->acked, gen, __ATOMIC_RELEASE);
	return true;
}

void flush_leave(struct flush *f, uint32_t slot, enum flush_state to)
{
	__atomic_store_n(&f->slot[slot].state, to, __ATOMIC_RELEASE);
}

uint64_t flush_begin(struct flush *f)
{
	return __atomic_add_fetch(&f->gen, 1, __ATOMIC_SEQ_CST);
}

static bool acked(struct flush *f, uint32_t slot, uint64_t gen)
{
	return __atomic_load_n(&f->slot[slot].acked, __ATOMIC_ACQUIRE) >= gen;
}

static uint32_t state(struct flush *f, uint32_t slot)
{
	return __atomic_load_n(&f->slot[slot].state, __ATOMIC_SEQ_CST);
}

static bool passed(struct flush *f, uint32_t slot, uint64_t gen)
{
	return state(f, slot) != FLUSH_GUEST || acked(f, slot, gen);
}

void flush_wait(struct flush *f, uint64_t gen)
{
	for (uint32_t i = 0; i < f->slot_count; i++)
		if (!passed(f, i, gen))
			f->kick(f->ctx, i);
	for (uint32_t i = 0; i < f->slot_count; i++)
		while (!passed(f, i, gen))
			relax();
}

void flush_retire(struct flush *f, hpa_t hpa, unsigned order, uint64_t gen)
{
	while (f->retired_count == FLUSH_RETIRED && flush_reclaim(f) == FLUSH_RETIRED) {
		for (uint32_t i = 0; i < f->slot_count; i++)
			f->kick(f->ctx, i);
		relax();
	}
	f->retired[f->retired_count++] = (struct flush_retired){ hpa, (uint8_t)order, gen };
}

uint32_t flush_reclaim(struct flush *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->retired_count; i++) {
		struct flush_retired r = f->retired[i];
		bool free = true;

		for (uint32_t s = 0; free && s < f->slot_count; s++)
			free = state(f, s) == FLUSH_OUT || acked(f, s, r.gen);
		if (free)
			f->release(f->ctx, r.hpa, r.order);
		else
			f->retired[kept++] = r;
	}
	f->retired_count = kept;
	return kept;
}
