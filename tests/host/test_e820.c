/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/e820.h"

static void typical(void **s)
{
	static const struct e820_entry want[] = {
		{0, 0x9fc00, 1},
		{0x9fc00, 0x400, 2},
		{0xe0000, 0x20000, 2},
		{0x100000, 0xbff00000, 1},
		{0xfec00000, 0x1400000, 2},
		{0x100000000, 0x140000000, 1},
	};
	struct e820_map m;

	(void)s;
	e820_build(&m, 0xc0000000, 0x140000000);
	assert_int_equal(m.count, ARRAY_SIZE(want));
	assert_memory_equal(m.entry, want, sizeof(want));
}

static void always_ascends(void **s)
{
	static const uint64_t low[] = {0, 0x1000, 0x9fc00, 0x100000, 0x101000, 0xc0000000};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(low); i++) {
		struct e820_map m;
		uint64_t ram = 0, end = 0;

		e820_build(&m, low[i], i * GIB);
		assert_true(m.count <= E820_MAX);
		for (unsigned j = 0; j < m.count; j++) {
			assert_true(m.entry[j].size > 0);
			assert_true(m.entry[j].addr >= end);
			end = m.entry[j].addr + m.entry[j].size;
			if (m.entry[j].type == E820_RAM)
				ram += m.entry[j].size;
		}
		assert_true(ram <= low[i] + i * GIB);
		if (low[i] >= MIB)
			assert_int_equal(ram, low[i] + i * GIB - (MIB - 0x9fc00));
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(typical),
		cmocka_unit_test(always_ascends),
	};
	return cmocka_run_group_tests_name("e820", t, NULL, NULL);
}
