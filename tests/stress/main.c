/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stress: the engine of the nested tables itself, with ThreadSanitizer and the
 * flush audit, under threads that are vCPUs with a TLB and threads that log,
 * age, move, discard and join pages.  Checked is that no write is lost, that
 * each one is in a log, that nobody touches what is free, and that nothing
 * leaks.  Then mutants: the same with a vCPU or its surroundings misbehaving,
 * which must be noticed, or the checks are worth nothing.
 *
 * stress [SECONDS]: per format; a mutant gets as long until it counts as missed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/assert.h"
#include "mm/npte_edge.h"
#include "tests/stress/stress.h"

#define TRIES 12 /* for a mutant */

#define NOTICED_BY_TSAN 66

struct stress st;

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "halt_on_error=1 exitcode=66 report_thread_leaks=0";
}

_Noreturn void failed(const char *what, uint64_t a, uint64_t b)
{
	printf("# %s: %#llx %#llx\n", what, (unsigned long long)a, (unsigned long long)b);
	fflush(stdout);
	_exit(1);
}

_Noreturn void hv_assert_fail(const char *expr, const char *file, int line)
{
	printf("# %s:%d: %s\n", file, line, expr);
	fflush(stdout);
	_exit(1);
}

static void kick(void *ctx, uint32_t slot)
{
	(void)ctx;
	__atomic_store_n(&st.vcpu[slot].kicked, 1, __ATOMIC_RELEASE);
}

static void free_leaf(void *arg, const struct npt_leaf *l)
{
	(void)arg;
	frames_free(l->hpa, l->shift - PAGE_SHIFT);
}

static void prepare(const struct npt_fmt *fmt, enum mutant mutant)
{
	st.fmt = *fmt;
	st.mutant = mutant;
	pool_init();
	st.npt_env = (struct npt_env){ NULL, table_alloc, table_free, pool_offset() };
	st.flush_env = (struct flush_env){ NULL, kick, retire, release };
	flush_init(&st.f, VCPUS, &st.flush_env);
	if (npt_create(&st.n, &st.fmt, &st.npt_env) || region_add(&st.regions, 0, AREA, REGION_RAM))
		failed("no VM", 0, 0);
	st.n.audit = &st.f.audit;
	for (uint32_t i = 0; i < VCPUS; i++)
		st.vcpu[i] = (struct vcpu){ .slot = i, .random = 0x9e3779b97f4a7c15ULL * (i + 1) };
}

static void finish(void)
{
	uint64_t accesses = 0, faults = 0, fast = 0;

	while (!flush_reclaim(&st.f))
		;
	npt_destroy(&st.n, free_leaf, NULL);
	if (frames_in_use() || tables_in_use())
		failed("leaked frames and tables", frames_in_use(), tables_in_use());
	for (unsigned i = 0; i < VCPUS; i++) {
		accesses += st.vcpu[i].accesses;
		faults += st.vcpu[i].faults;
		fast += st.vcpu[i].fast;
	}
	printf("# %llu accesses, %llu faults, %llu fast; %llu harvests, %llu comparisons, pages: %llu "
	       "moved, %llu removed, %llu aged; %llu promotions\n",
	       (unsigned long long)accesses, (unsigned long long)faults, (unsigned long long)fast,
	       (unsigned long long)st.harvests, (unsigned long long)st.compared,
	       (unsigned long long)st.moved, (unsigned long long)st.removed,
	       (unsigned long long)st.aged, (unsigned long long)st.promoted);
	if (!st.harvests || !st.compared || !st.moved || !st.removed || !st.aged || !st.promoted || !fast)
		failed("something has never happened", 0, 0);
}

/* Now and then a thread stands still around its compare-and-swap: wider windows for the others. */
static void dawdle(uint64_t *e)
{
	static _Thread_local uint64_t random;

	if (!random)
		random = (uint64_t)(uintptr_t)e | 1;
	if (next(&random) % 256 == 0)
		sched_yield();
}

static void run(const struct npt_fmt *fmt, enum mutant mutant, unsigned seconds)
{
	pthread_t t[VCPUS + 2];

	npte_step = dawdle;
	prepare(fmt, mutant);
	for (unsigned i = 0; i < VCPUS; i++)
		pthread_create(&t[i], NULL, vcpu_thread, &st.vcpu[i]);
	pthread_create(&t[VCPUS], NULL, harvest_thread, NULL);
	pthread_create(&t[VCPUS + 1], NULL, mutate_thread, NULL);
	sleep(seconds);
	__atomic_store_n(&st.finished, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < VCPUS + 2; i++)
		pthread_join(t[i], NULL);
	finish();
}

/*
 * In a process of its own, so that one failure ends one run.  0: all was well; 1:
 * something was noticed; anything else is no answer.
 */
static int outcome(const struct npt_fmt *fmt, enum mutant mutant, unsigned seconds)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(seconds * 10 + 60);
		/* A mutant's report is expected; nobody needs to read it. */
		if (mutant && !freopen("/dev/null", "w", stderr))
			_exit(2);
		run(fmt, mutant, seconds);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == NOTICED_BY_TSAN ? 1 : WEXITSTATUS(status);
}

static unsigned passed, missed;

static void report(bool good, const char *what, const char *name)
{
	printf("%s - %s %s\n", good ? "ok" : "not ok", what, name);
	passed += good;
	missed += !good;
}

/* Threads hit a small window only now and then: a quiet run is no proof, so there are more. */
static bool is_caught(const struct npt_fmt *fmt, enum mutant mutant, unsigned seconds)
{
	for (unsigned i = 0; i < TRIES; i++) {
		int how = outcome(fmt, mutant, seconds);

		if (how)
			return how == 1;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const char *const name[MUTANTS] = {
		[MUTANT_NO_FLUSH] = "flush ignored",
		[MUTANT_NO_FLUSH_SEEN] = "flush ignored, with the audit",
		[MUTANT_KEEP_TABLES] = "cached tables are kept",
		[MUTANT_FREE_AT_ONCE] = "retired frames freed at once",
		[MUTANT_LEAVE_EARLY] = "left before the last access",
		[MUTANT_OUT_IN_ROOT] = "out, but writing in root mode",
		[MUTANT_MARK_FIRST] = "marked before written",
		[MUTANT_NO_MARK] = "written in root mode, not marked",
		[MUTANT_COPY_FIRST] = "copied before cleared",
		[MUTANT_OLD_WALK] = "walk kept over a flush",
		[MUTANT_NO_DRAIN] = "PML drained when full only",
	};
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	struct npt_fmt pml = npt_fmt_ept, bare = npt_fmt_ept;

	pml.name = "EPT, PML";
	pml.pml = true;
	bare.name = "EPT without A and D";
	bare.accessed = bare.dirty = 0;
	report(!outcome(&npt_fmt_ept, MUTANT_NONE, seconds), "format", npt_fmt_ept.name);
	report(!outcome(&pml, MUTANT_NONE, seconds), "format", pml.name);
	report(!outcome(&bare, MUTANT_NONE, seconds), "format", bare.name);
	report(!outcome(&npt_fmt_npt, MUTANT_NONE, seconds), "format", npt_fmt_npt.name);
	for (enum mutant m = MUTANT_NONE + 1; m < MUTANTS; m++)
		report(is_caught(m == MUTANT_NO_DRAIN ? &pml : &npt_fmt_ept, m, seconds),
		       "caught:", name[m]);
	printf("%u passed, %u failed, 0 skipped\n", passed, missed);
	return missed != 0;
}
