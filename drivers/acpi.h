/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi: reads what we need from the firmware's ACPI tables.
 *
 * Pure (host-tested, fuzzed): physical memory is read through a callback, every
 * length and checksum is verified before use, and a broken table is skipped.
 * Spec: ACPI 6.5 chapter 5.2; SPCR 1.07; HPET 1.0a.
 */
#pragma once

#include "hv/base.h"
#include "hv/status.h"
#include "mm/addr.h"

#define ACPI_MAX_CPUS 256
#define ACPI_ISA_IRQS 16

struct acpi_info {
	bool have_madt;
	uint32_t cpu_count;
	uint32_t cpu_apic_id[ACPI_MAX_CPUS]; /* enabled ones, in table order */
	uint32_t cpus_beyond;		     /* enabled ones that did not fit */
	uint64_t ioapic_base;		     /* of the first I/O APIC; 0: none */
	uint32_t ioapic_gsi_base;
	uint32_t isa_gsi[ACPI_ISA_IRQS];     /* which global interrupt an ISA one is */
	uint64_t hpet_base;		     /* 0: none */
	uint16_t pm_timer_port;		     /* 0: none */
	bool pm_timer_32bit;
	/* Power-off and reset, as the FADT says; the S5 type itself is in AML. */
	uint16_t pm1a_cnt_port;
	bool reset_io;
	uint16_t reset_port;
	uint8_t reset_value;
	/* SPCR */
	bool have_spcr;
	bool spcr_mmio;
	uint64_t spcr_base;
	uint32_t spcr_stride; /* bytes */
};

struct acpi_reader {
	void *ctx;
	/* Copies @len bytes from physical @at; false: not readable. */
	bool (*read)(void *ctx, hpa_t at, void *dst, size_t len);
};

/*
 * Parses from the RSDP on.  HV_NOENT: no valid RSDP or root table; @out then
 * describes a machine without tables, ISA interrupts one to one.
 */
enum hv_status acpi_parse(const struct acpi_reader *r, hpa_t rsdp, struct acpi_info *out) __must_check;
