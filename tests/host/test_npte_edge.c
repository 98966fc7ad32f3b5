/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "mm/audit.h"
#include "mm/npte_edge.h"

/* By edge: states it leads from, states it leads to, each a letter of STATES; = the frame stays. */
#define STATES "EZTorcdaX"
static const struct {
	const char *name, *from, *to;
	bool same_frame;
} spec[] = {
	{"INSTALL", "E", "orcd", false},     {"LINK", "E", "T", false},
	{"GRANT", "r", "cd", true},	     {"UNAGE", "a", "orcd", true},
	{"CLEAR_A", "orcd", "orcd", true},   {"CLEAR_D", "dro", "cro", true},
	{"PROTECT", "cd", "r", true},	     {"AGE", "orcd", "a", true},
	{"FREEZE", "orcdaE", "Z", false},    {"EMPTY", "Z", "E", false},
	{"REFILL", "Z", "orcda", false},     {"RESTORE", "Z", "Eorcda", false},
	{"SPLIT", "orcda", "T", false},	     {"DETACH", "T", "Z", false},
	{"MERGE", "Z", "orcd", false},	     {"ATTACH", "Z", "T", false},
};

/* An entry of a page directory in each state. */
static uint64_t entry(const struct npt_fmt *f, unsigned state, uint64_t frame)
{
	uint64_t ro = npte_leaf(f, HPA(frame), 21, NPT_READ | NPT_EXEC, false);
	uint64_t w = npte_leaf(f, HPA(frame), 21, NPT_RWX, true);

	switch (STATES[state]) {
	case 'E':
		return NPTE_EMPTY;
	case 'Z':
		return NPTE_FROZEN;
	case 'T':
		return npte_table(f, HPA(frame));
	case 'o':
		return ro;
	case 'r':
		return ro | NPTE_MW;
	case 'c':
		return w;
	case 'd':
		return w | f->dirty;
	case 'a':
		return npte_aged(f, w);
	default:
		return w & ~NPTE_SW_P;
	}
}

static bool in(const char *set, char c)
{
	return strchr(set, c) != NULL;
}

/* Every edge, from every state to every state, with the same frame and with another. */
static void all_edges(void **s)
{
	static const struct npt_fmt *const fmts[] = {&npt_fmt_ept, &npt_fmt_npt};
	const unsigned n = sizeof(STATES) - 1;

	(void)s;
	assert_int_equal(ARRAY_SIZE(spec), EDGE_COUNT);
	for (unsigned i = 0; i < ARRAY_SIZE(fmts) * EDGE_COUNT * n * n * 2; i++) {
		const struct npt_fmt *f = fmts[i % 2];
		unsigned edge = i / 2 % EDGE_COUNT, from = i / 2 / EDGE_COUNT % n;
		unsigned to = i / 2 / EDGE_COUNT / n % n, other = i / 2 / EDGE_COUNT / n / n;
		bool want = in(spec[edge].from, STATES[from]) && in(spec[edge].to, STATES[to]) &&
			    !(spec[edge].same_frame && other);
		bool legal = npte_edge_legal(f, edge, 21, entry(f, from, 0x40000000),
					     entry(f, to, other ? 0x40200000 : 0x40000000));

		if (legal != want)
			fail_msg("%s %s: %c to %c is %d", f->name, spec[edge].name, STATES[from],
				 STATES[to], legal);
	}
}

static void names(void **s)
{
	(void)s;
	for (unsigned e = 0; e < EDGE_COUNT; e++)
		assert_string_equal(npte_edge_name(e), spec[e].name);
}

static void swaps_only_what_was_seen(void **s)
{
	struct npt_audit audit = {0};
	struct npt n = {.fmt = &npt_fmt_ept, .audit = &audit};
	uint64_t rl = entry(n.fmt, 4, 0x40000000), w = rl | n.fmt->write, e = rl | n.fmt->accessed;

	(void)s;
	assert_false(npte_cas(&n, EDGE_GRANT, 21, &e, rl, w));
	assert_int_equal(e, rl | n.fmt->accessed);
	/* What fails is no edge: nobody is told, and nobody minds that it would be illegal. */
	assert_false(npte_cas(&n, EDGE_LINK, 21, &e, rl, w));
	assert_int_equal(audit.seq, 0);
	assert_true(npte_cas(&n, EDGE_GRANT, 21, &e, e, e | n.fmt->write));
	assert_int_equal(audit.seq, 0);
	assert_true(npte_cas(&n, EDGE_PROTECT, 21, &e, e, rl));
	assert_int_equal(audit.seq, 1);
	/* Nothing was taken away from anybody: an empty entry is in no TLB. */
	e = NPTE_EMPTY;
	assert_true(npte_cas(&n, EDGE_FREEZE, 21, &e, NPTE_EMPTY, NPTE_FROZEN));
	assert_int_equal(audit.seq, 1);
	npte_store(&n, EDGE_REFILL, 21, &e, w);
	assert_int_equal(e, w);
	assert_int_equal(audit.seq, 1);
}

static void stops_at_an_illegal_edge(void **s)
{
	int status;
	pid_t pid = fork();

	(void)s;
	if (!pid) {
		struct npt_audit audit = {0};
		struct npt n = {.fmt = &npt_fmt_ept, .audit = &audit};
		uint64_t e = entry(n.fmt, 3, 0x40000000);

		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		/* A leaf that must never be written to. */
		npte_cas(&n, EDGE_GRANT, 21, &e, e, e | n.fmt->write | NPTE_MW);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(all_edges),
		cmocka_unit_test(names),
		cmocka_unit_test(swaps_only_what_was_seen),
		cmocka_unit_test(stops_at_an_illegal_edge),
	};
	return cmocka_run_group_tests_name("npte_edge", t, NULL, NULL);
}
