/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base: fixed-width types, bit helpers and compiler attributes that every
 * layer uses.  Pure: no hardware access, compiles hosted and freestanding.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIT(n)	     (1U << (n))
#define BIT64(n)     (1ULL << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define KIB 1024ULL
#define MIB (1024ULL * KIB)
#define GIB (1024ULL * MIB)

#define PAGE_SHIFT 12
#define PAGE_SIZE  4096ULL

#define __must_check	 __attribute__((warn_unused_result))
#define __packed	 __attribute__((packed))
#define __aligned(n)	 __attribute__((aligned(n)))
#define __printf(f, a)	 __attribute__((format(printf, f, a)))
#define __unused	 __attribute__((unused))
#define __inlined	 inline __attribute__((always_inline))
#define __not_inlined	 __attribute__((noinline))
#define likely(x)	 __builtin_expect(!!(x), 1)
#define unlikely(x)	 __builtin_expect(!!(x), 0)
#define compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* The structure that holds member @m at address @p. */
#define container_of(p, type, m) ((type *)(void *)((char *)(p)-offsetof(type, m)))

static inline uint64_t align_down(uint64_t v, uint64_t a)
{
	return v & ~(a - 1);
}

/* Rounds up to a power of two @a; the caller guarantees that it does not wrap. */
static inline uint64_t align_up(uint64_t v, uint64_t a)
{
	return (v + a - 1) & ~(a - 1);
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* All-ones in the low @size bytes, @size 1 to 8. */
static inline uint64_t mask_bytes(unsigned size)
{
	return size >= 8 ? ~0ULL : (1ULL << (size * 8)) - 1;
}

/* a * b / c with a 128-bit product; saturates when the quotient does not fit. */
static inline uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	if ((uint64_t)(p >> 64) >= c)
		return ~0ULL;
#if defined(__x86_64__)
	uint64_t q, r;

	/* One DIV instead of a call into a run-time library that we do not link. */
	__asm__("divq %4" : "=a"(q), "=d"(r) : "a"((uint64_t)p), "d"((uint64_t)(p >> 64)), "rm"(c) : "cc");
	return q;
#else
	return (uint64_t)(p / c);
#endif
}

/* The C library's four, which the compiler may call on its own (hv/string.c when freestanding). */
void *memcpy(void *restrict d, const void *restrict s, size_t n);
void *memmove(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
