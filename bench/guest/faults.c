/* SPDX-License-Identifier: BSD-2-Clause */
/* faults: demand, write protection and access tracking, one fault per page. */
#include "bench/guest/bench.h"

#define EVENTS	    1024
#define IDLE_MS	    500
#define CLEAR_INSNS 400 /* fewer than clearing a page takes, by REP STOSQ */
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

static const char *frames(struct cost first, struct cost later, int64_t clearing)
{
	return later.insns - first.insns > clearing ? "frames=cleared" : "frames=uncleared";
}

/*
 * First after an idle time, in which the hypervisor may have cleared frames, then
 * after more faults than it can have cleared frames for.  Only if the first are
 * cheaper by what clearing takes were their frames clean: the row says so.
 */
void bench_demand4k(void)
{
	struct cost first, later;

	idle(IDLE_MS);
	first = faults(0);
	touch_pages(EVENTS, ARENA_PAGES - 2 * EVENTS);
	later = faults(ARENA_PAGES - EVENTS);
	row("fault.demand4k", frames(first, later, EVENTS * CLEAR_INSNS), first, EVENTS, "insn");
	row("fault.demand4k", "frames=uncleared,busy", later, EVENTS, "insn");
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
	row("fault.demand2m", frames(first, later, SPANS_TIMED * 512LL * CLEAR_INSNS), first,
	    SPANS_TIMED, "insn");
	row("fault.demand2m", "frames=uncleared,busy", later, SPANS_TIMED, "insn");
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
