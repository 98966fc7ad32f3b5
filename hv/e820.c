/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * e820: memory map of a guest.
 *
 * Called from: loaders.  Invariant: entries ascend, do not overlap and are not
 * empty.  Pure (tests/host/test_e820.c).
 */
#include "hv/e820.h"

static void add(struct e820_map *m, uint64_t start, uint64_t end, uint32_t type)
{
	if (start < end)
		m->entry[m->count++] = (struct e820_entry){start, end - start, type};
}

void e820_build(struct e820_map *m, uint64_t ram_low, uint64_t ram_high)
{
	m->count = 0;
	add(m, 0, min_u64(ram_low, E820_EBDA), E820_RAM);
	add(m, E820_EBDA, E820_VIDEO, E820_RESERVED);
	add(m, E820_ROM, MIB, E820_RESERVED);
	add(m, MIB, ram_low, E820_RAM);
	add(m, E820_APIC_WINDOW, 4 * GIB, E820_RESERVED);
	add(m, 4 * GIB, 4 * GIB + ram_high, E820_RAM);
}
