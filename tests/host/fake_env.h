/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_env: a clock that tests set and interrupt lines that remember what happened to them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/dev/dev.h"

#define FAKE_LINES 24

struct fake_env {
	struct dev_env env;
	uint64_t now;
	bool line[FAKE_LINES];
	unsigned rises[FAKE_LINES];
};

static inline uint64_t fake_now(void *ctx)
{
	return ((struct fake_env *)ctx)->now;
}

static inline void fake_set_irq(void *ctx, unsigned gsi, bool level)
{
	struct fake_env *e = ctx;

	assert_true(gsi < FAKE_LINES);
	if (level && !e->line[gsi])
		e->rises[gsi]++;
	e->line[gsi] = level;
}

static inline void fake_env_init(struct fake_env *e)
{
	memset(e, 0, sizeof(*e));
	e->env = (struct dev_env){.ctx = e, .now_ns = fake_now, .set_irq = fake_set_irq};
}
