/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_exit: leaves boot services. */
#include "boot/efi_exit.h"

#include "boot/efi_memmap.h"

#define EXIT_TRIES	 8
#define SPARE_DESCRIPTORS 32

enum hv_status efi_exit_boot_services(EFI_HANDLE image, EFI_SYSTEM_TABLE *st, struct handoff *h)
{
	EFI_BOOT_SERVICES *bs = st->BootServices;
	UINTN size = 0, cap, key, desc_size = 0;
	UINT32 version;
	void *map;

	bs->GetMemoryMap(&size, NULL, &key, &desc_size, &version);
	cap = size + SPARE_DESCRIPTORS * desc_size;
	if (EFI_ERROR(bs->AllocatePool(EfiLoaderData, cap, &map)))
		return HV_NOMEM;
	for (int i = 0; i < EXIT_TRIES; i++) {
		size = cap;
		if (EFI_ERROR(bs->GetMemoryMap(&size, map, &key, &desc_size, &version)))
			return HV_IO;
		if (EFI_ERROR(bs->ExitBootServices(image, key)))
			continue;
		return efi_memmap_parse(&(struct efi_memmap){ map, size, desc_size }, h);
	}
	return HV_TIMEOUT;
}
