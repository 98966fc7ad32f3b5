/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_cpus: the processors as the firmware's MP services know them, for
 * machines without a MADT.  Boot stage only.
 * Spec: UEFI PI 1.8 vol. 2, EFI_MP_SERVICES_PROTOCOL.
 */
#pragma once

#include <efi.h>

#include "boot/handoff.h"

/* Fills h->cpu_apic_id; leaves h->cpu_count 0 when there are no MP services. */
void efi_cpus_find(EFI_SYSTEM_TABLE *st, struct handoff *h);
