/* SPDX-License-Identifier: BSD-2-Clause */
/* faults: demand, write protection and access tracking, one fault per page. */
#include "bench/guest/bench.h"

#include "hv/fmt.h"

#define EVENTS	       1024
#define IDLE_MS	       500
#define CLEAR_INSNS    512 /* of a page, by REP STOSQ */
#define SPANS	       (ARENA_PAGES / 512)
#define SPANS_TIMED    4u
#define SPANS_LEFT_OUT 2u

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
 * frames, then faults after more than it can have cleared frames for.  The first
 * row says whether its frames were clean, from the cost alone.
 */
static void rows(const char *name, const char *frames, struct cost first, struct cost later,
		 unsigned events)
{
	char params[48];

	hv_snprintf(params, sizeof(params), "frames=%s after=idle", frames);
	row(name, params, first, events, "insn");
	row(name, "frames=uncleared after=faults", later, events, "insn");
}

/* A fault may cost more than clearing a page does, so it is the difference that tells. */
void bench_demand4k(void)
{
	struct cost first, later;

	idle(IDLE_MS);
	first = faults(0);
	touch_pages(EVENTS, ARENA_PAGES - 2 * EVENTS);
	later = faults(ARENA_PAGES - EVENTS);
	rows("fault.demand4k",
	     later.insns - first.insns > EVENTS * CLEAR_INSNS * 3 / 4 ? "cleared" : "uncleared",
	     first, later, EVENTS);
}

/*
 * All of them together cost less than to clear one, or some were cleared.  The
 * first spans after idling are left out: what a CPU has at hand for the next
 * faults may be older than the clearing.
 */
void bench_demand2m(void)
{
	const int64_t clearing = 512 * CLEAR_INSNS;
	struct cost first, later;

	idle(IDLE_MS);
	touch_spans(0, SPANS_LEFT_OUT);
	base_page = SPANS_LEFT_OUT;
	first = measure(touch_spans_from_base, touch_spans_from_base, SPANS_TIMED);
	touch_spans(SPANS_LEFT_OUT + SPANS_TIMED, SPANS - SPANS_LEFT_OUT - 2 * SPANS_TIMED);
	base_page = SPANS - SPANS_TIMED;
	later = measure(touch_spans_from_base, touch_spans_from_base, SPANS_TIMED);
	rows("fault.demand2m",
	     first.insns < clearing		    ? "cleared"
	     : first.insns < clearing * SPANS_TIMED ? "mixed"
						    : "uncleared",
	     first, later, SPANS_TIMED);
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
