/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench: what the benchmark guest's rows share.
 *
 * A row runs a loop of events between two marks and two RDTSCs, then the same
 * loop without the events, and prints the difference per event.
 */
#pragma once

#include "hv/test_call.h"
#include "tests/guest/guest.h"

#define ARENA_PAGES 16384u
#define ARENA_BYTES (ARENA_PAGES * (uint64_t)PAGE_SIZE)

/* The events [first, first + count) on one vCPU. */
typedef void (*bench_fn)(unsigned first, unsigned count);

/* ---- measure.c --------------------------------------------------------------- */

/* "svm" or "vmx"; starts the other vCPUs. */
void measure_init(const char *backend);
struct cost {
	int64_t insns;
	unsigned section; /* of the loop; that of the empty one is the next */
};

/*
 * Instructions of @fn over @events events, spread over all vCPUs, less those of
 * @empty over as many.
 */
struct cost measure(bench_fn fn, bench_fn empty, unsigned events);
/* The same of fn(0, 1) on this vCPU alone; the others wait, as a call may have to reach them. */
struct cost measure_one(bench_fn fn);
/* Prints the row "name backend vcpus=N params value unit", the value being @c divided by @per. */
void row(const char *name, const char *params, struct cost c, unsigned per, const char *unit);
void row_skip(const char *name, const char *params, const char *call, int64_t status);
/* Nothing, @count times. */
void nothing(unsigned first, unsigned count);

/* ---- memory.c ---------------------------------------------------------------- */

/* 64 MiB that no row has touched before the first one that does. */
char *arena(void);
/* Writes a word of every page of [first, first + count) of the arena. */
void touch_pages(unsigned first, unsigned count);
/* The same at every 2 MiB. */
void touch_spans(unsigned first, unsigned count);
/* Halts all vCPUs for @ms, so that the hypervisor may do what it does when idle. */
void idle(unsigned ms);

/* VMCALL or VMMCALL; the test calls of hv/test_call.h. */
int64_t hypercall(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* ---- the rows ----------------------------------------------------------------- */

void bench_exit_cpuid(void);
void bench_exit_hypercall(void);
void bench_exit_pio(void);
void bench_demand4k(void);
void bench_demand2m(void);
void bench_wp(void);
void bench_access(void);
void bench_log4k(void);
void bench_log2m(void);
void bench_teardown(void);
