/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apic_bus: the interrupt message fabric of a VM: takes messages of local APICs
 * (IPIs), I/O APIC and MSIs to the local APICs they are meant for.
 *
 * Constant once the VM runs, except for the rotating choice of lowest-priority
 * delivery, which is atomic: any CPU may send without a lock.  Pure.
 * Spec: SDM 3A 11.6.2 (destinations), 11.11 (MSI), 11.12.10 (x2APIC logical).
 */
#pragma once

#include "hv/base.h"

#define APIC_BUS_CPUS  64
#define APIC_BROADCAST 0xffffffffu

struct lapic;

enum apic_mode {
	APIC_FIXED = 0,
	APIC_LOWEST = 1,
	APIC_SMI = 2,
	APIC_NMI = 4,
	APIC_INIT = 5,
	APIC_SIPI = 6,
	APIC_EXTINT = 7,
};

enum apic_shorthand { APIC_NO_SHORTHAND, APIC_SELF, APIC_ALL, APIC_ALL_BUT_SELF };

struct apic_msg {
	uint32_t dest; /* APIC_BROADCAST reaches all */
	bool logical;
	bool level;
	uint8_t mode; /* enum apic_mode, but any 3-bit value is safe */
	uint8_t vector;
};

/* What the hypervisor does for the fabric; each may be called on any CPU. */
struct apic_bus_ops {
	/* vCPU @idx has a new interrupt pending: wake it or make it look. */
	void (*kick)(void *ctx, unsigned idx);
	void (*init)(void *ctx, unsigned idx);
	void (*sipi)(void *ctx, unsigned idx, uint8_t vector);
	void (*nmi)(void *ctx, unsigned idx);
	/* EOI of a level-triggered vector, for the I/O APIC; takes the device lock itself. */
	void (*eoi)(void *ctx, uint8_t vector);
};

struct apic_bus {
	const struct apic_bus_ops *ops;
	void *ctx;
	unsigned count;
	unsigned turn; /* atomic: rotates lowest-priority delivery */
	struct lapic *lapic[APIC_BUS_CPUS];
};

void apic_bus_init(struct apic_bus *b, const struct apic_bus_ops *ops, void *ctx);
/* Connects the local APIC of the next vCPU; false when all places are taken. */
bool __must_check apic_bus_add(struct apic_bus *b, struct lapic *l);

/* The 32-bit destination for the 8-bit one of xAPIC, I/O APIC and MSI. */
static inline uint32_t apic_bus_dest8(uint8_t dest)
{
	return dest == 0xff ? APIC_BROADCAST : dest;
}

/* Set of vCPU indices that @dest selects. */
uint64_t apic_bus_match(const struct apic_bus *b, uint32_t dest, bool logical);

/* Delivers by destination.  True when some local APIC took the message. */
bool apic_bus_deliver(struct apic_bus *b, const struct apic_msg *msg);
/* Delivers an IPI of vCPU @from. */
void apic_bus_ipi(struct apic_bus *b, unsigned from, const struct apic_msg *msg,
		  enum apic_shorthand shorthand);
/* Delivers a message-signalled interrupt; false when @addr is none of its kind. */
bool apic_bus_msi(struct apic_bus *b, uint64_t addr, uint32_t data);
