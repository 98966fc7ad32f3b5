/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_acpi: the ACPI tables of a guest, built into a buffer that the caller
 * copies to guest memory: RSDP first, then FACS, DSDT, FADT, MADT and XSDT.
 * Describes exactly the devices of hv/dev/.  Pure.  Spec: ACPI 6.4.
 */
#pragma once

#include "hv/status.h"

/* Where the tables go: the RSDP is searched from here on in steps of 16. */
#define GUEST_ACPI_BASE 0xe0000ULL
#define GUEST_ACPI_ROOM 0x20000ULL

struct guest_acpi {
	uint64_t base;		  /* guest-physical address of the buffer; 64-byte aligned */
	const uint32_t *apic_ids; /* of each vCPU, the boot CPU first */
	unsigned cpus;
	const void *dsdt; /* complete table as iasl makes it from guest_dsdt.asl */
	size_t dsdt_len;
};

/* HV_INVAL: the DSDT is none or its length is wrong; HV_NOMEM: more than @cap bytes. */
enum hv_status __must_check guest_acpi_build(const struct guest_acpi *g, void *buf, size_t cap,
					     size_t *len);
