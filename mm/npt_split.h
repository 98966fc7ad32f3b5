/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npt_split: large leaves into tables of smaller ones, and back.
 * Pure (tests/host/test_npt_split.c).
 */
#pragma once

#include "mm/flush.h"
#include "mm/npt.h"

/*
 * Replaces the large leaf *e, last seen as @old, by a table whose children say
 * the same; dirty is copied to all.  @grant: they are writable and clean instead,
 * for a log that goes by dirty bits.  No lock.  HV_NOMEM: no table page;
 * HV_RETRY: *e has changed.  *e is untouched then.  No flush is owed for the
 * translation itself.
 */
enum hv_status npt_split(struct npt *n, uint64_t *e, unsigned shift, uint64_t old, bool grant)
	__must_check;

/*
 * Splits until no leaf crosses @gpa, which is page-aligned, and puts tables where
 * nothing is, so that none will: for who holds the mutation lock.  HV_NOMEM as above.
 */
enum hv_status npt_split_at(struct npt *n, gpa_t gpa) __must_check;

/*
 * Replaces what @run shows by smaller leaves.  HV_RETRY: it was large, look again;
 * HV_OK: it is not; HV_NOMEM as above.
 */
enum hv_status npt_split_run(struct npt *n, const struct npt_run *run) __must_check;

/*
 * Makes one 2 MiB leaf of each table that maps a span inside [gpa, gpa + len),
 * where its 512 pages are there, contiguous, aligned and all writable or
 * upgradable; other spans stay as they are.  Returns how many.  Under the
 * mutation lock, no log attached; waits for vCPUs, once for a few spans.
 */
uint64_t npt_promote(struct npt *n, struct flush *f, gpa_t gpa, uint64_t len);
