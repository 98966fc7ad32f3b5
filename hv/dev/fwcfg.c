/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fwcfg: selector and data port.
 *
 * Called from: exit path, under the VM's device lock.  Items are numbers, so an
 * item is a 64-bit value and its length; past its end the data port reads 0.
 * Pure (tests/host/test_small_dev.c).  Spec: QEMU docs/specs/fw_cfg.
 */
#include "hv/dev/fwcfg.h"

#define KEY_SIGNATURE 0x00
#define KEY_ID	      0x01
#define KEY_RAM_SIZE  0x03
#define KEY_NB_CPUS   0x05
#define KEY_MAX_CPUS  0x0f
#define KEY_FILE_DIR  0x19

#define ID_TRADITIONAL 1 /* selector and data port, no DMA */

/* Value of item @key, little-endian; what is unknown or empty is 0 all along. */
static uint64_t item(const struct fwcfg *f, uint16_t key)
{
	switch (key) {
	case KEY_SIGNATURE:
		return 'Q' | 'E' << 8 | 'M' << 16 | 'U' << 24;
	case KEY_ID:
		return ID_TRADITIONAL;
	case KEY_RAM_SIZE:
		return f->ram_bytes;
	case KEY_NB_CPUS:
	case KEY_MAX_CPUS:
		return f->cpus;
	case KEY_FILE_DIR: /* its first word is the number of files */
	default:
		return 0;
	}
}

static uint64_t fwcfg_read(void *dev, uint64_t off, unsigned size)
{
	struct fwcfg *f = dev;
	uint64_t v;

	if (off != 1 || size != 1)
		return 0;
	if (f->pos >= sizeof(uint64_t))
		return 0;
	v = item(f, f->key) >> (f->pos * 8);
	f->pos++;
	return v & 0xff;
}

static void fwcfg_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct fwcfg *f = dev;

	(void)size;
	if (off != 0) /* writing data was withdrawn from the interface */
		return;
	f->key = (uint16_t)val;
	f->pos = 0;
}

const struct dev_ops fwcfg_ops = {.read = fwcfg_read, .write = fwcfg_write};

void fwcfg_init(struct fwcfg *f, uint16_t cpus, uint64_t ram_bytes)
{
	*f = (struct fwcfg){.cpus = cpus, .ram_bytes = ram_bytes};
}
