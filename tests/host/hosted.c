/* SPDX-License-Identifier: BSD-2-Clause */
/* hosted: what pure code expects from its surroundings, for the host tests. */
#include <stdio.h>
#include <stdlib.h>

#include "hv/assert.h"

_Noreturn void hv_assert_fail(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expr);
	abort();
}
