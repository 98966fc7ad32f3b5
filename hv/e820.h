/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * e820: the memory map that a guest's kernel is told, in the format of INT 15h
 * AX=E820h.  Pure.  Spec: ACPI 6.4, 15.
 */
#pragma once

#include "hv/base.h"

#define E820_RAM      1
#define E820_RESERVED 2
#define E820_MAX      8

/* Conventional memory ends where a BIOS has its extended data area. */
#define E820_EBDA  0x9fc00ULL
#define E820_VIDEO 0xa0000ULL
/* ACPI tables live from here up to 1 MiB. */
#define E820_ROM 0xe0000ULL
/* I/O APIC, local APIC and what lies above them below 4 GiB. */
#define E820_APIC_WINDOW 0xfec00000ULL

struct e820_entry {
	uint64_t addr, size;
	uint32_t type;
} __packed;
_Static_assert(sizeof(struct e820_entry) == 20, "format of INT 15h");

struct e820_map {
	unsigned count;
	struct e820_entry entry[E820_MAX];
};

/* @ram_low bytes of RAM from address 0 (at most E820_APIC_WINDOW), @ram_high from 4 GiB. */
void e820_build(struct e820_map *m, uint64_t ram_low, uint64_t ram_high);
