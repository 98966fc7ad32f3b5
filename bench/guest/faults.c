/* SPDX-License-Identifier: BSD-2-Clause */
/* faults: demand, write protection and access tracking, one fault per page. */
#include "bench/guest/bench.h"

#define EVENTS	    1024
#define IDLE_MS	    500
#define CLEAR_INSNS 512 /* of a page, by REP STOSQ */
#define SPANS	    (ARENA_PAGES / 512)
#define SPANS_TIMED 8u

static unsigned base_page;

static void touch_from_base(unsigned first, unsigned count)
{
	touch_pages(base_page + first, count);
}

static void touch_spans_from_base(unsigned first, unsigned count)
{
	touch_spans(base_page + first, count);
}

static struct cost faults(unsigned base)
{
	base_page = base;
	return measure(touch_from_base, touch_from_base, EVENTS);
}

/*
 * First come faults after an idle time, in which the hypervisor may have cleared
 * frames, then faults after more than it can have cleared frames for.  Only if the
 * first are cheaper by what clearing takes, or cost less than that, were their
 * frames clean: the row says so.
 */
static void rows(const char *name, struct cost first, struct cost later, unsigned events,
		 unsigned clearing)
{
	bool clean = later.insns - first.insns > (int64_t)events * clearing * 3 / 4 ||
		     first.insns < (int64_t)events * clearing;

	row(name, clean ? "frames=cleared after=idle" : "frames=uncleared after=idle", first, events,
	    "insn");
	row(name, "frames=uncleared after=faults", later, events, "insn");
}

void bench_demand4k(void)
{
	struct cost first, later;

	idle(IDLE_MS);
	first = faults(0);
	touch_pages(EVENTS, ARENA_PAGES - 2 * EVENTS);
	later = faults(ARENA_PAGES - EVENTS);
	rows("fault.demand4k", first, later, EVENTS, CLEAR_INSNS);
}

void bench_demand2m(void)
{
	struct cost first, later;

	idle(IDLE_MS);
	base_page = 0;
	first = measure(touch_spans_from_base, touch_spans_from_base, SPANS_TIMED);
	touch_spans(SPANS_TIMED, SPANS - 2 * SPANS_TIMED);
	base_page = SPANS - SPANS_TIMED;
	later = measure(touch_spans_from_base, touch_spans_from_base, SPANS_TIMED);
	rows("fault.demand2m", first, later, SPANS_TIMED, 512 * CLEAR_INSNS);
}

static char bitmap[ARENA_PAGES / 8] __aligned(4096);

void bench_wp(void)
{
	uint64_t gpa = (uint64_t)arena();
	int64_t st;

	touch_pages(0, ARENA_PAGES);
	st = hypercall(TEST_CALL_LOG_ENABLE, TEST_LOG_PROTECT, 0, 0, 0);
	if (st < 0) {
		row_skip("fault.wp", "", "LOG_ENABLE", st);
		return;
	}
	st = hypercall(TEST_CALL_LOG_HARVEST, gpa, ARENA_BYTES, (uint64_t)bitmap,
		       TEST_HARVEST_GET | TEST_HARVEST_CLEAR);
	if (st < 0)
		row_skip("fault.wp", "", "LOG_HARVEST", st);
	else
		row("fault.wp", "", faults(0), EVENTS, "insn");
	hypercall(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0);
}

void bench_access(void)
{
	int64_t st;

	touch_pages(0, ARENA_PAGES);
	st = hypercall(TEST_CALL_AGE, (uint64_t)arena(), ARENA_BYTES, 0, 0);
	if (st < 0)
		row_skip("fault.access", "", "AGE", st);
	else
		row("fault.access", "", faults(0), EVENTS, "insn");
}
