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
 * Removed frames are retired with the generation and freed once every vCPU has
 * acknowledged it or is out: one in root mode may hold a pointer it looked up.
 * Pure: the kick is injected.  Slots belong to their vCPU; retiring is under
 * the VM's mutation lock.
 */
#pragma once

#include "hv/status.h"
#include "mm/addr.h"

#define FLUSH_SLOTS   32
#define FLUSH_RETIRED 256

enum flush_state {
	FLUSH_OUT,   /* holds no translation and no looked-up pointer */
	FLUSH_ROOT,  /* in the hypervisor, may walk tables in software */
	FLUSH_GUEST, /* in the guest, or about to be */
};

struct flush_slot {
	uint32_t state; /* enum flush_state */
	uint64_t acked;
} __aligned(64);

struct flush_retired {
	hpa_t hpa;
	uint8_t order;
	uint64_t gen;
};

struct flush {
	uint64_t gen;
	uint32_t slot_count;
	struct flush_slot slot[FLUSH_SLOTS];
	uint32_t retired_count;
	struct flush_retired retired[FLUSH_RETIRED];
	void *ctx;
	void (*kick)(void *ctx, uint32_t slot);
	void (*release)(void *ctx, hpa_t hpa, unsigned order);
};

void flush_init(struct flush *f, uint32_t slots, void *ctx, void (*kick)(void *, uint32_t),
		void (*release)(void *, hpa_t, unsigned));

/* Last before entry, interrupts off.  True: flush this vCPU's nested translations now. */
bool flush_enter(struct flush *f, uint32_t slot);

/* First after exit (FLUSH_ROOT), or when the vCPU gives up its CPU (FLUSH_OUT). */
void flush_leave(struct flush *f, uint32_t slot, enum flush_state to);

/* After entries were taken away: starts a generation and returns it. */
uint64_t flush_begin(struct flush *f);

/* Returns when no vCPU can use a translation older than @gen.  Not from a vCPU in the guest. */
void flush_wait(struct flush *f, uint64_t gen);

/*
 * Frees 2^order frames at @hpa once @gen has passed.  When the list is full it
 * waits for room, so the caller must not itself be a vCPU in FLUSH_ROOT.
 */
void flush_retire(struct flush *f, hpa_t hpa, unsigned order, uint64_t gen);

/* Releases what has become free; returns how many entries still wait. */
uint32_t flush_reclaim(struct flush *f);
