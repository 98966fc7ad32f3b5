/* SPDX-License-Identifier: BSD-2-Clause */
/* xcr0: which components of extended state a guest may switch on.  Pure. */
#include "hv/xcr0.h"

uint64_t xcr0_guest_mask(uint64_t host)
{
	uint64_t mask = host & (XCR0_X87 | XCR0_SSE | XCR0_AVX | XCR0_AVX512);

	return (mask & XCR0_AVX512) == XCR0_AVX512 ? mask : mask & ~XCR0_AVX512;
}

/* x87 always, AVX needs SSE, AVX-512 needs AVX and all three parts. */
bool xcr0_valid(uint64_t value, uint64_t mask)
{
	if (!(value & XCR0_X87) || (value & ~mask))
		return false;
	if ((value & XCR0_AVX) && !(value & XCR0_SSE))
		return false;
	return !(value & XCR0_AVX512) ||
	       ((value & XCR0_AVX512) == XCR0_AVX512 && (value & XCR0_AVX));
}
