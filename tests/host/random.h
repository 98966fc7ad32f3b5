/* SPDX-License-Identifier: BSD-2-Clause */
/* random: pseudo-random numbers (xorshift64*), the same on every run. */
#pragma once

#include <stdint.h>

static uint64_t rng_state = 0x9e3779b97f4a7c15ULL;

static inline uint64_t rnd(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state * 0x2545f4914f6cdd1dULL;
}

static inline unsigned below(unsigned n)
{
	return (unsigned)(rnd() >> 33) % n;
}
