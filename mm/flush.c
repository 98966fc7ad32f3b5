/* SPDX-License-Identifier: BSD-2-Clause */
/* flush: generations of nested translations.  Pure. */
#include "mm/flush.h"

#include "hv/assert.h"

_Static_assert(AUDIT_SLOTS >= FLUSH_SLOTS, "one audit slot per vCPU");

/* A kicked vCPU leaves the guest in microseconds: a debug build takes this for a hang. */
#define SPINS_MAX BIT64(26)

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

void flush_init(struct flush *f, uint32_t slots, const struct flush_env *env)
{
	HV_ASSERT(slots <= FLUSH_SLOTS);
	memset(f, 0, sizeof(*f));
	f->gen = 1;
	f->slot_count = slots;
	f->env = env;
}

uint64_t flush_begin(struct flush *f)
{
	audit_flush_begun(&f->audit);
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

/* Nothing older than @gen is in its TLB, or will be there when it enters. */
static bool passed(struct flush *f, uint32_t slot, uint64_t gen)
{
	return state(f, slot) != FLUSH_GUEST || acked(f, slot, gen);
}

static bool passed_root(struct flush *f, uint32_t slot, uint64_t gen)
{
	return state(f, slot) == FLUSH_OUT || acked(f, slot, gen);
}

static void wait(struct flush *f, uint64_t gen, bool (*has)(struct flush *, uint32_t, uint64_t))
{
	for (uint32_t i = 0; i < f->slot_count; i++)
		if (!has(f, i, gen))
			f->env->kick(f->env->ctx, i);
	for (uint32_t i = 0; i < f->slot_count; i++)
		for (uint64_t spins = 0; !has(f, i, gen); spins++) {
#ifdef HV_DEBUG
			HV_ASSERT(spins < SPINS_MAX);
#endif
			relax();
		}
	audit_flush_done(&f->audit, f->slot_count);
}

void flush_wait(struct flush *f, uint64_t gen)
{
	wait(f, gen, passed);
}

void flush_wait_for_root(struct flush *f, uint64_t gen)
{
	wait(f, gen, passed_root);
}

void flush_retire(struct flush *f, enum flush_kind kind, hpa_t hpa, uint64_t pages)
{
	unsigned list = f->filling;

	f->env->retire(f->env->ctx, list, kind, hpa, pages);
	f->count[list]++;
	f->free_at[list] = f->gen + 1;
	f->lost_at[list] = audit_seq(&f->audit);
}

static void release(struct flush *f, unsigned list)
{
	audit_released(&f->audit, f->lost_at[list]);
	f->env->release(f->env->ctx, list);
	f->count[list] = 0;
}

static bool try_release(struct flush *f, unsigned list)
{
	if (!f->count[list])
		return true;
	for (uint32_t i = 0; i < f->slot_count; i++)
		if (!passed_root(f, i, f->free_at[list]))
			return false;
	release(f, list);
	return true;
}

bool flush_reclaim(struct flush *f)
{
	if (f->count[f->filling] && f->gen < f->free_at[f->filling])
		flush_begin(f);
	if (!try_release(f, !f->filling))
		return false;
	/* What is retired from now on must not put off what waits already. */
	f->filling = !f->filling;
	return try_release(f, !f->filling);
}

void flush_reclaim_all(struct flush *f)
{
	if (!f->count[0] && !f->count[1])
		return;
	flush_wait_for_root(f, flush_begin(f));
	for (unsigned list = 0; list < 2; list++)
		if (f->count[list])
			release(f, list);
}
