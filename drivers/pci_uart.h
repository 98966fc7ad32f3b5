/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pci_uart: serial ports that are PCI functions, found by their class.
 *
 * Looks at bus 0 and what is behind its bridges, as the firmware has numbered
 * them.  The first port of each function counts, if the firmware gave it an
 * address.  Boot CPU, during bring-up.  Pure (tests/host/test_pci_uart.c).
 * Spec: PCI Local Bus 3.0, 6.1-6.2; PCI-to-PCI Bridge 1.2, 3.2.
 */
#pragma once

#include "hv/base.h"

/* A place in configuration space; @reg is a multiple of 4. */
struct pci_at {
	uint8_t bus, dev, fn, reg;
};

struct pci_config {
	void *ctx;
	uint32_t (*read)(void *ctx, struct pci_at at);
	void (*write)(void *ctx, struct pci_at at, uint32_t v);
};

struct pci_uart {
	struct pci_at at;
	bool mmio;
	uint64_t base;
};

/* The @index-th of them, by bus in the order found; false: there are not so many. */
bool pci_uart_find(const struct pci_config *p, unsigned index, struct pci_uart *u) __must_check;

/* Has the function answer at its address, if the firmware had no use for it. */
void pci_uart_enable(const struct pci_config *p, const struct pci_uart *u);
