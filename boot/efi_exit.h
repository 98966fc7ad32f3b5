/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_exit: leaves boot services.  Boot stage only.
 * Spec: UEFI 2.10 7.4.6.
 */
#pragma once

#include <efi.h>

#include "boot/handoff.h"
#include "hv/status.h"

/*
 * Takes the final memory map into @h and ends boot services.  A stale map key
 * (an event handler allocated meanwhile) is retried a bounded number of times.
 * After HV_OK no firmware boot service may be called.
 */
enum hv_status efi_exit_boot_services(EFI_HANDLE image, EFI_SYSTEM_TABLE *st, struct handoff *h)
	__must_check;
