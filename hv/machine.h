/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine: what the physical machine is made of, and how to reset it or switch
 * it off.  machine_describe() once on the boot CPU; the rest from any CPU.
 */
#pragma once

#include "boot/handoff.h"
#include "drivers/acpi.h"

/* Reads the ACPI tables; zeroes where the firmware has none. */
const struct acpi_info *machine_describe(const struct handoff *h);

/* A place where the console's serial line may be, and who says so. */
struct machine_line {
	struct config_console c;
	const char *from;
};

/* The @index-th place to look: configuration, SPCR, COM1 to COM4; false beyond the last. */
bool machine_console(const struct handoff *h, unsigned index, struct machine_line *l);
/* It is there. */
void machine_use_console(const struct config_console *c);

/* The second one, for programs: configuration, "auto" is COM2.  After machine_use_console(). */
const struct config_console *machine_control(const struct handoff *h);

/*
 * Sends the interrupt of serial line @c to @vector of this CPU.  HV_NOENT: it is
 * not one of the PC's four ports, or there is no I/O APIC.
 */
enum hv_status machine_route_line(const struct config_console *c, uint8_t vector) __must_check;
enum hv_status machine_route_console(uint8_t vector) __must_check;

/*
 * Leaves VMX or SVM operation on every CPU, then asks the firmware
 * (ResetSystem); a reset that does not happen is tried by the FADT's reset
 * register, 0xcf9, the keyboard controller and a triple fault.
 */
_Noreturn void machine_reset(void);
_Noreturn void machine_poweroff(void);

/* Called by each CPU's run loop when it sees machine_stopping(). */
bool machine_stopping(void);
_Noreturn void machine_stop_this_cpu(void);
