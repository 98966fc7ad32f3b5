/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "boot/efi_memmap.h"

enum { RESERVED, LOADER_CODE, LOADER_DATA, BOOT_CODE, BOOT_DATA, RT_CODE, RT_DATA, FREE, UNUSABLE,
       ACPI, NVS, MMIO };

#define DESC_SIZE 48 /* as OVMF has it: larger than what the specification needs */

static struct handoff h;
static uint8_t raw[512 * DESC_SIZE];
static size_t raw_len;

static void begin(void)
{
	memset(&h, 0xa5, sizeof(h));
	memset(raw, 0xa5, sizeof(raw));
	raw_len = 0;
}

static void add_with(uint32_t type, uint64_t start, uint64_t pages, uint64_t attribute)
{
	uint8_t *d = raw + raw_len;

	memcpy(d, &type, 4);
	memcpy(d + 8, &start, 8);
	memcpy(d + 24, &pages, 8);
	memcpy(d + 32, &attribute, 8);
	raw_len += DESC_SIZE;
	assert_true(raw_len <= sizeof(raw));
}

static void add(uint32_t type, uint64_t start, uint64_t pages)
{
	add_with(type, start, pages, 0xf);
}

static enum hv_status parse(void)
{
	return efi_memmap_parse(&(struct efi_memmap){raw, raw_len, DESC_SIZE}, &h);
}

static void assert_range(unsigned i, uint64_t base, uint64_t end)
{
	assert_true(i < h.range_count);
	assert_int_equal(h.range[i].base.v, base);
	assert_int_equal(h.range[i].len, end - base);
}

/* What the rest relies on, whatever came in. */
static void assert_sane(void)
{
	uint64_t end = MIB;

	assert_true(h.range_count <= HANDOFF_MAX_RANGES);
	for (uint32_t i = 0; i < h.range_count; i++) {
		uint64_t base = h.range[i].base.v, len = h.range[i].len;

		assert_true(len && !((base | len) & (PAGE_SIZE - 1)));
		assert_true(i ? base > end : base >= end);
		end = base + len;
		assert_true(end > base && end <= h.ram_top);
	}
}

static void sorts_and_merges(void **s)
{
	(void)s;
	begin();
	add(FREE, 0x800000, 0x100);
	add(BOOT_DATA, 0x100000, 0x100);
	add(LOADER_DATA, 0x300000, 0x100);
	add(BOOT_CODE, 0x200000, 0x100);
	add(FREE, 0x900000, 0x700);
	add(ACPI, 0x1000000, 0x10);
	add(MMIO, 0xfec00000, 1);
	add(RESERVED, 0xff000000, 0x1000);
	assert_int_equal(parse(), HV_OK);
	assert_sane();
	assert_int_equal(h.range_count, 2);
	assert_range(0, 0x100000, 0x300000);
	assert_range(1, 0x800000, 0x1000000);
	assert_int_equal(h.ram_top, 0x1010000);
}

static void low_memory_is_left_out(void **s)
{
	(void)s;
	begin();
	add(FREE, 0, 0xa0);
	assert_int_equal(parse(), HV_NOENT);
	add(FREE, 0xf0000, 0x20);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.range_count, 1);
	assert_range(0, 0x100000, 0x110000);
}

static void one_bridges_many(void **s)
{
	(void)s;
	begin();
	for (unsigned i = 1; i < 10; i++)
		add(FREE, i * 0x200000, 0x100);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.range_count, 9);
	add(BOOT_DATA, 0x580000, 0x800); /* 0x580000 to 0xd80000 */
	assert_int_equal(parse(), HV_OK);
	assert_sane();
	assert_int_equal(h.range_count, 6);
	assert_range(1, 0x400000, 0x500000);
	assert_range(2, 0x580000, 0xd80000);
	assert_range(3, 0xe00000, 0xf00000);
}

static void overlaps_and_repeats(void **s)
{
	(void)s;
	begin();
	add(FREE, 0x200000, 0x100);
	add(FREE, 0x200000, 0x100);
	add(FREE, 0x280000, 0x100);
	add(FREE, 0x210000, 1);
	add(FREE, 0x180000, 0x300);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.range_count, 1);
	assert_range(0, 0x180000, 0x480000);
}

static void unaligned_loses_its_edges(void **s)
{
	(void)s;
	begin();
	add(FREE, 0x200800, 2);
	assert_int_equal(parse(), HV_OK);
	assert_range(0, 0x201000, 0x202000);
	begin();
	add(FREE, 0x200800, 1);
	assert_int_equal(parse(), HV_NOENT);
}

static void huge_and_empty(void **s)
{
	(void)s;
	begin();
	add(FREE, 0x200000, 0);
	add(FREE, 0x80000000, 0);
	assert_int_equal(parse(), HV_NOENT);
	assert_int_equal(h.ram_top, 0);
	add(FREE, 0x300000, UINT64_MAX);
	add(FREE, UINT64_MAX & ~0xfffULL, 2);
	add(FREE, BIT64(52), 1);
	add(FREE, 0x400000, BIT64(52));
	assert_int_equal(parse(), HV_NOENT);
	assert_int_equal(h.ram_top, 0);
	add(FREE, 0x400000, BIT64(40));
	assert_int_equal(parse(), HV_OK);
	assert_sane();
	assert_range(0, 0x400000, BIT64(52));
}

static void wrong_sizes(void **s)
{
	struct efi_memmap m = {raw, 0, DESC_SIZE};

	(void)s;
	begin();
	add(FREE, 0x200000, 1);
	add(FREE, 0x400000, 1);
	assert_int_equal(efi_memmap_parse(&m, &h), HV_INVAL);
	m.size = raw_len;
	for (m.desc_size = 0; m.desc_size < 40; m.desc_size++)
		assert_int_equal(efi_memmap_parse(&m, &h), HV_INVAL);
	m.desc_size = raw_len + 1;
	assert_int_equal(efi_memmap_parse(&m, &h), HV_INVAL);
	m.desc_size = SIZE_MAX;
	assert_int_equal(efi_memmap_parse(&m, &h), HV_INVAL);
	/* A partial descriptor at the end is none. */
	m = (struct efi_memmap){raw, raw_len - 1, DESC_SIZE};
	assert_int_equal(efi_memmap_parse(&m, &h), HV_OK);
	assert_int_equal(h.range_count, 1);
}

static void more_than_fit(void **s)
{
	(void)s;
	begin();
	for (unsigned i = 0; i < 2 * HANDOFF_MAX_RANGES; i++)
		add(FREE, MIB + i * 0x2000, 1);
	assert_int_equal(parse(), HV_OK);
	assert_sane();
	assert_int_equal(h.range_count, HANDOFF_MAX_RANGES);
	/* What joins those that are there still counts. */
	add(FREE, MIB, 2 * HANDOFF_MAX_RANGES);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.range_count, 1);
}

/* Against one byte a page. */
static void random_maps(void **s)
{
	enum { PAGES = 512 };

	(void)s;
	srand(1);
	for (unsigned round = 0; round < 2000; round++) {
		bool page[PAGES + 1] = {false};
		unsigned n = 1 + (unsigned)rand() % 60;
		uint32_t r = 0;

		begin();
		for (unsigned i = 0; i < n; i++) {
			static const uint32_t types[] = {FREE, BOOT_DATA, RT_DATA, ACPI};
			uint32_t type = types[rand() % 4];
			unsigned at = (unsigned)rand() % PAGES, len = (unsigned)rand() % 16;

			len = len < PAGES - at ? len : PAGES - at;
			add(type, MIB + at * PAGE_SIZE, len);
			for (unsigned p = at; p < at + len && (type == FREE || type == BOOT_DATA); p++)
				page[p] = true;
		}
		(void)!parse();
		assert_sane();
		for (unsigned p = 0; p < PAGES; p++) {
			unsigned first = p;

			if (!page[p])
				continue;
			while (page[p])
				p++;
			assert_range(r++, MIB + first * PAGE_SIZE, MIB + p * PAGE_SIZE);
		}
		assert_int_equal(r, h.range_count);
	}
}

static void runtime_services(void **state)
{
	(void)state;
	begin();
	add(FREE, MIB, 16);
	add_with(RT_CODE, 0x7f000000, 2, BIT64(63) | 0xf);
	add_with(RT_DATA, 0x7f002000, 3, BIT64(63) | 0xf);
	add(RT_DATA, 0x7f005000, 3);
	add_with(MMIO, 0xffc00000, 0x84, BIT64(63) | 1);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.runtime_count, 3);
	assert_int_equal(h.runtime[1].at.base.v, 0x7f002000);
	assert_int_equal(h.runtime[1].at.len, 0x3000);
	assert_false(h.runtime[1].is_device);
	assert_true(h.runtime[2].is_device);
	assert_false(h.runtime_cut);
	for (unsigned i = 0; i < HANDOFF_MAX_RUNTIME; i++)
		add_with(RT_DATA, 0x60000000 + i * 0x2000, 1, BIT64(63));
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(h.runtime_count, HANDOFF_MAX_RUNTIME);
	assert_true(h.runtime_cut);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(sorts_and_merges),
		cmocka_unit_test(low_memory_is_left_out),
		cmocka_unit_test(one_bridges_many),
		cmocka_unit_test(overlaps_and_repeats),
		cmocka_unit_test(unaligned_loses_its_edges),
		cmocka_unit_test(huge_and_empty),
		cmocka_unit_test(wrong_sizes),
		cmocka_unit_test(more_than_fit),
		cmocka_unit_test(random_maps),
		cmocka_unit_test(runtime_services),
	};
	return cmocka_run_group_tests_name("efi_memmap", t, NULL, NULL);
}
