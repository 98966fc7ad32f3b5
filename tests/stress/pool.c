/* SPDX-License-Identifier: BSD-2-Clause */
/* stress/pool: frames and tables that know whether they are in use. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/stress/stress.h"

#define TABLES 256u
#define LISTED 8192u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t stamps[FRAMES]; /* what a frame holds, by its first word */
static uint8_t used[FRAMES];
static uint64_t tables[TABLES][NPT_ENTRIES] __aligned(4096);
static uint8_t table_used[TABLES];
static unsigned table_hint; /* not the one freed last: whoever kept a pointer to it must not be right again */
static uint64_t random_state = 88172645463325252ULL;
static unsigned hint;

static struct waiting {
	enum flush_kind kind;
	hpa_t hpa;
	uint64_t pages;
} waiting[2][LISTED];
static unsigned waits[2];

/* Tables lie below the frames, from "physical" 4 KiB on. */
uint64_t pool_offset(void)
{
	return (uint64_t)tables - PAGE_SIZE;
}

void pool_init(void)
{
	for (unsigned i = 0; i < FRAMES; i++)
		stamps[i] = POISON;
}

static uint64_t index_of(uint64_t pfn)
{
	uint64_t i = pfn - (FRAME_BASE >> PAGE_SHIFT);

	if (i >= FRAMES)
		failed("no frame", pfn, 0);
	return i;
}

static void touch(uint64_t i, const char *what)
{
	if (!__atomic_load_n(&used[i], __ATOMIC_RELAXED))
		failed(what, i, __atomic_load_n(&stamps[i], __ATOMIC_RELAXED));
}

uint64_t frame_read(uint64_t pfn)
{
	uint64_t i = index_of(pfn), v;

	touch(i, "read of a free frame");
	v = __atomic_load_n(&stamps[i], __ATOMIC_RELAXED);
	touch(i, "frame freed while it was read");
	return v;
}

void frame_write(uint64_t pfn, uint64_t stamp)
{
	uint64_t i = index_of(pfn);

	touch(i, "write to a free frame");
	__atomic_store_n(&stamps[i], stamp, __ATOMIC_RELAXED);
	touch(i, "frame freed while it was written");
}

static bool block_free(unsigned at, unsigned n)
{
	for (unsigned i = at; i < at + n; i++)
		if (used[i])
			return false;
	return true;
}

hpa_t frames_alloc(unsigned order)
{
	unsigned n = 1u << order;
	hpa_t hpa = HPA_NONE;

	pthread_mutex_lock(&lock);
	for (unsigned tried = 0; n <= FRAMES && tried < FRAMES; tried += n) {
		unsigned at = (hint + tried) % FRAMES / n * n;

		if (!block_free(at, n))
			continue;
		for (unsigned i = at; i < at + n; i++)
			__atomic_store_n(&used[i], 1, __ATOMIC_RELAXED);
		hpa = HPA(FRAME_BASE + at * PAGE_SIZE);
		hint = at + n;
		break;
	}
	pthread_mutex_unlock(&lock);
	return hpa;
}

void frames_free(hpa_t hpa, unsigned order)
{
	uint64_t at = index_of(hpa.v >> PAGE_SHIFT);

	pthread_mutex_lock(&lock);
	for (uint64_t i = at; i < at + BIT64(order); i++) {
		touch(i, "frame freed twice");
		__atomic_store_n(&stamps[i], POISON, __ATOMIC_RELAXED);
		__atomic_store_n(&used[i], 0, __ATOMIC_RELAXED);
	}
	/* Short of memory, frames come back at once. */
	hint = (unsigned)at;
	pthread_mutex_unlock(&lock);
}

void frames_clear(hpa_t hpa, unsigned order)
{
	for (uint64_t i = 0; i < BIT64(order); i++)
		frame_write((hpa.v >> PAGE_SHIFT) + i, 0);
}

/* Now and then there is none. */
uint64_t *table_alloc(void *ctx)
{
	uint64_t *t = NULL;

	(void)ctx;
	pthread_mutex_lock(&lock);
	for (unsigned k = 0; k < TABLES && (!st.n.root || next(&random_state) % 32); k++) {
		unsigned i = table_hint++ % TABLES;

		if (table_used[i])
			continue;
		t = tables[i];
		for (k = 0; k < NPT_ENTRIES; k++)
			__atomic_store_n(&t[k], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&table_used[i], 1, __ATOMIC_RELAXED);
		break;
	}
	pthread_mutex_unlock(&lock);
	return t;
}

static uint64_t table_index(const uint64_t *e)
{
	uint64_t i = (uint64_t)(e - tables[0]) / NPT_ENTRIES;

	if (i >= TABLES)
		failed("no table", (uint64_t)e, 0);
	return i;
}

void table_free(void *ctx, uint64_t *t)
{
	uint64_t i = table_index(t);

	(void)ctx;
	pthread_mutex_lock(&lock);
	if (!table_used[i])
		failed("table freed twice", i, 0);
	__atomic_store_n(&table_used[i], 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

void table_check(const uint64_t *e)
{
	if (!__atomic_load_n(&table_used[table_index(e)], __ATOMIC_RELAXED))
		failed("walk in a free table", table_index(e), 0);
}

static void let_go(const struct waiting *w)
{
	for (uint64_t i = 0; i < w->pages; i++) {
		hpa_t hpa = HPA(w->hpa.v + i * PAGE_SIZE);

		if (w->kind == FLUSH_TABLE)
			table_free(NULL, (uint64_t *)(hpa.v + pool_offset()));
		else
			frames_free(hpa, 0);
	}
}

void retire(void *ctx, unsigned list, enum flush_kind kind, hpa_t hpa, uint64_t pages)
{
	struct waiting w = { kind, hpa, pages };

	(void)ctx;
	if (st.mutant == MUTANT_FREE_AT_ONCE) {
		let_go(&w);
		return;
	}
	if (waits[list] == LISTED)
		failed("too much is retired", list, 0);
	waiting[list][waits[list]++] = w;
}

void release(void *ctx, unsigned list)
{
	(void)ctx;
	while (waits[list])
		let_go(&waiting[list][--waits[list]]);
}

unsigned frames_in_use(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FRAMES; i++)
		n += used[i];
	return n;
}

unsigned tables_in_use(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TABLES; i++)
		n += table_used[i];
	return n;
}
