/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * testdev: QEMU's isa-debug-exit, by which a test guest ends with a result.
 * A write of v to the port asks for exit code (v << 1) | 1.  Pure.
 */
#pragma once

#include "hv/dev/dev.h"

#define TESTDEV_PORT 0xf4
#define TESTDEV_LEN  4

struct testdev {
	void (*exit)(void *ctx, uint32_t code);
	void *ctx;
};

extern const struct dev_ops testdev_ops;
