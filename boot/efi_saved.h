/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_saved: what `config save` left in the firmware's variables (hv/saved.h).
 *
 * Boot stage only.
 */
#pragma once

#include <efi.h>

#include "hv/status.h"

/* The device tree into @buf: HV_NOENT: there is none; HV_INVAL: damaged. */
enum hv_status efi_saved_read(EFI_RUNTIME_SERVICES *rt, void *buf, size_t cap, size_t *len) __must_check;

/* Deletes it. */
void efi_saved_drop(EFI_RUNTIME_SERVICES *rt);
