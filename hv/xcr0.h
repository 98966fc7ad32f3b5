/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xcr0: which components of extended state a guest may switch on.
 *
 * Pure (tests/host/test_xcr0.c).  Spec: SDM 1 13.3.
 */
#pragma once

#include "hv/base.h"

#define XCR0_X87    BIT64(0)
#define XCR0_SSE    BIT64(1)
#define XCR0_AVX    BIT64(2)
#define XCR0_AVX512 (7ULL << 5)

/* The components of @host (CPUID 0xd) that guests may have. */
uint64_t xcr0_guest_mask(uint64_t host);

/* May a guest that is allowed @mask set XCR0 to @value? */
bool xcr0_valid(uint64_t value, uint64_t mask);
