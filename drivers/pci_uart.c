/* SPDX-License-Identifier: BSD-2-Clause */
/* pci_uart: serial ports that are PCI functions. */
#include "drivers/pci_uart.h"

enum { REG_ID = 0x00, REG_COMMAND = 0x04, REG_CLASS = 0x08, REG_HEADER = 0x0c, REG_BAR0 = 0x10, REG_BUSES = 0x18 };

#define BUSES	  256
#define DEVICES	  32
#define FUNCTIONS 8

#define COMMAND_IO     0x1u
#define COMMAND_MEMORY 0x2u
#define COMMAND_MASK   0xffffu /* the status above it is cleared by writing ones */

#define HEADER_BRIDGE	1
#define HEADER_MULTIPLE 0x80

#define CLASS_UART	 0x0700
#define CLASS_BRIDGE	 0x0604
#define INTERFACE_16950	 6 /* 0 is an 8250, then ever better ones that are compatible with it */

#define BAR_IO	     0x1u
#define BAR_TYPE     0x6u
#define BAR_64	     0x4u
#define BAR_RESERVED 0x6u

#define REGISTERS  8
#define PORT_END   0x10000
#define MEMORY_MIN 0x1000
#define MEMORY_END BIT64(52)

/* Buses to look at, each once, whatever the bridges say. */
struct walk {
	uint8_t queue[BUSES];
	bool seen[BUSES];
	unsigned head, tail;
};

static uint32_t read_reg(const struct pci_config *p, struct pci_at at, uint8_t reg)
{
	at.reg = reg;
	return p->read(p->ctx, at);
}

static void add_bus(struct walk *w, uint8_t bus)
{
	if (w->seen[bus])
		return;
	w->seen[bus] = true;
	w->queue[w->tail++] = bus;
}

/* BAR 0: one that the firmware left without an address is of no use. */
static bool read_base(const struct pci_config *p, struct pci_uart *u)
{
	uint32_t bar = read_reg(p, u->at, REG_BAR0);

	u->mmio = !(bar & BAR_IO);
	if (!u->mmio) {
		u->base = bar & ~3u;
		return u->base && u->base <= PORT_END - REGISTERS;
	}
	if ((bar & BAR_TYPE) == BAR_RESERVED)
		return false;
	u->base = bar & ~15u;
	if ((bar & BAR_TYPE) == BAR_64)
		u->base |= (uint64_t)read_reg(p, u->at, REG_BAR0 + 4) << 32;
	return u->base >= MEMORY_MIN && u->base < MEMORY_END;
}

/* A UART that can be used?  A bridge is remembered. */
static bool look(const struct pci_config *p, struct walk *w, struct pci_at at, struct pci_uart *u)
{
	uint32_t class = read_reg(p, at, REG_CLASS);
	uint8_t type = (uint8_t)(read_reg(p, at, REG_HEADER) >> 16 & 0x7f);

	if (class >> 16 == CLASS_BRIDGE && type == HEADER_BRIDGE)
		add_bus(w, (uint8_t)(read_reg(p, at, REG_BUSES) >> 8));
	if (class >> 16 != CLASS_UART || (class >> 8 & 0xff) > INTERFACE_16950 || type)
		return false;
	u->at = at;
	return read_base(p, u);
}

static bool is_there(const struct pci_config *p, struct pci_at at)
{
	uint32_t vendor = read_reg(p, at, REG_ID) & 0xffff;

	return vendor && vendor != 0xffff;
}

static bool look_at_device(const struct pci_config *p, struct walk *w, struct pci_at at, unsigned *left,
			   struct pci_uart *u)
{
	unsigned count;

	/* Without a function 0 there is no other. */
	if (!is_there(p, at))
		return false;
	count = read_reg(p, at, REG_HEADER) >> 16 & HEADER_MULTIPLE ? FUNCTIONS : 1;
	for (at.fn = 0; at.fn < count; at.fn++)
		if ((!at.fn || is_there(p, at)) && look(p, w, at, u) && !(*left)--)
			return true;
	return false;
}

bool pci_uart_find(const struct pci_config *p, unsigned index, struct pci_uart *u)
{
	struct walk w = { .head = 0 };

	add_bus(&w, 0);
	while (w.head < w.tail) {
		uint8_t bus = w.queue[w.head++];

		for (uint8_t dev = 0; dev < DEVICES; dev++)
			if (look_at_device(p, &w, (struct pci_at){ .bus = bus, .dev = dev }, &index, u))
				return true;
	}
	return false;
}

void pci_uart_enable(const struct pci_config *p, const struct pci_uart *u)
{
	uint32_t want = u->mmio ? COMMAND_MEMORY : COMMAND_IO, now = read_reg(p, u->at, REG_COMMAND);
	struct pci_at at = u->at;

	at.reg = REG_COMMAND;
	if (!(now & want))
		p->write(p->ctx, at, (now & COMMAND_MASK) | want);
}
