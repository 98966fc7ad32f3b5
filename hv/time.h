/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time: the host's clock, from the TSC.  Any context; no locks.
 */
#pragma once

#include "hv/base.h"
#include "hv/status.h"

struct acpi_info;

/*
 * Finds the TSC's frequency: CPUID 0x15, the hypervisor below us (0x40000010),
 * else measured against HPET, PM timer or PIT with a bounded wait.
 */
enum hv_status time_init(const struct acpi_info *acpi) __must_check;

uint64_t time_tsc_khz(void);

/* Nanoseconds since time_init(); 0 before. */
uint64_t time_now_ns(void);

/* The TSC value at which time_now_ns() reaches @ns. */
uint64_t time_ns_to_tsc(uint64_t ns);
uint64_t time_tsc_to_ns(uint64_t tsc);

/* Busy-waits. */
void time_delay_us(uint64_t us);
