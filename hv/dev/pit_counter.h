/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pit_counter: one counter of an 8254 as a function of time.
 *
 * Nothing ticks: the state is when counting began, and every value and edge is
 * computed from the tick number.  Times are ticks of the 1193182 Hz input since
 * the VM was created.  A caller passes ticks that never go back.  Pure.
 * Spec: Intel 82C54 data sheet.
 */
#pragma once

#include "hv/base.h"

#define PIT_NEVER (~0ULL)

struct pit_counter {
	uint8_t mode;	/* 0 to 5 */
	uint8_t access; /* RW bits: 1 low byte, 2 high byte, 3 both */
	bool bcd;
	bool gate;
	bool loaded;	 /* a count was written since the control word */
	bool running;	 /* modes 1 and 5 wait for the gate; gate low stops the rest */
	bool null_count; /* the count written last is not in the counter yet */
	bool write_high; /* the next write is the high byte */
	bool read_high;
	uint8_t low;	    /* low byte of a count being written */
	uint8_t latch_left; /* bytes of the latched count not yet read */
	uint16_t latch;
	bool status_latched;
	uint8_t status;
	uint32_t count; /* of the period that runs: 1 to 65536 */
	uint32_t next;	/* written last; modes 2 and 3 take it at the period's end */
	uint64_t start; /* tick at which the running count was loaded */
	uint64_t held;	/* ticks that had passed when the gate stopped the count */
	uint64_t edge;	/* next rising edge of OUT that was not reported; PIT_NEVER if none */
};

/* Power-up: mode 0 without a count; OUT is low. */
void pit_counter_reset(struct pit_counter *c, bool gate);
/* A control word for this counter: mode and access, or the latch command. */
void pit_counter_control(struct pit_counter *c, uint8_t word, uint64_t now);
/* The two parts of the read-back command. */
void pit_counter_latch_count(struct pit_counter *c, uint64_t now);
void pit_counter_latch_status(struct pit_counter *c, uint64_t now);

uint8_t pit_counter_read(struct pit_counter *c, uint64_t now);
void pit_counter_write(struct pit_counter *c, uint8_t val, uint64_t now);
void pit_counter_set_gate(struct pit_counter *c, bool gate, uint64_t now);
bool pit_counter_out(struct pit_counter *c, uint64_t now);

/* True when OUT rose since the last call; edges that went by are one. */
bool pit_counter_take_edge(struct pit_counter *c, uint64_t now);
