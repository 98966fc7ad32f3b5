/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_memory: guest memory while the hypervisor works on it.
 *
 * CPU 0 makes the calls of hv/test_call.h: it logs writes in every mode there
 * is, harvests, ages, moves, discards and joins pages, takes RAM away and gives
 * it back; all other CPUs write stamps at the same time.  Each writer knows what
 * its pages must hold, so lost content shows at once.  CPU 0 keeps a copy of every stamp and renews it only
 * for pages that a harvest reported: when the writers stand still and the last
 * harvest is in, the copy must be the truth, or a write was not logged.
 */
#include "hv/test_call.h"
#include "tests/guest/guest.h"

#define AREA	  0x4000000ULL /* aligned to 2 MiB, beyond all that is in use */
#define PAGES	  2048u
#define AREA_SIZE (PAGES * PAGE_SIZE)
#define SCRATCH	  (AREA + AREA_SIZE) /* for discards: may read as zero at any time */
#define SCRATCH_PAGES 512u
#define FICKLE	  (SCRATCH + SCRATCH_PAGES * PAGE_SIZE) /* now RAM, now nothing */
#define FICKLE_PAGES 64u
#define ROUNDS	  6 /* harvests between two stand-stills */
#define NOENT	  (-4) /* enum hv_status of the hypervisor */
#define NOTSUP	  (-8)

static uint64_t wrote[PAGES];  /* the version that each page holds; its writer's */
static uint64_t copied[PAGES]; /* the version that CPU 0 has seen */
static uint64_t bitmap[PAGES / 64];
static volatile uint32_t stand_still, standing, finished;
static volatile uint64_t writes, lost;
static unsigned writers;

static int64_t call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	static int vendor; /* 1: VMCALL, 2: VMMCALL */
	struct cpuid_regs r;

	if (!vendor) {
		r = cpuid(0, 0);
		vendor = r.ebx == 0x756e6547 ? 1 : 2; /* "Genu" */
	}
	if (vendor == 1)
		__asm__ volatile("vmcall" : "+a"(nr) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	else
		__asm__ volatile("vmmcall" : "+a"(nr) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return (int64_t)nr;
}

static volatile uint64_t *page_at(uint64_t base, unsigned page)
{
	return (volatile uint64_t *)(base + page * PAGE_SIZE);
}

/* First and last word, so that a page of which half is old or new shows. */
static bool holds(volatile uint64_t *p, unsigned page, uint64_t version)
{
	return p[0] == version && p[511] == (version ? version ^ page : 0);
}

static void stamp(volatile uint64_t *p, unsigned page, uint64_t version)
{
	p[511] = version ^ page;
	p[0] = version;
}

static void write_area(unsigned page, uint64_t version)
{
	volatile uint64_t *p = page_at(AREA, page);

	if (!holds(p, page, wrote[page]))
		lost++;
	stamp(p, page, version);
	wrote[page] = version;
}

/* Zero, or what was written last: a discard may come between any two words. */
static void write_scratch(unsigned cpu, unsigned page, uint64_t version)
{
	volatile uint64_t *p = page_at(SCRATCH, page);
	uint64_t first = p[0];

	if (first && first >> 48 != cpu)
		lost++;
	stamp(p, page, version | (uint64_t)cpu << 48);
}

/* Likewise, or all ones where there is no RAM just now. */
static void write_fickle(unsigned cpu, unsigned page, uint64_t version)
{
	volatile uint64_t *p = page_at(FICKLE, page);
	uint64_t first = p[0];

	if (first && ~first && first >> 48 != cpu)
		lost++;
	stamp(p, page, version | (uint64_t)cpu << 48);
}

static void writer(unsigned cpu)
{
	uint64_t version = 0, random = cpu;

	while (!finished) {
		if (stand_still) {
			__atomic_add_fetch(&standing, 1, __ATOMIC_SEQ_CST);
			while (stand_still)
				cpu_relax();
			__atomic_sub_fetch(&standing, 1, __ATOMIC_SEQ_CST);
		}
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		/* Pages of all writers lie side by side, in the same words of the log. */
		write_area((unsigned)(random >> 33) % (PAGES / writers) * writers + cpu - 1, ++version);
		if (version % 16 == 0)
			write_scratch(cpu, (unsigned)(random >> 40) % (SCRATCH_PAGES / writers) * writers +
						   cpu - 1, version);
		if (version % 64 == 0)
			write_fickle(cpu, (unsigned)(random >> 40) % (FICKLE_PAGES / writers) * writers +
						  cpu - 1, version);
	}
	__atomic_add_fetch(&writes, version, __ATOMIC_SEQ_CST);
}

static void halt_writers(void)
{
	stand_still = 1;
	while (standing != writers)
		cpu_relax();
}

static void release_writers(void)
{
	stand_still = 0;
	while (standing)
		cpu_relax();
}

/* What the harvest names is read now, after it: as whoever sends pages away would. */
static bool harvest_and_copy(void)
{
	int64_t n = call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap,
			 TEST_HARVEST_GET | TEST_HARVEST_CLEAR);

	for (unsigned i = 0; i < PAGES; i++)
		if (bitmap[i / 64] >> (i % 64) & 1)
			copied[i] = page_at(AREA, i)[0];
	return n >= 0;
}

/* As KVM's manual protection: look first, then clear by name what will be read. */
static bool get_then_clear(void)
{
	bool good = call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap,
			 TEST_HARVEST_GET) >= 0;

	good &= call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap,
		     TEST_HARVEST_CLEAR) >= 0;
	for (unsigned i = 0; i < PAGES; i++)
		if (bitmap[i / 64] >> (i % 64) & 1)
			copied[i] = page_at(AREA, i)[0];
	return good;
}

static unsigned stale_copies(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PAGES; i++)
		n += copied[i] != page_at(AREA, i)[0];
	return n;
}

/* Half of the fickle pages go, or come back: the middle or the end, so that regions are cut and joined. */
static bool change_regions(void)
{
	uint64_t half = FICKLE_PAGES * PAGE_SIZE / 2;
	static unsigned step;
	bool back = step % 2, middle = step++ / 2 % 2;

	return call(TEST_CALL_REGION, FICKLE + (middle ? half / 2 : half), half, back, 0) >= 0;
}

static bool disturb(unsigned round)
{
	uint64_t part = AREA + round % 4 * (AREA_SIZE / 4);
	bool good = call(TEST_CALL_AGE, AREA, AREA_SIZE + SCRATCH_PAGES * PAGE_SIZE, 0, 0) >= 0;

	good &= call(TEST_CALL_MOVE, part + 5 * PAGE_SIZE, AREA_SIZE / 16, 0, 0) >= 0;
	good &= call(TEST_CALL_DISCARD, SCRATCH + (round % 3 ? PAGE_SIZE : 0),
		     round % 3 ? 64 * PAGE_SIZE : SCRATCH_PAGES * PAGE_SIZE, 0, 0) >= 0;
	return change_regions() && good;
}

static const struct {
	const char *name;
	uint64_t how;
} modes[] = {
	{ "write protection", TEST_LOG_PROTECT },
	{ "dirty bits", TEST_LOG_DIRTY },
	{ "page-modification log", TEST_LOG_PML },
	{ "write protection, eager", TEST_LOG_PROTECT | TEST_LOG_EAGER },
};

static struct {
	unsigned cycles, stale;
	bool failed, missing;
} result[ARRAY_SIZE(modes)];

/* On, a few harvests under fire, the last one in silence, off. */
static void cycle(unsigned mode, unsigned n)
{
	int64_t st = call(TEST_CALL_LOG_ENABLE, modes[mode].how, 0, 0, 0);

	result[mode].missing = st == NOTSUP;
	if (st) {
		result[mode].failed |= st != NOTSUP;
		return;
	}
	for (unsigned i = 0; i < PAGES; i++)
		copied[i] = page_at(AREA, i)[0];
	for (unsigned i = 0; i < ROUNDS; i++) {
		result[mode].failed |= !(i % 2 ? get_then_clear() : harvest_and_copy());
		result[mode].failed |= !disturb(n + i);
	}
	halt_writers();
	result[mode].failed |= !harvest_and_copy();
	result[mode].stale += stale_copies();
	release_writers();
	result[mode].failed |= call(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0) != 0;
	result[mode].failed |= call(TEST_CALL_PROMOTE, AREA, AREA_SIZE, 0, 0) < 0;
	result[mode].cycles++;
}

/* What a caller may get wrong, and what the call must not do then. */
static void test_refusals(void)
{
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 3), (uint64_t)NOENT,
	   "memory: harvest without a log");
	is((uint64_t)call(TEST_CALL_LOG_ENABLE, TEST_LOG_PROTECT, 0, 0, 0), 0, "memory: log on");
	ok(call(TEST_CALL_LOG_ENABLE, TEST_LOG_PROTECT, 0, 0, 0) < 0, "memory: log on twice");
	ok(call(TEST_CALL_LOG_HARVEST, AREA + 1, AREA_SIZE, (uint64_t)bitmap, 3) < 0,
	   "memory: harvest, unaligned");
	ok(call(TEST_CALL_LOG_HARVEST, 1ULL << 40, AREA_SIZE, (uint64_t)bitmap, 3) < 0,
	   "memory: harvest beyond the VM");
	ok(call(TEST_CALL_LOG_HARVEST, AREA, ~0ULL << 18, (uint64_t)bitmap, 3) < 0,
	   "memory: harvest that wraps");
	ok(call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, 1ULL << 40, 3) < 0,
	   "memory: harvest to nowhere");
	ok(call(TEST_CALL_PROMOTE, AREA, AREA_SIZE, 0, 0) < 0, "memory: join under a log");
	ok(call(TEST_CALL_DISCARD, AREA, 0, 0, 0) < 0, "memory: discard of nothing");
	ok(call(TEST_CALL_DISCARD, 1ULL << 47, PAGE_SIZE, 0, 0) < 0, "memory: discard beyond the VM");
	ok(call(TEST_CALL_MOVE, AREA, ~0xfffULL, 0, 0) < 0, "memory: move that wraps");
	ok(call(TEST_CALL_AGE, AREA + 8, PAGE_SIZE, 0, 0) < 0, "memory: age, unaligned");
	is((uint64_t)call(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0), 0, "memory: log off");
	ok(call(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0) < 0, "memory: log off twice");
	is((uint64_t)call(TEST_CALL_REGION + 1, 0, 0, 0, 0), (uint64_t)-1000, "memory: no such call");
}

/* One page at a time, with nobody else about. */
static void test_exact(void)
{
	volatile uint64_t *p = page_at(AREA, 77);
	uint16_t *used = (uint16_t *)fresh_pages(1);

	for (unsigned i = 0; i < PAGES; i++)
		*page_at(AREA, i) = 0;
	call(TEST_CALL_LOG_ENABLE, TEST_LOG_AUTO, 0, 0, 0);
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 3), 0,
	   "memory: nothing written, nothing logged");
	*p = 1;
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 1), 1,
	   "memory: one page written, one logged");
	ok(bitmap[1] == 1u << 13, "memory: and it is the one");
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 3), 1,
	   "memory: a look leaves it set");
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 3), 0,
	   "memory: a harvest does not");
	is((uint64_t)call(TEST_CALL_DISCARD, AREA + 77 * PAGE_SIZE, PAGE_SIZE, 0, 0), 1,
	   "memory: one page discarded");
	is(*p, 0, "memory: it reads as zero");
	is((uint64_t)call(TEST_CALL_LOG_HARVEST, AREA, AREA_SIZE, (uint64_t)bitmap, 3), 1,
	   "memory: a discard is a change");
	call(TEST_CALL_LOG_DISABLE, 0, 0, 0, 0);
	call(TEST_CALL_AGE, AREA, AREA_SIZE, 0, 0);
	*page_at(AREA, 513) = 5;
	ok(call(TEST_CALL_AGE, AREA, AREA_SIZE, (uint64_t)used, 0) >= 1, "memory: use is noticed");
	ok(used[1] >= 1 && !used[0] && !used[2] && !used[3], "memory: in the span where it was");
	ok(call(TEST_CALL_MOVE, AREA, AREA_SIZE, 0, 0) == PAGES, "memory: all pages moved");
	is(*page_at(AREA, 513), 5, "memory: and hold what they held");
}

static void test_regions(void)
{
	volatile uint64_t *p = page_at(AREA, 10);

	*p = 7;
	is((uint64_t)call(TEST_CALL_REGION, AREA, 16 * PAGE_SIZE, 0, 0), 0, "memory: RAM taken away");
	is(*p, ~0ULL, "memory: nothing is there");
	*p = 8;
	is(*p, ~0ULL, "memory: and nothing stays");
	ok(*page_at(AREA, 16) == 0, "memory: what lies beside it stays");
	is((uint64_t)call(TEST_CALL_REGION, AREA, 16 * PAGE_SIZE, 1, 0), 0, "memory: RAM given back");
	is(*p, 0, "memory: it reads as zero again");
	ok(call(TEST_CALL_REGION, AREA, PAGE_SIZE, 1, 0) < 0, "memory: RAM given twice");
}

_Noreturn void test_memory(unsigned seconds)
{
	uint64_t end;

	test_refusals();
	test_exact();
	test_regions();
	for (unsigned i = 0; i < PAGES; i++)
		page_at(AREA, i)[0] = page_at(AREA, i)[511] = 0;
	smp_start();
	writers = smp_started();
	for (unsigned i = 1; i <= writers; i++)
		smp_run(i, writer);
	end = now_us() + seconds * 1000000ULL;
	for (unsigned n = 0; now_us() < end || n < ARRAY_SIZE(modes); n++)
		cycle(n % ARRAY_SIZE(modes), n);
	finished = 1;
	for (unsigned i = 1; i <= writers; i++)
		smp_wait(i);
	for (unsigned i = 0; i < PAGES; i++)
		lost += !holds(page_at(AREA, i), i, wrote[i]);
	is(lost, 0, "memory: every page holds what was written last");
	for (unsigned i = 0; i < ARRAY_SIZE(modes); i++) {
		guest_printf("# %s: %u cycles%s\n", modes[i].name, result[i].cycles,
			     result[i].missing ? " (this machine has none)" : "");
		ok(!result[i].failed && (result[i].cycles || result[i].missing), "memory: %s: works",
		   modes[i].name);
		is(result[i].stale, 0, "memory: %s: every write was logged", modes[i].name);
	}
	guest_printf("# %llu writes by %u CPUs in %u s\n", (unsigned long long)writes, writers, seconds);
	ok(writes > 0, "memory: there were writes");
	guest_end();
}
