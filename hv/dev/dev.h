/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dev: what a guest-visible device may ask of the machine it sits in.
 *
 * Device models are pure: they see time and interrupt lines only through
 * struct dev_env, never hardware.  Except for the local APIC's IRR every model
 * is called with its VM's device lock held, so none has locks of its own.
 */
#pragma once

#include "hv/base.h"

struct dev_env {
	void *ctx;
	/* Nanoseconds since the VM was created; never goes back. */
	uint64_t (*now_ns)(void *ctx);
	/* Drives interrupt line @gsi (ISA IRQ numbers below 16) to @level. */
	void (*set_irq)(void *ctx, unsigned gsi, bool level);
};

#define DEV_NO_DEADLINE (~0ULL)

/*
 * A claimed range on the port or MMIO bus.  @off is relative to the base the
 * range was registered with, @size is 1, 2, 4 or 8; a read returns the value
 * in its low @size bytes.
 */
struct dev_ops {
	uint64_t (*read)(void *dev, uint64_t off, unsigned size);
	void (*write)(void *dev, uint64_t off, unsigned size, uint64_t val);
};
