/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * histogram: how often which size came, in buckets of powers of two.
 *
 * Bucket 0 has 0 and 1, bucket k what is from 2^k below 2^(k + 1), the last one
 * all that is larger.  One writer; a reader may see a count that is on its way.
 * Pure (tests/host/test_histogram.c).
 */
#pragma once

#include "hv/base.h"

#define HISTOGRAM_BUCKETS 32

struct histogram {
	uint64_t bucket[HISTOGRAM_BUCKETS];
	uint64_t max;
};

static inline unsigned histogram_bucket(uint64_t v)
{
	unsigned k = 63 - (unsigned)__builtin_clzll(v | 1);

	return k < HISTOGRAM_BUCKETS ? k : HISTOGRAM_BUCKETS - 1;
}

/* The least that bucket @k has. */
static inline uint64_t histogram_least(unsigned k)
{
	return k ? BIT64(k) : 0;
}

static inline void histogram_add(struct histogram *h, uint64_t v)
{
	h->bucket[histogram_bucket(v)]++;
	if (v > h->max)
		h->max = v;
}

/* All of @h to @sum. */
void histogram_merge(struct histogram *sum, const struct histogram *h);
uint64_t histogram_count(const struct histogram *h);
/* What @percent of all are at most, as if each bucket's were spread evenly; 0 without any. */
uint64_t histogram_percentile(const struct histogram *h, unsigned percent);
