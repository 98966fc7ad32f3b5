/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pic: the cascaded pair of 8259A interrupt controllers and the ELCR.
 *
 * Inputs 0-7 are the master's, 8-15 the slave's; the slave's output drives the
 * master's input 2.  Called with the VM's device lock held.  Pure.
 * Spec: Intel 8259A data sheet; ICH9 data sheet 13.4 (ELCR).
 */
#pragma once

#include "hv/dev/dev.h"

#define PIC_MASTER_PORT 0x20
#define PIC_SLAVE_PORT	0xa0
#define PIC_LEN		2
#define PIC_ELCR_PORT	0x4d0
#define PIC_ELCR_LEN	2
#define PIC_INPUTS	16
#define PIC_CASCADE	2

/* Which byte of the initialization sequence the data port expects. */
enum pic_init { PIC_READY, PIC_ICW2, PIC_ICW3, PIC_ICW4 };

struct pic_chip {
	uint8_t lines; /* input levels */
	uint8_t irr, imr, isr;
	uint8_t elcr;	/* 1: level-triggered */
	uint8_t base;	/* vector of input 0 */
	uint8_t lowest; /* the input after this one has the highest priority */
	uint8_t init;	/* enum pic_init */
	bool icw4, single;
	bool auto_eoi, rotate_on_auto_eoi;
	bool special_mask, special_nested;
	bool read_isr, poll;
};

struct pic {
	struct pic_chip chip[2]; /* master, slave */
	/* Told whenever the master's INTR output changes; may be NULL. */
	void (*intr)(void *ctx, bool level);
	void *ctx;
	bool output;
};

/* Registered with the struct pic as device. */
extern const struct dev_ops pic_master_ops, pic_slave_ops, pic_elcr_ops;

void pic_init(struct pic *p, void (*intr)(void *ctx, bool level), void *ctx);
void pic_reset(struct pic *p);

/* Input 2 is the cascade: driving it from outside is ignored. */
void pic_set_irq(struct pic *p, unsigned irq, bool level);

/* INTR, which pic_ack answers with the vector: the INTA cycle of the CPU. */
bool pic_intr(const struct pic *p);
uint8_t pic_ack(struct pic *p);
