/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioapic: the I/O APIC, 24 pins, version 0x20 (with EOI register).
 *
 * Lines are logical levels, so the polarity bit has no effect.  An edge that
 * arrives while its pin is masked is lost, as in the 82093AA, QEMU and KVM; a
 * level that is still asserted at unmask or EOI is delivered then.  Called
 * with the VM's device lock held.  Pure.  Spec: 82093AA data sheet; ICH9 13.5.
 */
#pragma once

#include "hv/dev/apic_bus.h"
#include "hv/dev/dev.h"

#define IOAPIC_BASE 0xfec00000ULL
#define IOAPIC_LEN  0x1000
#define IOAPIC_PINS 24

/* A redirection table entry. */
#define RTE_VECTOR(e)  ((uint8_t)(e))
#define RTE_MODE(e)    ((uint8_t)((e) >> 8 & 7))
#define RTE_LOGICAL    BIT64(11)
#define RTE_REMOTE_IRR BIT64(14)
#define RTE_LEVEL      BIT64(15)
#define RTE_MASKED     BIT64(16)
#define RTE_DEST(e)    ((uint8_t)((e) >> 56))

struct ioapic {
	struct apic_bus *bus;
	uint8_t id;
	uint8_t select; /* IOREGSEL */
	uint32_t lines; /* levels on the pins */
	uint64_t redirection[IOAPIC_PINS];
};

extern const struct dev_ops ioapic_ops;

void ioapic_init(struct ioapic *io, struct apic_bus *bus);
void ioapic_reset(struct ioapic *io);
void ioapic_set_irq(struct ioapic *io, unsigned pin, bool level);
/* A local APIC's EOI of a level-triggered @vector. */
void ioapic_eoi(struct ioapic *io, uint8_t vector);
