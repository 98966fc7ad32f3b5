/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * testdev: isa-debug-exit.
 *
 * Called from: exit path, under the VM's device lock.  Pure
 * (tests/host/test_small_dev.c).
 */
#include "hv/dev/testdev.h"

static uint64_t testdev_read(void *dev, uint64_t off, unsigned size)
{
	(void)dev;
	(void)off;
	(void)size;
	return 0;
}

static void testdev_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct testdev *t = dev;

	(void)size;
	if (off == 0)
		t->exit(t->ctx, (uint32_t)(val << 1 | 1));
}

const struct dev_ops testdev_ops = {.read = testdev_read, .write = testdev_write};
