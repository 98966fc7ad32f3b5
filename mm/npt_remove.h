/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npt_remove: taking leaves away from a running VM.
 *
 * All under the VM's mutation lock; no vCPU that faults is ever held up for
 * longer than an entry is frozen: it enters again and faults again.
 * Pure (tests/host/test_npt_remove.c).
 */
#pragma once

#include "mm/flush.h"
#include "mm/npt.h"

/*
 * Empties [gpa, gpa + len), page-aligned and below 2^48: retires the frames, those
 * that lie side by side at once, logs what was there as written, and retires the
 * page tables that have become empty.  Returns when no vCPU can reach the frames;
 * *count gets the pages.  HV_NOMEM: a large leaf across an end cannot be split;
 * nothing has changed then.
 */
enum hv_status npt_remove(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			  uint64_t *count) __must_check;

struct npt_move_env {
	void *ctx;
	/* A frame for the content, or HPA_NONE; and the copy of 4 KiB. */
	hpa_t (*alloc)(void *ctx);
	void (*copy)(void *ctx, hpa_t to, hpa_t from);
};

/* Gives every 4 KiB page of the range another frame with the same content. */
enum hv_status npt_move(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len,
			const struct npt_move_env *env, uint64_t *count) __must_check;
