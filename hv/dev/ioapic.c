/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioapic: redirection table, MMIO window, level re-delivery.
 *
 * Called from: exit path and devices, under the VM's device lock.
 * Invariant: Remote IRR is set only on level-triggered fixed or lowest-priority
 * entries, from an accepted delivery until its EOI.  Pure
 * (tests/host/test_ioapic.c).  Spec: 82093AA data sheet 3.
 */
#include "hv/dev/ioapic.h"

#define IOREGSEL 0x00
#define IOWIN	 0x10
#define EOIR	 0x40

#define IOAPICID  0
#define IOAPICVER 1
#define IOAPICARB 2
#define IOREDTBL  0x10

#define VERSION (0x20u | (IOAPIC_PINS - 1) << 16)

/* Vector, mode, logical, polarity, trigger, mask and destination. */
#define RTE_WRITABLE 0xff0000000001afffULL

static void service(struct ioapic *io, unsigned pin)
{
	uint64_t *e = &io->redirection[pin];
	bool level = *e & RTE_LEVEL;
	struct apic_msg msg = {
		.dest = apic_bus_dest8(RTE_DEST(*e)),
		.logical = *e & RTE_LOGICAL,
		.mode = RTE_MODE(*e),
		.vector = RTE_VECTOR(*e),
		.level = level,
	};

	if (*e & (RTE_MASKED | RTE_REMOTE_IRR))
		return;
	if (!apic_bus_deliver(io->bus, &msg))
		return;
	if (level && (msg.mode == APIC_FIXED || msg.mode == APIC_LOWEST))
		*e |= RTE_REMOTE_IRR;
}

void ioapic_set_irq(struct ioapic *io, unsigned pin, bool level)
{
	uint32_t bit, old = io->lines;

	if (pin >= IOAPIC_PINS)
		return;
	bit = BIT(pin);
	io->lines = level ? old | bit : old & ~bit;
	if (level && !(old & bit))
		service(io, pin);
}

static void service_level(struct ioapic *io, unsigned pin)
{
	if (io->redirection[pin] & RTE_LEVEL && io->lines & BIT(pin))
		service(io, pin);
}

void ioapic_eoi(struct ioapic *io, uint8_t vector)
{
	for (unsigned pin = 0; pin < IOAPIC_PINS; pin++) {
		uint64_t *e = &io->redirection[pin];

		if (RTE_VECTOR(*e) != vector || !(*e & RTE_REMOTE_IRR))
			continue;
		*e &= ~RTE_REMOTE_IRR;
		service_level(io, pin);
	}
}

static uint32_t read_window(const struct ioapic *io)
{
	unsigned i = io->select - IOREDTBL;

	switch (io->select) {
	case IOAPICID:
	case IOAPICARB:
		return (uint32_t)io->id << 24;
	case IOAPICVER:
		return VERSION;
	default:
		if (io->select < IOREDTBL || i >= 2 * IOAPIC_PINS)
			return 0;
		return (uint32_t)(io->redirection[i / 2] >> (i & 1 ? 32 : 0));
	}
}

static void write_redirection(struct ioapic *io, unsigned i, uint32_t val)
{
	uint64_t *e = &io->redirection[i / 2];
	uint64_t half = i & 1 ? 0xffffffff00000000ULL : 0xffffffffULL;
	uint64_t v = i & 1 ? (uint64_t)val << 32 : val;
	uint64_t writable = half & RTE_WRITABLE;

	*e = (*e & ~writable) | (v & writable);
	/* Turning a pin to edge is how software gets rid of a stuck Remote IRR. */
	if (!(*e & RTE_LEVEL))
		*e &= ~RTE_REMOTE_IRR;
	service_level(io, i / 2);
}

static void write_window(struct ioapic *io, uint32_t val)
{
	unsigned i = io->select - IOREDTBL;

	if (io->select == IOAPICID)
		io->id = val >> 24 & 0xf;
	else if (io->select >= IOREDTBL && i < 2 * IOAPIC_PINS)
		write_redirection(io, i, val);
}

static uint64_t ioapic_read(void *dev, uint64_t off, unsigned size)
{
	const struct ioapic *io = dev;

	(void)size;
	switch (off) {
	case IOREGSEL:
		return io->select;
	case IOWIN:
		return read_window(io);
	default:
		return 0;
	}
}

static void ioapic_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct ioapic *io = dev;

	if (off == IOREGSEL)
		io->select = (uint8_t)val;
	else if (off == IOWIN && size >= 4) /* registers are written as dwords only */
		write_window(io, (uint32_t)val);
	else if (off == EOIR)
		ioapic_eoi(io, (uint8_t)val);
}

const struct dev_ops ioapic_ops = {.read = ioapic_read, .write = ioapic_write};

void ioapic_init(struct ioapic *io, struct apic_bus *bus)
{
	*io = (struct ioapic){.bus = bus};
	ioapic_reset(io);
}

/* The levels on the pins belong to the devices and stay. */
void ioapic_reset(struct ioapic *io)
{
	io->id = 0;
	io->select = 0;
	for (unsigned pin = 0; pin < IOAPIC_PINS; pin++)
		io->redirection[pin] = RTE_MASKED;
}
