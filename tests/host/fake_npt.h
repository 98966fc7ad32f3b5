/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_npt: table pages from a small pool that knows which are in use and can run dry. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <sanitizer/asan_interface.h>

#include "mm/npt.h"

#define FAKE_TABLES	128
#define FAKE_TABLE_BASE 0x7000000000ULL /* of the "physical" addresses of the pool */

struct fake_npt {
	struct npt_env env;
	uint64_t table[FAKE_TABLES][512] __aligned(4096);
	bool used[FAKE_TABLES];
	unsigned in_use;
	int left; /* allocations until the pool is dry; negative: never */
	/* Called once, within the next allocation. */
	void (*race)(void *arg);
	void *race_arg;
};

static struct fake_npt fake_npt;

static inline uint64_t *fake_npt_alloc(void *ctx)
{
	struct fake_npt *f = ctx;
	void (*race)(void *) = f->race;

	f->race = NULL;
	if (race)
		race(f->race_arg);
	if (!f->left)
		return NULL;
	f->left -= f->left > 0;
	for (unsigned i = 0; i < FAKE_TABLES; i++) {
		if (f->used[i])
			continue;
		f->used[i] = true;
		f->in_use++;
		__asan_unpoison_memory_region(f->table[i], sizeof(f->table[i]));
		memset(f->table[i], 0, sizeof(f->table[i]));
		return f->table[i];
	}
	fail_msg("the pool of tables is too small for this test");
	return NULL;
}

static inline void fake_npt_free(void *ctx, uint64_t *table)
{
	struct fake_npt *f = ctx;
	size_t i = (size_t)((char *)table - (char *)f->table) / sizeof(f->table[0]);

	assert_true(i < FAKE_TABLES && f->table[i] == table);
	assert_true(f->used[i]); /* freed once */
	f->used[i] = false;
	f->in_use--;
	/* Whoever still holds a pointer to it is found out. */
	__asan_poison_memory_region(table, sizeof(f->table[0]));
}

/* A table that the engine has retired comes back. */
static inline void fake_npt_release(hpa_t a)
{
	fake_npt_free(&fake_npt, (uint64_t *)(a.v + fake_npt.env.offset));
}

static inline void fake_npt_init(void)
{
	__asan_unpoison_memory_region(fake_npt.table, sizeof(fake_npt.table));
	memset(&fake_npt, 0, sizeof(fake_npt));
	fake_npt.left = -1;
	fake_npt.env = (struct npt_env){&fake_npt, fake_npt_alloc, fake_npt_free,
					(uint64_t)fake_npt.table - FAKE_TABLE_BASE};
}
