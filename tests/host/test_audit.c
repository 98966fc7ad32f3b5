/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "mm/audit.h"

static struct npt_audit a;

static void begin(void)
{
	memset(&a, 0, sizeof(a));
}

/* True if an assertion ends @fn. */
static bool stops(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGABRT);
	else
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

static void rely(void)
{
	audit_released(&a, audit_seq(&a));
}

static void rely_on_an_older_one(void)
{
	audit_released(&a, audit_seq(&a) - 1);
}

static void enter_0(void)
{
	audit_enter(&a, 0);
}

static void flush_and_enter_0(void)
{
	audit_flushed(&a, 0);
	audit_enter(&a, 0);
}

static void flush_done_2(void)
{
	audit_flush_done(&a, 2);
}

static void flush_done_1(void)
{
	audit_flush_done(&a, 1);
}

static void reuse_while_in_the_guest(void **s)
{
	(void)s;
	begin();
	audit_enter(&a, 0);
	assert_false(stops(rely));
	audit_restricted(&a);
	assert_true(stops(rely));
	assert_false(stops(rely_on_an_older_one));
	/* A flush while it runs: by a kick, which makes it leave and enter again. */
	audit_leave(&a, 0);
	assert_false(stops(rely));
	assert_false(stops(flush_and_enter_0));
	flush_and_enter_0();
	assert_false(stops(rely));
	/* Another right is lost afterwards. */
	audit_restricted(&a);
	assert_true(stops(rely));
}

static void every_slot_is_looked_at(void **s)
{
	(void)s;
	for (uint32_t i = 0; i < AUDIT_SLOTS; i++) {
		begin();
		audit_enter(&a, i);
		audit_restricted(&a);
		assert_true(stops(rely));
	}
}

static void entry_without_the_flush(void **s)
{
	(void)s;
	begin();
	audit_restricted(&a);
	/* Nobody has relied on it yet: the entry may come before the flush is asked for. */
	assert_false(stops(enter_0));
	rely();
	assert_true(stops(enter_0));
	assert_false(stops(flush_and_enter_0));
	flush_and_enter_0();
	audit_leave(&a, 0);
	assert_false(stops(enter_0));
}

static void flush_that_is_not_done(void **s)
{
	(void)s;
	begin();
	audit_enter(&a, 1);
	audit_restricted(&a);
	audit_flush_begun(&a);
	assert_true(stops(flush_done_2));
	assert_false(stops(flush_done_1)); /* there is no vCPU 1 */
	audit_leave(&a, 1);
	audit_flushed(&a, 1);
	audit_enter(&a, 1);
	assert_false(stops(flush_done_2));
	/* What was lost after the flush began is another flush's. */
	audit_restricted(&a);
	assert_false(stops(flush_done_2));
	audit_flush_begun(&a);
	assert_true(stops(flush_done_2));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(reuse_while_in_the_guest),
		cmocka_unit_test(every_slot_is_looked_at),
		cmocka_unit_test(entry_without_the_flush),
		cmocka_unit_test(flush_that_is_not_done),
	};
	return cmocka_run_group_tests_name("audit", t, NULL, NULL);
}
