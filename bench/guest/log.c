/* SPDX-License-Identifier: BSD-2-Clause */
/* log: what switching the dirty log, reading it and removing pages cost per page. */
#include "bench/guest/bench.h"

#include "hv/fmt.h"

static char bitmap[ARENA_PAGES / 8] __aligned(4096);
static int64_t status;
static uint64_t log_mode;

static void call_enable(unsigned first, unsigned count)
{
	(void)first;
	(void)count;
	status = hypercall(TEST_CALL_LOG_ENABLE, log_mode, 0, 0, 0);
}

static void call_disable(unsigned first, unsigned count)
{
	(void)first;
	(void)count;
	status = hypercall(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0);
}

static void call_harvest(unsigned first, unsigned count)
{
	(void)first;
	(void)count;
	status = hypercall(TEST_CALL_LOG_HARVEST, (uint64_t)arena(), ARENA_BYTES, (uint64_t)bitmap,
			   TEST_HARVEST_GET | TEST_HARVEST_CLEAR);
}

static void call_discard(unsigned first, unsigned count)
{
	(void)first;
	(void)count;
	status = hypercall(TEST_CALL_DISCARD, (uint64_t)arena(), ARENA_BYTES, 0, 0);
}

/* One call over the whole arena, by one vCPU. */
static bool one_call(const char *name, const char *params, const char *call, bench_fn fn)
{
	struct cost cost = measure_one(fn);

	if (status < 0)
		row_skip(name, params, call, status);
	else
		row(name, params, cost, ARENA_PAGES, "insn/page");
	return status >= 0;
}

static bool harvest(const char *mode, unsigned percent)
{
	char params[48];

	if (percent == 1)
		for (unsigned i = 0; i < ARENA_PAGES; i += 100)
			touch_pages(i, 1);
	if (percent == 100)
		touch_pages(0, ARENA_PAGES);
	hv_snprintf(params, sizeof(params), "mode=%s dirty=%u%%", mode, percent);
	return one_call("log.harvest", params, "LOG_HARVEST", call_harvest);
}

static void log_rows(const char *mode, uint64_t bits, const char *leaf, bool harvests)
{
	char params[48];

	log_mode = bits;
	hv_snprintf(params, sizeof(params), "mode=%s leaf=%s", mode, leaf);
	if (!one_call("log.enable", params, "LOG_ENABLE", call_enable))
		return;
	/* The first harvest finds what enabling left; it is not the row. */
	call_harvest(0, 0);
	if (harvests)
		(void)(harvest(mode, 0) && harvest(mode, 1) && harvest(mode, 100));
	one_call("log.disable", params, "LOG_DISABLE", call_disable);
}

void bench_log4k(void)
{
	touch_pages(0, ARENA_PAGES);
	log_rows("protect", TEST_LOG_PROTECT, "4k", true);
	log_rows("dirty", TEST_LOG_DIRTY, "4k", true);
	log_rows("pml", TEST_LOG_PML, "4k", true);
}

void bench_log2m(void)
{
	touch_spans(0, ARENA_PAGES / 512);
	log_rows("protect", TEST_LOG_PROTECT, "2m", false);
	log_rows("protect,eager", TEST_LOG_PROTECT | TEST_LOG_EAGER, "2m", false);
}

void bench_teardown(void)
{
	touch_pages(0, ARENA_PAGES);
	one_call("vm.teardown", "", "DISCARD", call_discard);
}
