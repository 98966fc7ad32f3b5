/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "mm/flush.h"

#define FRAMES 1024

static struct flush f;
static unsigned kicks[FLUSH_SLOTS];
static unsigned released[FRAMES];
static unsigned releases;

/* What a kicked vCPU does: it leaves the guest and is about to enter again. */
static void kick(void *ctx, uint32_t slot)
{
	assert_ptr_equal(ctx, &f);
	assert_true(slot < f.slot_count);
	kicks[slot]++;
	flush_leave(&f, slot, FLUSH_ROOT);
}

/* Two lists of frame numbers. */
static unsigned list[2][FRAMES], listed[2];

static void put(void *ctx, unsigned l, enum flush_kind kind, hpa_t hpa, uint64_t pages)
{
	unsigned frame = (unsigned)(hpa.v / PAGE_SIZE);

	assert_ptr_equal(ctx, &f);
	assert_int_equal(pages, frame % 10);
	assert_int_equal(kind, frame % 2 ? FLUSH_TABLE : FLUSH_FRAMES);
	list[l][listed[l]++] = frame;
}

static void release(void *ctx, unsigned l)
{
	assert_ptr_equal(ctx, &f);
	while (listed[l]) {
		released[list[l][--listed[l]]]++;
		releases++;
	}
}

static struct flush_env env = {&f, kick, put, release};

static void begin(uint32_t slots)
{
	memset(kicks, 0, sizeof(kicks));
	memset(released, 0, sizeof(released));
	memset(listed, 0, sizeof(listed));
	releases = 0;
	env.kick = kick;
	flush_init(&f, slots, &env);
}

static void retire(unsigned frame)
{
	flush_retire(&f, frame % 2 ? FLUSH_TABLE : FLUSH_FRAMES, HPA(frame * PAGE_SIZE), frame % 10);
}

static void flushes_once_a_generation(void **s)
{
	uint64_t gen;

	(void)s;
	begin(2);
	/* Nothing is known of what the CPU held before. */
	assert_true(flush_enter(&f, 0));
	flush_leave(&f, 0, FLUSH_ROOT);
	assert_false(flush_enter(&f, 0));
	flush_leave(&f, 0, FLUSH_ROOT);
	gen = flush_begin(&f);
	assert_int_equal(flush_begin(&f), gen + 1);
	assert_true(flush_enter(&f, 0));
	flush_leave(&f, 0, FLUSH_OUT);
	assert_false(flush_enter(&f, 0));
	assert_true(flush_enter(&f, 1));
}

static void waits_for_those_in_the_guest(void **s)
{
	uint64_t gen;

	(void)s;
	begin(4);
	flush_enter(&f, 0); /* in the guest, old */
	flush_enter(&f, 1);
	flush_leave(&f, 1, FLUSH_ROOT);
	gen = flush_begin(&f);
	flush_enter(&f, 2); /* in the guest, new */
	flush_wait(&f, gen);
	assert_int_equal(kicks[0], 1);
	assert_int_equal(kicks[1], 0);
	assert_int_equal(kicks[2], 0);
	assert_int_equal(kicks[3], 0);
	/* Those that were not waited for flush by themselves. */
	assert_true(flush_enter(&f, 0));
	assert_true(flush_enter(&f, 1));
	assert_true(flush_enter(&f, 3));
	flush_wait(&f, gen);
	assert_int_equal(kicks[0], 1);
}

static void frees_only_when_all_have_seen_it(void **s)
{
	(void)s;
	begin(2);
	flush_enter(&f, 0);
	flush_enter(&f, 1);
	retire(1);
	retire(2);
	flush_begin(&f);
	assert_false(flush_reclaim(&f));
	flush_leave(&f, 0, FLUSH_ROOT);
	flush_leave(&f, 1, FLUSH_OUT);
	/* Slot 0 may still hold a pointer that it looked up. */
	assert_false(flush_reclaim(&f));
	assert_int_equal(releases, 0);
	assert_true(flush_enter(&f, 0));
	assert_true(flush_reclaim(&f));
	assert_int_equal(released[1], 1);
	assert_int_equal(released[2], 1);
	assert_true(flush_reclaim(&f));
	assert_int_equal(releases, 2);
}

/* What is retired later does not put off what waits already, and is not freed with it. */
static void generations_are_apart(void **s)
{
	(void)s;
	begin(1);
	flush_enter(&f, 0);
	retire(1);
	assert_false(flush_reclaim(&f));
	retire(2);
	flush_leave(&f, 0, FLUSH_ROOT);
	flush_enter(&f, 0);
	assert_false(flush_reclaim(&f));
	assert_int_equal(released[1], 1);
	assert_int_equal(released[2], 0);
	flush_leave(&f, 0, FLUSH_ROOT);
	flush_enter(&f, 0);
	assert_true(flush_reclaim(&f));
	assert_int_equal(released[2], 1);
}

static void retired_without_a_generation(void **s)
{
	(void)s;
	begin(1);
	flush_enter(&f, 0);
	retire(4);
	/* It saw the generation before: that does not count. */
	assert_false(flush_reclaim(&f));
	assert_int_equal(releases, 0);
	flush_leave(&f, 0, FLUSH_OUT);
	assert_true(flush_reclaim(&f));
	assert_int_equal(released[4], 1);
}

static void no_vcpu_no_wait(void **s)
{
	(void)s;
	begin(0);
	retire(7);
	flush_wait(&f, flush_begin(&f));
	assert_true(flush_reclaim(&f));
	assert_int_equal(released[7], 1);
}

static unsigned leaves_after;

static void kick_out(void *ctx, uint32_t slot)
{
	(void)ctx;
	kicks[slot]++;
	flush_leave(&f, slot, leaves_after ? FLUSH_OUT : FLUSH_ROOT);
	if (!leaves_after)
		flush_enter(&f, slot);
}

/* In root mode: it may hold a pointer, so that it too is waited for. */
static void waits_for_root(void **s)
{
	(void)s;
	for (leaves_after = 0; leaves_after < 2; leaves_after++) {
		begin(3);
		env.kick = kick_out;
		flush_enter(&f, 0);
		flush_arrive(&f, 1);
		flush_wait_for_root(&f, flush_begin(&f));
		assert_int_equal(kicks[0], 1);
		assert_int_equal(kicks[1], 1);
		assert_int_equal(kicks[2], 0);
	}
}

/* Whoever needs the memory now waits for it: one in the guest, one in root mode, one out. */
static void reclaims_all(void **s)
{
	(void)s;
	for (leaves_after = 0; leaves_after < 2; leaves_after++) {
		begin(3);
		env.kick = kick_out;
		flush_enter(&f, 0);
		flush_arrive(&f, 1);
		retire(1);
		flush_begin(&f);
		assert_false(flush_reclaim(&f));
		retire(2);
		assert_false(flush_reclaim(&f));
		flush_reclaim_all(&f);
		assert_int_equal(released[1], 1);
		assert_int_equal(released[2], 1);
		assert_int_equal(kicks[0], 1);
		assert_int_equal(kicks[1], 1);
		assert_int_equal(kicks[2], 0);
		/* Nothing is left, nobody is disturbed. */
		flush_arrive(&f, 1);
		flush_reclaim_all(&f);
		assert_int_equal(kicks[1], 1);
		assert_int_equal(releases, 2);
	}
}

static void all_slots(void **s)
{
	uint64_t gen;

	(void)s;
	begin(FLUSH_SLOTS);
	for (uint32_t i = 0; i < FLUSH_SLOTS; i++)
		flush_enter(&f, i);
	gen = flush_begin(&f);
	flush_wait(&f, gen);
	for (uint32_t i = 0; i < FLUSH_SLOTS; i++)
		assert_int_equal(kicks[i], 1);
}

/* ---- threads --------------------------------------------------------------------- */

#define VCPUS  3
#define ROUNDS 2000

/*
 * The one page: 0 while removed.  A vCPU keeps what it read, as a TLB does, until
 * it is told to flush; a kick is a flag it polls, as the guest does for interrupts.
 */
static uint64_t page, dead;
static uint32_t kicked[VCPUS];
static uint32_t finished;

static void set_flag(void *ctx, uint32_t slot)
{
	(void)ctx;
	__atomic_store_n(&kicked[slot], 1, __ATOMIC_SEQ_CST);
}

static void *vcpu(void *arg)
{
	uint32_t slot = (uint32_t)(uintptr_t)arg;
	uint64_t tlb = 0, bad = 0;

	while (!__atomic_load_n(&finished, __ATOMIC_SEQ_CST)) {
		if (flush_enter(&f, slot))
			tlb = 0;
		for (unsigned i = 0; i < 50 && !__atomic_load_n(&kicked[slot], __ATOMIC_SEQ_CST); i++) {
			if (!tlb)
				tlb = __atomic_load_n(&page, __ATOMIC_SEQ_CST);
			/* Whatever may be used here has not been given up. */
			bad += tlb && tlb <= __atomic_load_n(&dead, __ATOMIC_SEQ_CST);
		}
		flush_leave(&f, slot, FLUSH_ROOT);
		__atomic_store_n(&kicked[slot], 0, __ATOMIC_SEQ_CST);
	}
	flush_leave(&f, slot, FLUSH_OUT);
	return (void *)(uintptr_t)bad;
}

static void threads_never_use_what_is_gone(void **s)
{
	pthread_t t[VCPUS];

	(void)s;
	begin(VCPUS);
	env.kick = set_flag;
	page = dead = finished = 0;
	for (uintptr_t i = 0; i < VCPUS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, vcpu, (void *)i), 0);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		uint64_t gen;

		__atomic_store_n(&page, i, __ATOMIC_SEQ_CST);
		__atomic_store_n(&page, 0, __ATOMIC_SEQ_CST);
		gen = flush_begin(&f);
		flush_wait(&f, gen);
		__atomic_store_n(&dead, i, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&finished, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < VCPUS; i++) {
		void *bad;

		assert_int_equal(pthread_join(t[i], &bad), 0);
		assert_null(bad);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(flushes_once_a_generation),
		cmocka_unit_test(waits_for_those_in_the_guest),
		cmocka_unit_test(frees_only_when_all_have_seen_it),
		cmocka_unit_test(generations_are_apart),
		cmocka_unit_test(no_vcpu_no_wait),
		cmocka_unit_test(retired_without_a_generation),
		cmocka_unit_test(waits_for_root),
		cmocka_unit_test(reclaims_all),
		cmocka_unit_test(all_slots),
		cmocka_unit_test(threads_never_use_what_is_gone),
	};
	return cmocka_run_group_tests_name("flush", t, NULL, NULL);
}
