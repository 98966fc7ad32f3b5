/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dirty: the log of written pages, one bit per 4 KiB of guest-physical memory.
 *
 * A bit is set after the permission to write was granted and before the writer
 * enters the guest; a harvest first takes the bit, then the permission, and
 * flushes before it tells anybody: no write is ever lost (docs/fault-path.md,
 * I4).  How writes are noticed is the mode's business:
 *   PROTECT  leaves are write-protected and granted by the fault path
 *   DIRTY    the CPU sets the leaf's D bit
 *   PML      likewise, and the CPU lists the page: D bits need no search
 * While a log is attached, leaves are of 4 KiB where they are writable; large
 * ones are write-protected until they are split.
 * dirty_mark(): any CPU, no lock.  All else under the VM's mutation lock.
 * Pure (tests/host/test_dirty.c).
 */
#pragma once

#include "hv/status.h"
#include "mm/flush.h"
#include "mm/npt.h"

enum dirty_mode { DIRTY_PROTECT, DIRTY_DBIT, DIRTY_PML };

struct dirty_log {
	enum dirty_mode mode;
	uint64_t pages; /* from gpa 0; a multiple of 64 */
	uint64_t *bits;
};

static inline void dirty_mark(struct dirty_log *log, gpa_t gpa)
{
	uint64_t page = gpa.v >> PAGE_SHIFT, bit = BIT64(page % 64);

	/* The test keeps a word that is set already from moving between CPUs. */
	if (page < log->pages && !(__atomic_load_n(&log->bits[page / 64], __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&log->bits[page / 64], bit, __ATOMIC_SEQ_CST);
}

/* Each page of [gpa, gpa + len): what has been written, whoever did it. */
void dirty_mark_range(struct dirty_log *log, gpa_t gpa, uint64_t len);

static inline struct dirty_log *dirty_log_of(const struct npt *n)
{
	return __atomic_load_n(&n->log, __ATOMIC_ACQUIRE);
}

static inline size_t dirty_bytes(uint64_t pages)
{
	return align_up(pages, 64) / 8;
}

/*
 * Attaches @log, whose bits are clear, and makes every write from the return on
 * leave its mark.  @eager: splits all large leaves now; HV_NOMEM when tables
 * run out: then the rest is split by its first write.  HV_EXIST: there is a log.
 */
enum hv_status dirty_enable(struct npt *n, struct flush *f, struct dirty_log *log, bool eager)
	__must_check;

/* Detaches the log and returns it: no CPU uses it any more.  NULL: there was none. */
struct dirty_log *dirty_disable(struct npt *n, struct flush *f);

#define DIRTY_GET   BIT(0)
#define DIRTY_CLEAR BIT(1)

/*
 * Harvests [gpa, gpa + len) into or by @bitmap, whose bit 0 is the first page.
 * GET copies the bits; GET | CLEAR takes them; CLEAR takes those that @bitmap
 * names.  What has been cleared is logged again when it is written after the
 * return; read the pages only then.  *count: set bits of the result.
 * HV_INVAL: no multiple of 64 pages or no flag; HV_RANGE: beyond the log;
 * HV_NOENT: no log.
 */
enum hv_status dirty_harvest(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			     unsigned flags, uint64_t *bitmap, uint64_t *count) __must_check;
