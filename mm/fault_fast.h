/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_fast: the faults that one compare-and-swap resolves.
 *
 * A write to a leaf that is write-protected for the log only, and any access to
 * an aged leaf.  No lock, no region search, no allocation; written are the
 * entry, the log word, and nothing else that CPUs share.
 * Any CPU, the vCPU in FLUSH_ROOT.  Pure (tests/host/test_fault_fast.c).
 */
#pragma once

#include "mm/npt.h"

enum fault_fast {
	FAST_NONE,     /* not for us: fault_resolve() */
	FAST_WRITE,    /* may write now, and has been logged */
	FAST_ACCESS,   /* was aged */
	FAST_SPURIOUS, /* allowed already, or changed under our hands: enter again */
};

/* @w: the vCPU's own; @gen: the generation that it has acknowledged.  *w tells where it ended. */
enum fault_fast fault_fast(const struct npt *n, gpa_t gpa, unsigned access, struct npt_walk *w,
			   uint64_t gen);
