/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pit: the 8254 interval timer (ports 0x40-0x43) and system control port B
 * (0x61): gate and output of counter 2, refresh toggle.
 *
 * Counter 0 drives IRQ 0.  Periods that went by unserved give one interrupt.
 * Called with the VM's device lock held.  Pure.
 * Spec: Intel 82C54 data sheet; ICH9 data sheet 13.7.1 (NMI_SC).
 */
#pragma once

#include "hv/dev/dev.h"
#include "hv/dev/pit_counter.h"

#define PIT_PORT       0x40
#define PIT_LEN	       4
#define PIT_PORT_B     0x61
#define PIT_PORT_B_LEN 1
#define PIT_IRQ	       0
#define PIT_HZ	       1193182

struct pit {
	const struct dev_env *env;
	struct pit_counter counter[3];
	uint8_t port_b; /* its writable bits 3:0; bit 0 is counter 2's gate */
	bool line;
	uint64_t fired_ns; /* when the last edge of IRQ 0 was driven */
};

/* Both are registered with the struct pit as device. */
extern const struct dev_ops pit_ops, pit_port_b_ops;

void pit_init(struct pit *p, const struct dev_env *env);
void pit_reset(struct pit *p);

/* When IRQ 0 will next rise; pit_poll then does it. */
uint64_t pit_next_deadline_ns(const struct pit *p);
void pit_poll(struct pit *p);
