/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smp: finds the machine's CPUs and brings them into the hypervisor.
 *
 * Boot CPU, once, after time_init().  CPUs beyond CPU_MAX or beyond the
 * configured number are left parked as the firmware had them, and counted.
 */
#pragma once

#include "boot/handoff.h"
#include "drivers/acpi.h"
#include "hv/status.h"

/*
 * Starts every CPU; each ends up in @run on its own stack.  A CPU that does
 * not answer in time is reported and left out.
 */
void smp_init(const struct handoff *h, const struct acpi_info *acpi, void (*run)(void *));

/* Interrupts CPU @id so that it looks at what changed. */
void smp_kick(uint32_t id);
