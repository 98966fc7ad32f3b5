/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush: who still may hold a stale nested translation, and when a removed
 * frame may be used again.
 *
 * Each VM counts generations.  A remover changes entries, then bumps the
 * generation; a vCPU that enters with an older acknowledgment flushes its
 * nested translations first (flush_enter() says so), so a flush that is owed is
 * honoured last before entry.  A vCPU that is in the guest is kicked out and
 * waited for; one that is in root mode is not, it will flush when it enters.
 * What a vCPU in root mode may still hold is a pointer it looked up: removed
 * frames, tables and region maps are retired and released once every vCPU has
 * acknowledged a generation that began after their removal, or is out.
 * A vCPU that itself removes, or waits for someone who does, is out meanwhile.
 * Pure: kick and lists are injected.  A slot belongs to its vCPU; everything but
 * flush_enter(), flush_leave() and flush_arrive() is under the VM's mutation
 * lock, or for nobody else to run at the same time.
 */
#pragma once

#include "hv/status.h"
#include "mm/addr.h"
#include "mm/audit.h"

#define FLUSH_SLOTS 32

enum flush_state {
	FLUSH_OUT,   /* holds no looked-up pointer, and flushes what is owed when it comes back */
	FLUSH_ROOT,  /* in the hypervisor, may walk tables in software */
	FLUSH_GUEST, /* in the guest, or about to be */
};

enum flush_kind { FLUSH_FRAMES, FLUSH_TABLE };

struct flush_slot {
	uint32_t state; /* enum flush_state */
	uint64_t acked;
} __aligned(64);

struct flush_env {
	void *ctx;
	void (*kick)(void *ctx, uint32_t slot);
	/* Puts frames side by side, or a table, on list 0 or 1; and releases all of a list. */
	void (*retire)(void *ctx, unsigned list, enum flush_kind kind, hpa_t hpa, uint64_t pages);
	void (*release)(void *ctx, unsigned list);
};

struct flush {
	uint64_t gen;
	uint32_t slot_count;
	struct flush_slot slot[FLUSH_SLOTS];
	unsigned filling;	  /* the list that is retired to; the other one waits */
	uint64_t count[2];	  /* what is on the lists */
	uint64_t free_at[2];	  /* the generation that releases them */
	uint64_t lost_at[2];	  /* the last right that what is on them has lost (mm/audit.h) */
	const struct flush_env *env;
	struct npt_audit audit;
};

void flush_init(struct flush *f, uint32_t slots, const struct flush_env *env);

/* Last before entry, interrupts off.  True: flush this vCPU's nested translations now. */
static inline bool flush_enter(struct flush *f, uint32_t slot)
{
	struct flush_slot *s = &f->slot[slot];
	uint64_t gen;

	/* Full fence: the flag must be seen before we look, or the remover misses us. */
	__atomic_store_n(&s->state, FLUSH_GUEST, __ATOMIC_SEQ_CST);
	gen = __atomic_load_n(&f->gen, __ATOMIC_SEQ_CST);
	if (s->acked == gen)
		return false;
	__atomic_store_n(&s->acked, gen, __ATOMIC_RELEASE);
#ifdef MUTANT_NO_FLUSH /* for the test that the audit catches this */
	return gen == 1;
#endif
	return true;
}

/* The generation that @slot has acknowledged; by its vCPU. */
static inline uint64_t flush_acked(const struct flush *f, uint32_t slot)
{
	return f->slot[slot].acked;
}

/* First after exit (FLUSH_ROOT), or when the vCPU gives up its CPU (FLUSH_OUT). */
static inline void flush_leave(struct flush *f, uint32_t slot, enum flush_state to)
{
	__atomic_store_n(&f->slot[slot].state, to, __ATOMIC_RELEASE);
}

/* From FLUSH_OUT to FLUSH_ROOT: before the first look at a table. */
static inline void flush_arrive(struct flush *f, uint32_t slot)
{
	__atomic_store_n(&f->slot[slot].state, FLUSH_ROOT, __ATOMIC_SEQ_CST);
}

/* After entries were taken away: starts a generation and returns it. */
uint64_t flush_begin(struct flush *f);

/* Returns when no vCPU can use a translation older than @gen. */
void flush_wait(struct flush *f, uint64_t gen);

/* Likewise, and no vCPU holds a pointer that it looked up before @gen. */
void flush_wait_for_root(struct flush *f, uint64_t gen);

/* The frames or the table at @hpa are unlinked and may be reused after the next generation. */
void flush_retire(struct flush *f, enum flush_kind kind, hpa_t hpa, uint64_t pages);

/* Releases what has become free.  False: something still waits. */
bool flush_reclaim(struct flush *f);

/* Releases all of it; waits for vCPUs as flush_wait_for_root(). */
void flush_reclaim_all(struct flush *f);
