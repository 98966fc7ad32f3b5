/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apic: the physical local APICs, in xAPIC or x2APIC mode.
 *
 * Each CPU programs its own; apic_init() on the boot CPU chooses the mode for
 * all.  The timer is one-shot, in TSC-deadline mode where the CPU has it.
 * Interrupts off, or from an interrupt handler.
 * Spec: SDM 3A 10.
 */
#pragma once

#include "hv/base.h"
#include "hv/status.h"
#include "mm/addr.h"

/* Boot CPU: finds the APIC, maps it, masks the legacy PICs. */
enum hv_status apic_init(void) __must_check;

/* Every CPU: enables its APIC with all LVTs masked. */
void apic_cpu_init(void);

/* Boot CPU, after time_init(): the timer's frequency where there is no TSC deadline. */
void apic_calibrate_timer(void);

uint32_t apic_id(void);
bool apic_is_x2apic(void);
void apic_eoi(void);

/* Fixed interrupt @vector to the CPU with APIC ID @dest. */
void apic_send_ipi(uint32_t dest, uint8_t vector);

/* NMI to all others; used by the panic, so it never waits long. */
void apic_nmi_others(void);

/* INIT alone: the CPU waits for a SIPI, whatever it did. */
void apic_send_init(uint32_t dest);

/* INIT, then twice SIPI at @page (below 1 MiB), to one CPU. */
void apic_start_cpu(uint32_t dest, hpa_t page);

/* Timer interrupt (HOST_VEC_TIMER) when the TSC reaches @tsc; 0 disarms. */
void apic_timer_arm(uint64_t tsc);
