/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reset: the three ways by which PC software resets the machine: the chipset's
 * reset control register (0xcf9), the keyboard controller (0x60/0x64) and
 * system control port A (0x92).  Each ends in one callback.  Pure.
 * Spec: Intel ICH9 data sheet 13.7.5; 8042 command set.
 */
#pragma once

#include "hv/dev/dev.h"

/*
 * The register is the byte 0xcf9, but PCI configuration addresses are written
 * as one dword at 0xcf8: who claims the byte must claim the dword, or the
 * dword's second byte would reset the machine.
 */
#define RESET_CF8_PORT	  0xcf8
#define RESET_CF8_LEN	  4
#define RESET_KBD_DATA	  0x60
#define RESET_KBD_COMMAND 0x64
#define RESET_SYSCTL_PORT 0x92
#define RESET_BYTE_LEN	  1

struct reset_dev {
	void (*reset)(void *ctx);
	void *ctx;
	uint8_t rst_cnt;  /* 0xcf9 */
	uint8_t sysctl;	  /* 0x92 */
	uint8_t out_port; /* the 8042's output port P2 */
	bool out_full;	  /* command 0xd0 left P2 to be read at 0x60 */
	bool expect_p2;	  /* the next byte to 0x60 is P2 (command 0xd1) */
};

extern const struct dev_ops reset_cf8_ops, reset_kbd_data_ops, reset_kbd_command_ops,
	reset_sysctl_ops;

void reset_dev_init(struct reset_dev *r, void (*reset)(void *ctx), void *ctx);
void reset_dev_reset(struct reset_dev *r);

/* 0xcf9 alone, for a PCI host bridge that claims 0xcf8-0xcff itself. */
uint8_t reset_cf9_read(const struct reset_dev *r);
void reset_cf9_write(struct reset_dev *r, uint8_t val);
