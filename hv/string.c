/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * string: the memory and string functions that compiler and libfdt call.
 * Target only (the host tests use the C library's).  No FPU.
 */
#include "hv/base.h"

void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
	void *r = d;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	return r;
}

void *memset(void *d, int c, size_t n)
{
	void *r = d;

	/* Pages are what we clear: eight bytes a turn where that fits. */
	if (!(((uint64_t)d | n) & 7)) {
		uint64_t v = (uint8_t)c * 0x0101010101010101ULL;

		n /= 8;
		__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(v) : "memory");
		return r;
	}
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return r;
}

void *memmove(void *d, const void *s, size_t n)
{
	if ((uint64_t)d - (uint64_t)s >= n)
		return memcpy(d, s, n);
	for (size_t i = n; i--;)
		((uint8_t *)d)[i] = ((const uint8_t *)s)[i];
	return d;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	for (size_t i = 0; i < n; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (uint8_t)*a - (uint8_t)*b;
}
