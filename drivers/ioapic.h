/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioapic: the physical I/O APIC, for the one device interrupt that we take: the
 * serial port's.  Boot CPU, during bring-up.
 * Spec: 82093AA data sheet; ACPI 6.5 5.2.12.3, 5.2.12.5.
 */
#pragma once

#include "drivers/acpi.h"
#include "hv/status.h"

/*
 * Routes ISA interrupt @irq, as an edge, to @vector of the calling CPU.  The I/O
 * APIC is the MADT's, else the PC's usual one.  HV_NOENT: there is none.
 */
enum hv_status ioapic_route_isa(const struct acpi_info *acpi, unsigned irq, uint8_t vector)
	__must_check;
