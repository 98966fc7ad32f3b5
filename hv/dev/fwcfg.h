/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fwcfg: QEMU's firmware configuration device as far as test kernels use it:
 * selector and data port, no files, no DMA.  Pure.
 * Spec: QEMU docs/specs/fw_cfg.
 */
#pragma once

#include "hv/dev/dev.h"

#define FWCFG_PORT 0x510 /* selector; data at 0x511 */
#define FWCFG_LEN  2

struct fwcfg {
	uint64_t ram_bytes; /* all RAM of the VM */
	uint16_t cpus;
	uint16_t key;
	uint32_t pos; /* bytes of the selected item read so far */
};

extern const struct dev_ops fwcfg_ops;

void fwcfg_init(struct fwcfg *f, uint16_t cpus, uint64_t ram_bytes);
