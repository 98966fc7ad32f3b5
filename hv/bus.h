/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bus: which device answers at a guest port or guest-physical address.
 *
 * One struct bus each for ports and MMIO of a VM.  Filled before the VM starts
 * and constant afterwards, so look-ups need no lock.  Invariant: ranges are
 * sorted by base and never overlap.  Pure.
 */
#pragma once

#include "hv/dev/dev.h"
#include "hv/status.h"

#define BUS_RANGES 32

struct bus_range {
	uint64_t base, len;
	const struct dev_ops *ops;
	void *dev;
};

struct bus {
	unsigned count;
	struct bus_range range[BUS_RANGES];
};

void bus_init(struct bus *b);

/*
 * Claims [base, base + len).  HV_RANGE: empty or wraps; HV_EXIST: overlaps a
 * claimed range; HV_NOMEM: full.
 */
enum hv_status __must_check bus_add(struct bus *b, uint64_t base, uint64_t len,
				    const struct dev_ops *ops, void *dev);

/*
 * An access inside one range reaches its device in one piece.  One that
 * straddles the edge of a range is split into bytes.  Where nothing answers a
 * read gives all ones of its size and a write vanishes.  @size is 1, 2, 4 or 8.
 */
uint64_t bus_read(const struct bus *b, uint64_t addr, unsigned size);
void bus_write(const struct bus *b, uint64_t addr, unsigned size, uint64_t val);

bool bus_claims(const struct bus *b, uint64_t addr);
