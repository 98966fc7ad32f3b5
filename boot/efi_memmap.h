/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_memmap: the firmware's memory map turned into sorted, merged ranges of
 * page frames that the hypervisor may own.
 *
 * Pure (host-tested and fuzzed): takes the raw descriptors as bytes.
 * Spec: UEFI 2.10 7.2.3, EFI_MEMORY_DESCRIPTOR.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/status.h"

struct efi_memmap {
	const uint8_t *desc;
	size_t size;	  /* of the whole map in bytes */
	size_t desc_size; /* of one descriptor, as the firmware says */
};

/*
 * Fills h->range and h->ram_top from conventional and boot-services memory at
 * or above 1 MiB.  Overlapping descriptors are merged, ranges beyond the
 * table's capacity are left unused (smallest loss: the map is in address order
 * after sorting).  What the run-time services need goes to h->runtime.
 * HV_INVAL for an impossible descriptor size, HV_NOENT when nothing is usable.
 */
enum hv_status efi_memmap_parse(const struct efi_memmap *m, struct handoff *h) __must_check;
