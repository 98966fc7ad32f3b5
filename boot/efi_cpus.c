/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_cpus: the processors as the firmware's MP services know them. */
#include "boot/efi_cpus.h"

struct mp_processor_info {
	uint64_t processor_id; /* the APIC ID */
	uint32_t status_flag;
	uint32_t location[3];
	uint32_t extended[6];
};
_Static_assert(offsetof(struct mp_processor_info, status_flag) == 8, "PI 13.4");

#define MP_ENABLED BIT(1)

struct mp_services {
	EFI_STATUS(EFIAPI *get_number)(struct mp_services *, UINTN *total, UINTN *enabled);
	EFI_STATUS(EFIAPI *get_info)(struct mp_services *, UINTN n, struct mp_processor_info *);
};

void efi_cpus_find(EFI_SYSTEM_TABLE *st, struct handoff *h)
{
	EFI_GUID guid = { 0x3fdda605, 0xa76e, 0x4f46, { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 } };
	struct mp_processor_info info;
	struct mp_services *mp;
	UINTN total, enabled;

	if (EFI_ERROR(st->BootServices->LocateProtocol(&guid, NULL, (void **)&mp)) ||
	    EFI_ERROR(mp->get_number(mp, &total, &enabled)))
		return;
	for (UINTN i = 0; i < total && h->cpu_count < HANDOFF_MAX_CPUS; i++) {
		if (EFI_ERROR(mp->get_info(mp, i, &info)) || !(info.status_flag & MP_ENABLED))
			continue;
		h->cpu_apic_id[h->cpu_count++] = (uint32_t)info.processor_id;
	}
}
