/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_memmap: firmware memory map to usable ranges.  Pure. */
#include "boot/efi_memmap.h"

/* UEFI 2.10 table 7-10. */
enum {
	EFI_BOOT_SERVICES_CODE = 3,
	EFI_BOOT_SERVICES_DATA = 4,
	EFI_CONVENTIONAL_MEMORY = 7,
	EFI_MEMORY_MAPPED_IO = 11,
	EFI_MEMORY_MAPPED_IO_PORT = 12,
	EFI_RESERVED = 0,
};

struct efi_descriptor {
	uint32_t type;
	uint32_t pad;
	uint64_t physical_start;
	uint64_t virtual_start;
	uint64_t number_of_pages;
	uint64_t attribute;
};
_Static_assert(sizeof(struct efi_descriptor) == 40, "UEFI 7.2.3");
_Static_assert(offsetof(struct efi_descriptor, physical_start) == 8, "UEFI 7.2.3");
_Static_assert(offsetof(struct efi_descriptor, number_of_pages) == 24, "UEFI 7.2.3");

#define MAX_PHYS (1ULL << 52)
#define EFI_MEMORY_RUNTIME BIT64(63)

static bool usable(uint32_t type)
{
	return type == EFI_CONVENTIONAL_MEMORY || type == EFI_BOOT_SERVICES_CODE ||
	       type == EFI_BOOT_SERVICES_DATA;
}

static bool is_ram(uint32_t type)
{
	return type != EFI_RESERVED && type != EFI_MEMORY_MAPPED_IO &&
	       type != EFI_MEMORY_MAPPED_IO_PORT;
}

/* Inserts [base, end) in order and merges it with what it touches. */
static void add_range(struct handoff *h, uint64_t base, uint64_t end)
{
	uint32_t i = 0, last;

	while (i < h->range_count && h->range[i].base.v + h->range[i].len < base)
		i++;
	for (last = i; last < h->range_count && h->range[last].base.v <= end; last++) {
		base = min_u64(base, h->range[last].base.v);
		end = max_u64(end, h->range[last].base.v + h->range[last].len);
	}
	if (last == i) {
		if (h->range_count == HANDOFF_MAX_RANGES)
			return;
		memmove(&h->range[i + 1], &h->range[i],
			(h->range_count - i) * sizeof(h->range[0]));
		h->range_count++;
	} else {
		memmove(&h->range[i + 1], &h->range[last],
			(h->range_count - last) * sizeof(h->range[0]));
		h->range_count -= last - i - 1;
	}
	h->range[i] = (struct handoff_range){ HPA(base), end - base };
}

static void add_runtime(struct handoff *h, uint64_t base, uint64_t end, uint32_t type)
{
	if (h->runtime_count == HANDOFF_MAX_RUNTIME) {
		h->runtime_cut = true;
		return;
	}
	h->runtime[h->runtime_count++] = (struct handoff_runtime){
		{ HPA(base), end - base },
		type == EFI_MEMORY_MAPPED_IO || type == EFI_MEMORY_MAPPED_IO_PORT,
	};
}

enum hv_status efi_memmap_parse(const struct efi_memmap *m, struct handoff *h)
{
	struct efi_descriptor d;
	uint64_t base, end;

	if (m->desc_size < sizeof(d) || m->desc_size > m->size)
		return HV_INVAL;
	h->range_count = h->runtime_count = 0;
	h->runtime_cut = false;
	h->ram_top = 0;
	for (size_t off = 0; off + m->desc_size <= m->size; off += m->desc_size) {
		memcpy(&d, m->desc + off, sizeof(d));
		if (!d.number_of_pages || d.physical_start >= MAX_PHYS ||
		    d.number_of_pages > MAX_PHYS / PAGE_SIZE)
			continue;
		base = align_up(d.physical_start, PAGE_SIZE);
		end = min_u64(align_down(d.physical_start, PAGE_SIZE) + d.number_of_pages * PAGE_SIZE,
			      MAX_PHYS);
		if (is_ram(d.type))
			h->ram_top = max_u64(h->ram_top, end);
		if ((d.attribute & EFI_MEMORY_RUNTIME) && base < end)
			add_runtime(h, base, end, d.type);
		base = max_u64(base, MIB);
		if (usable(d.type) && base < end)
			add_range(h, base, end);
	}
	return h->range_count ? HV_OK : HV_NOENT;
}
