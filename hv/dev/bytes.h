/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes: how a device with 8-bit registers answers wider accesses: as that many
 * byte accesses in ascending order, the way the ISA bus splits them.  Pure.
 */
#pragma once

#include "hv/base.h"

static inline uint64_t dev_read_bytes(void *dev, uint64_t off, unsigned size,
				      uint8_t (*read)(void *dev, unsigned off))
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)read(dev, (unsigned)off + i) << (i * 8);
	return v;
}

static inline void dev_write_bytes(void *dev, uint64_t off, unsigned size, uint64_t val,
				   void (*write)(void *dev, unsigned off, uint8_t val))
{
	for (unsigned i = 0; i < size; i++)
		write(dev, (unsigned)off + i, (uint8_t)(val >> (i * 8)));
}
