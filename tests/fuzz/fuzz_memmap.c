/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_memmap: any bytes as the firmware's memory map.
 *
 *   make build/fuzz/fuzz_memmap && build/fuzz/fuzz_memmap -max_total_time=60 -max_len=16384
 */
#include <stdlib.h>

#include "boot/efi_memmap.h"
#include "hv/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct handoff *h)
{
	uint64_t end = 0;

	HV_ASSERT(h->range_count <= HANDOFF_MAX_RANGES);
	for (uint32_t i = 0; i < h->range_count; i++) {
		uint64_t base = h->range[i].base.v, len = h->range[i].len;

		HV_ASSERT(len && !((base | len) & (PAGE_SIZE - 1)));
		HV_ASSERT(base >= MIB && base + len > base && (!i || base > end));
		end = base + len;
	}
	HV_ASSERT(end <= h->ram_top && h->ram_top <= BIT64(52));
}

/* Most random numbers are too large to be addresses: bring them near to each other. */
static void tame(uint8_t *desc, size_t size, size_t desc_size)
{
	for (size_t off = 0; desc_size >= 40 && off + desc_size <= size; off += desc_size) {
		uint64_t v;

		desc[off] &= 15;
		memset(desc + off + 1, 0, 3);
		memcpy(&v, desc + off + 8, 8);
		v &= 0xffffff;
		memcpy(desc + off + 8, &v, 8);
		memcpy(&v, desc + off + 24, 8);
		v &= 0xff;
		memcpy(desc + off + 24, &v, 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct handoff h;
	size_t desc_size;
	uint8_t *exact;
	bool mild;

	if (size < 2)
		return 0;
	desc_size = data[0];
	mild = data[1] & 1;
	size -= 2;
	exact = malloc(size + !size);
	if (!exact)
		return 0;
	memcpy(exact, data + 2, size);
	if (mild)
		tame(exact, size, desc_size);
	switch (efi_memmap_parse(&(struct efi_memmap){ exact, size, desc_size }, &h)) {
	case HV_OK:
		HV_ASSERT(h.range_count);
		check(&h);
		break;
	case HV_NOENT:
		HV_ASSERT(!h.range_count);
		break;
	case HV_INVAL:
		HV_ASSERT(desc_size < 40 || desc_size > size);
		break;
	default:
		HV_ASSERT(false);
	}
	free(exact);
	return 0;
}
