/* SPDX-License-Identifier: BSD-2-Clause */
/* stress/mutate: the threads that change the tables under the mutation lock. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "mm/age.h"
#include "mm/npt_remove.h"
#include "mm/npt_split.h"
#include "tests/stress/stress.h"

static pthread_mutex_t mutation = PTHREAD_MUTEX_INITIALIZER;
static uint64_t bits[PAGES / 64], bitmap[PAGES / 64];
static struct dirty_log log_of_writes = { DIRTY_PROTECT, PAGES, bits };

static void begin(void)
{
	pthread_mutex_lock(&mutation);
}

static void end(void)
{
	flush_reclaim(&st.f);
	pthread_mutex_unlock(&mutation);
	sched_yield();
}

/* ---- the log ------------------------------------------------------------------------- */

static uint64_t content(uint64_t page)
{
	struct npt_leaf l;

	return npt_lookup(&st.n, GPA(page << PAGE_SHIFT), &l) ? frame_read(leaf_pfn(&l, page)) : 0;
}

static void log_on(uint64_t *random)
{
	enum hv_status s;

	log_of_writes.mode = !st.fmt.dirty ? DIRTY_PROTECT : st.fmt.pml ? DIRTY_PML : DIRTY_DBIT;
	if (next(random) % 3 == 0)
		log_of_writes.mode = DIRTY_PROTECT;
	for (unsigned i = 0; i < PAGES / 64; i++)
		if (bits[i])
			failed("the log was used after its end", i, bits[i]);
	begin();
	s = dirty_enable(&st.n, &st.f, &log_of_writes, next(random) % 2);
	if (s && s != HV_NOMEM)
		failed("dirty_enable", s, 0);
	for (uint64_t i = 0; i < PAGES; i++)
		st.copied[i] = content(i);
	end();
}

static void log_off(void)
{
	begin();
	if (dirty_disable(&st.n, &st.f) != &log_of_writes)
		failed("dirty_disable", 0, 0);
	for (unsigned i = 0; i < PAGES / 64; i++)
		bits[i] = 0;
	end();
}

static void call_harvest(uint64_t from, uint64_t pages, unsigned flags)
{
	uint64_t count;
	enum hv_status s = dirty_harvest(&st.n, &st.f, GPA(from << PAGE_SHIFT), pages << PAGE_SHIFT,
					 flags, bitmap + from / 64, &count);

	if (s)
		failed("dirty_harvest", s, 0);
}

static void copy_named(uint64_t from, uint64_t pages)
{
	for (uint64_t i = from; i < from + pages; i++)
		if (bitmap[i / 64] >> (i % 64) & 1)
			st.copied[i] = content(i);
}

/* At once, or as those do who look first and clear by name what they will read. */
static void harvest(uint64_t from, uint64_t pages, bool by_name)
{
	if (by_name) {
		call_harvest(from, pages, DIRTY_GET);
		if (st.mutant == MUTANT_COPY_FIRST)
			copy_named(from, pages);
		call_harvest(from, pages, DIRTY_CLEAR);
	} else {
		call_harvest(from, pages, DIRTY_GET | DIRTY_CLEAR);
	}
	if (!by_name || st.mutant != MUTANT_COPY_FIRST)
		copy_named(from, pages);
	st.harvests++;
}

static void harvest_some(uint64_t *random)
{
	uint64_t from = next(random) % (PAGES / 64), words = next(random) % (PAGES / 64 - from) + 1;

	begin();
	if (next(random) % 2)
		harvest(0, PAGES, next(random) % 2);
	else
		harvest(from * 64, words * 64, next(random) % 2);
	end();
}

/* Nobody writes: after one more harvest the copy must be the truth. */
static void compare(void)
{
	begin();
	__atomic_store_n(&st.stand_still, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&st.standing, __ATOMIC_SEQ_CST) != VCPUS && !finished())
		sched_yield();
	if (!finished()) {
		harvest(0, PAGES, false);
		for (uint64_t i = 0; i < PAGES; i++)
			if (content(i) != st.copied[i])
				failed("a write is in no log", i, content(i));
		st.compared++;
	}
	__atomic_store_n(&st.stand_still, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&st.standing, __ATOMIC_SEQ_CST) && !finished())
		sched_yield();
	end();
}

void *harvest_thread(void *arg)
{
	uint64_t random = 0x1234567;

	(void)arg;
	while (!finished()) {
		log_on(&random);
		for (unsigned rounds = (unsigned)next(&random) % 4 + 1; rounds && !finished(); rounds--) {
			for (unsigned i = 0; i < 4 && !finished(); i++) {
				usleep((unsigned)next(&random) % 2000);
				harvest_some(&random);
			}
			compare();
		}
		log_off();
		usleep(20000);
	}
	return NULL;
}

/* ---- moving, removal and the rest ------------------------------------------------------ */

/* A whole span moves into one block, if there is one, so that it can be joined later. */
struct target {
	hpa_t block;
	unsigned given;
};

static hpa_t frame_for_move(void *ctx)
{
	struct target *t = ctx;

	if (hpa_valid(t->block) && t->given < NPT_ENTRIES)
		return HPA(t->block.v + t->given++ * PAGE_SIZE);
	return frames_alloc(0);
}

static void copy_frame(void *ctx, hpa_t to, hpa_t from)
{
	(void)ctx;
	frame_write(to.v >> PAGE_SHIFT, frame_read(from.v >> PAGE_SHIFT));
}

static void move(uint64_t from, uint64_t pages)
{
	struct target t = { pages == NPT_ENTRIES ? frames_alloc(9) : HPA_NONE, 0 };
	const struct npt_move_env env = { &t, frame_for_move, copy_frame };
	enum hv_status s;
	uint64_t count;

	s = npt_move(&st.n, &st.f, GPA(from << PAGE_SHIFT), pages << PAGE_SHIFT, &env, &count);
	if (s && s != HV_NOMEM)
		failed("npt_move", s, 0);
	while (hpa_valid(t.block) && t.given < NPT_ENTRIES)
		frames_free(HPA(t.block.v + t.given++ * PAGE_SIZE), 0);
	st.moved += count;
}

static void discard(uint64_t from, uint64_t pages)
{
	uint64_t count;
	enum hv_status s = npt_remove(&st.n, &st.f, GPA(from << PAGE_SHIFT), pages << PAGE_SHIFT,
				      &count);

	if (s && s != HV_NOMEM)
		failed("npt_remove", s, 0);
	st.removed += s ? 0 : count;
}

static void some_change(uint64_t *random)
{
	uint64_t r = next(random), from = (r >> 8) % PAGES, pages = (r >> 24) % (PAGES - from) % 80 + 1;
	uint64_t span = from / NPT_ENTRIES * NPT_ENTRIES;

	switch (r % 8) {
	case 0:
		st.aged += age_range(&st.n, &st.f, GPA(0), AREA, NULL);
		break;
	case 1:
		move(from, pages);
		break;
	case 2:
		move(span, NPT_ENTRIES);
		if (!st.n.log)
			st.promoted += npt_promote(&st.n, &st.f, GPA(span << PAGE_SHIFT), 2 * MIB);
		break;
	case 3:
	case 4:
		from = DISCARD + from % NPT_ENTRIES;
		discard(from, pages < PAGES - from ? pages : PAGES - from);
		break;
	case 5:
		discard(DISCARD, NPT_ENTRIES);
		break;
	default:
		if (!st.n.log)
			st.promoted += npt_promote(&st.n, &st.f, GPA(span << PAGE_SHIFT), 2 * MIB);
	}
}

void *mutate_thread(void *arg)
{
	uint64_t random = 0x7654321;

	(void)arg;
	while (!finished()) {
		begin();
		some_change(&random);
		end();
		usleep((unsigned)next(&random) % 500);
	}
	return NULL;
}
