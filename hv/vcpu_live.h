/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vcpu_live: guest state that stays in the CPU across exits: FPU and extended
 * state, XCR0, debug registers, TSC_AUX.
 *
 * The hypervisor itself uses none of it (it is built without FPU), so it is
 * swapped only when another vCPU takes the CPU.  XCR0 is the guest's while a
 * vCPU is loaded; saving and restoring use the host's full set.
 * On the CPU itself, interrupts off.
 */
#pragma once

#include "hv/vcpu.h"

/* Boot CPU: sizes the save area and learns the XCR0 bits that guests may set. */
void vcpu_live_init(void);

/* The XCR0 bits that a guest may have. */
uint64_t vcpu_live_xcr0_allowed(void);

enum hv_status vcpu_live_create(struct vcpu *v) __must_check;
void vcpu_live_destroy(struct vcpu *v);

/* Power-up values. */
void vcpu_live_reset(struct vcpu *v);

void vcpu_live_restore(struct vcpu *v);
void vcpu_live_save(struct vcpu *v);

/* XSETBV by the loaded vCPU; false is #GP(0). */
bool vcpu_live_set_xcr0(struct vcpu *v, uint64_t value) __must_check;
