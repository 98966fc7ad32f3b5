/* SPDX-License-Identifier: BSD-2-Clause */
/* measure: marks, time stamps, work on all vCPUs, and the lines that are printed. */
#include "bench/guest/bench.h"

#include "hv/fmt.h"

/*
 * A NOP that nothing else uses: the plugin of bench/plugin looks for it.  The
 * last byte of the address is 1 for begin, 0 for end.
 */
#define MARK(n)                                                                                    \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long 0x464c4d00 + %c0" : : "i"(n) : "memory")

static const char *backend;
static unsigned vcpus, sections, share;
static bench_fn running;
static volatile uint32_t go, done;

void measure_init(const char *name)
{
	backend = name;
	vcpus = cpu_count();
	if (vcpus > 1)
		smp_start();
}

void nothing(unsigned first, unsigned count)
{
	(void)first;
	while (count--)
		__asm__ volatile("");
}

/* Waiting is left out of a count over all vCPUs: a function of its own shows in it. */
static __attribute__((noinline)) void spin_until(volatile uint32_t *v, uint32_t want)
{
	while (*v != want)
		cpu_relax();
}

static void worker(unsigned cpu)
{
	spin_until(&go, 1);
	running(cpu * share, share);
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
}

static void on_all(bench_fn fn)
{
	running = fn;
	go = 1;
	fn(0, share);
	spin_until(&done, vcpus - 1);
}

/* One section between two marks. */
static uint64_t section(bench_fn fn)
{
	uint64_t start, end;

	go = done = 0;
	running = fn;
	for (unsigned i = 1; i < vcpus; i++)
		smp_run(i, worker);
	sections++;
	MARK(1);
	start = rdtsc();
	on_all(fn);
	end = rdtsc();
	MARK(0);
	for (unsigned i = 1; i < vcpus; i++)
		smp_wait(i);
	return end - start;
}

struct cost measure(bench_fn fn, bench_fn empty, unsigned events)
{
	struct cost c = {.section = sections};
	uint64_t full;

	share = events / vcpus;
	full = section(fn);
	c.insns = (int64_t)(full - section(empty));
	return c;
}

struct cost measure_one(bench_fn fn)
{
	unsigned all = vcpus;
	struct cost c;

	vcpus = 1;
	c = measure(fn, nothing, 1);
	vcpus = all;
	return c;
}

static void begin_line(const char *name, const char *params)
{
	guest_printf("%s %s vcpus=%u%s%s ", name, backend, vcpus, *params ? " " : "", params);
}

/* The comment is for bench/run-faults: loop, empty loop, divisor. */
void row(const char *name, const char *params, struct cost c, unsigned per, const char *unit)
{
	uint64_t tenths = c.insns < 0 ? 0 : ((uint64_t)c.insns * 10 + per / 2) / per;

	guest_printf("# counted %u %u %u\n", c.section, c.section + 1, per);
	begin_line(name, params);
	if (vcpus > 1)
		guest_printf("- %s\n", unit); /* the TSC says nothing then */
	else if (tenths < 1000)
		guest_printf("%llu.%llu %s\n", (unsigned long long)tenths / 10,
			     (unsigned long long)tenths % 10, unit);
	else
		guest_printf("%llu %s\n", (unsigned long long)(tenths + 5) / 10, unit);
}

void row_skip(const char *name, const char *params, const char *call, int64_t status)
{
	begin_line(name, params);
	guest_printf("skip %s: %lld\n", call, (long long)status);
}
