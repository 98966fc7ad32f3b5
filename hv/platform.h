/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * platform: the PC that a guest sees around its CPUs: which devices it has,
 * where they sit, how their lines are wired.
 *
 * Everything here but the local APICs is under vm->device, which these
 * functions take themselves.  Any CPU.
 */
#pragma once

#include "hv/bus.h"
#include "hv/dev/acpi_pm.h"
#include "hv/dev/apic_bus.h"
#include "hv/dev/fwcfg.h"
#include "hv/dev/ioapic.h"
#include "hv/dev/pic.h"
#include "hv/dev/pit.h"
#include "hv/dev/reset.h"
#include "hv/dev/rtc.h"
#include "hv/dev/testdev.h"
#include "hv/dev/uart.h"
#include "hv/status.h"

struct vm;

struct platform {
	struct dev_env env;
	struct bus ports, mmio;
	struct apic_bus apic_bus;
	struct ioapic ioapic;
	struct pic pic;
	struct pit pit;
	struct rtc rtc;
	struct acpi_pm pm;
	struct reset_dev reset;
	struct uart uart;
	struct fwcfg fwcfg;
	struct testdev testdev;
	uint64_t served_ns; /* the deadline that the first vCPU knows of */
	uint64_t epoch; /* wall-clock seconds since 1970 at the VM's start */
};

/* Builds the machine of the VM's configuration; vCPUs add their APICs later. */
enum hv_status platform_create(struct vm *vm, uint64_t epoch) __must_check;

/* Power-up state of all devices. */
void platform_reset(struct vm *vm);

uint64_t platform_io_read(struct vm *vm, uint16_t port, unsigned size);
void platform_io_write(struct vm *vm, uint16_t port, unsigned size, uint64_t val);
uint64_t platform_mmio_read(struct vm *vm, uint64_t gpa, unsigned size);
void platform_mmio_write(struct vm *vm, uint64_t gpa, unsigned size, uint64_t val);

/* Time: earliest next deadline (VM's ns), and what is due now. */
uint64_t platform_next_deadline(struct vm *vm);
void platform_poll(struct vm *vm);

/* The PIC's INTR line, and its vector: -1 when another CPU was faster. */
bool platform_pic_pending(struct vm *vm);
int platform_pic_ack(struct vm *vm);

/* Presses the VM's power button: a guest that listens shuts down. */
void platform_power_button(struct vm *vm);

/* A byte for the guest's serial port; false: no room now. */
bool platform_console_input(struct vm *vm, uint8_t c);
