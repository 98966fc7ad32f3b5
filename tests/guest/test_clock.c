/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clock: the KVM clock, the TSC and the PM timer agree, and none goes back. */
#include "tests/guest/guest.h"

struct pvclock {
	uint32_t version, pad;
	uint64_t tsc, system_time;
	uint32_t mul;
	int8_t shift;
	uint8_t flags, pad2[2];
};

static uint64_t kvm_ns(const volatile struct pvclock *p)
{
	uint64_t d = rdtsc() - p->tsc;

	d = p->shift < 0 ? d >> -p->shift : d << p->shift;
	return p->system_time + (uint64_t)(((unsigned __int128)d * p->mul) >> 32);
}

static volatile uint64_t last_tsc;
static volatile uint32_t went_back;

/* Passes the largest TSC seen around all CPUs. */
static void watch_tsc(unsigned cpu)
{
	(void)cpu;
	for (int i = 0; i < 20000; i++) {
		uint64_t seen = last_tsc, now;

		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		now = rdtsc();
		if (now < seen)
			__atomic_add_fetch(&went_back, 1, __ATOMIC_SEQ_CST);
		if (now > last_tsc)
			last_tsc = now;
	}
}

struct both {
	uint64_t us_before, ns, us_after;
};

static void read_both(const volatile struct pvclock *p, struct both *b)
{
	b->us_before = now_us();
	b->ns = kvm_ns(p);
	b->us_after = now_us();
}

static void test_kvm_clock(void)
{
	volatile struct pvclock *p = fresh_pages(1);
	uint64_t us, back = 0, last;
	struct both from, to;
	struct caught c;

	CATCH(c, "wrmsr", : : "c"(0x4b564d01), "a"((uint64_t)p | 1), "d"(0) : "r15", "memory");
	ok(!c.any && p->mul && !(p->version & 1) && (p->flags & 1), "kvmclock: registers, stable");
	read_both(p, &from);
	last = from.ns;
	while (now_us() - from.us_after < 50000) {
		uint64_t n = kvm_ns(p);

		back += n < last;
		last = n;
	}
	is(back, 0, "kvmclock: never goes back");
	read_both(p, &to);
	/* Between the inner and the outer distance of the PM timer's readings. */
	us = (to.ns - from.ns) / 1000;
	ok(us * 10 > (to.us_before - from.us_after) * 9 && us * 9 < (to.us_after - from.us_before) * 10,
	   "kvmclock: at the PM timer's rate");
	CATCH(c, "wrmsr", : : "c"(0x4b564d01), "a"(0xd0000001), "d"(0) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "kvmclock: outside RAM: #GP");
	CATCH(c, "wrmsr", : : "c"(0x4b564d00), "a"((uint64_t)p + 64), "d"(0) : "r15", "memory");
	ok(!c.any && ((volatile uint32_t *)p)[17] > 1500000000, "kvmclock: wall clock");
}

void test_clock(void)
{
	unsigned cpus = smp_started() ? cpu_count() : 1;

	test_kvm_clock();
	for (unsigned i = 1; i < cpus; i++)
		smp_run(i, watch_tsc);
	watch_tsc(0);
	for (unsigned i = 1; i < cpus; i++)
		smp_wait(i);
	is(went_back, 0, "tsc: the same on all CPUs");
}
