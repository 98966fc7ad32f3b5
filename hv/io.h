/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io: privileged instructions as C functions.  Target only.
 * Spec: SDM 2, APM 3.
 */
#pragma once

#include "hv/base.h"

#define DEFINE_PORT(s, type)                                                 \
	static inline void out##s(uint16_t port, type v)                     \
	{                                                                    \
		__asm__ volatile("out" #s " %0, %1" : : "a"(v), "Nd"(port)); \
	}                                                                    \
	static inline type in##s(uint16_t port)                              \
	{                                                                    \
		type v;                                                      \
		__asm__ volatile("in" #s " %1, %0" : "=a"(v) : "Nd"(port));  \
		return v;                                                    \
	}
DEFINE_PORT(b, uint8_t)
DEFINE_PORT(w, uint16_t)
DEFINE_PORT(l, uint32_t)

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (uint64_t)hi << 32 | lo;
}

static inline void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}

static inline uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

#define DEFINE_CR(n)                                                        \
	static inline uint64_t read_cr##n(void)                             \
	{                                                                   \
		uint64_t v;                                                 \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(v) : : "memory"); \
		return v;                                                   \
	}                                                                   \
	static inline void write_cr##n(uint64_t v)                          \
	{                                                                   \
		__asm__ volatile("mov %0, %%cr" #n : : "r"(v) : "memory");  \
	}
DEFINE_CR(0)
DEFINE_CR(2)
DEFINE_CR(3)
DEFINE_CR(4)

static inline void xsetbv(uint64_t v)
{
	__asm__ volatile("xsetbv" : : "c"(0), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}

static inline uint64_t xgetbv(void)
{
	uint32_t lo, hi;

	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}

/* Sleeps until an interrupt; atomic with respect to one that is pending. */
static inline void irq_enable_and_halt(void)
{
	__asm__ volatile("sti; hlt; cli" : : : "memory");
}

/* Lets what is pending be taken, then closes again. */
static inline void irq_window(void)
{
	__asm__ volatile("sti; nop; cli" : : : "memory");
}

struct __packed dtable_reg {
	uint16_t limit;
	uint64_t base;
};
