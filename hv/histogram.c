/* SPDX-License-Identifier: BSD-2-Clause */
/* histogram: how often which size came, in buckets of powers of two.  Pure. */
#include "hv/histogram.h"

void histogram_merge(struct histogram *sum, const struct histogram *h)
{
	for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
		sum->bucket[k] += READ_ONCE(h->bucket[k]);
	sum->max = max_u64(sum->max, READ_ONCE(h->max));
}

uint64_t histogram_count(const struct histogram *h)
{
	uint64_t count = 0;

	for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
		count += h->bucket[k];
	return count;
}

uint64_t histogram_percentile(const struct histogram *h, unsigned percent)
{
	/* The smallest has rank 1. */
	uint64_t rank = max_u64((histogram_count(h) * percent + 99) / 100, 1);

	for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++) {
		uint64_t n = h->bucket[k], least = histogram_least(k), end;

		if (rank > n) {
			rank -= n;
			continue;
		}
		end = k + 1 < HISTOGRAM_BUCKETS ? BIT64(k + 1) - 1 : h->max;
		return least + mul_div(min_u64(end, max_u64(h->max, least)) - least, rank, n);
	}
	return 0;
}
