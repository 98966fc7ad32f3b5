/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * firmware: calls of UEFI's run-time services.
 *
 * One call at a time, interrupts off, on page tables of its own (mm/paging.h).  No
 * vCPU's state may be loaded: the firmware uses the FPU.  A fault of the firmware
 * ends the call and all later ones, not the hypervisor.
 * Spec: UEFI 2.10 8.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/status.h"
#include "hv/trap.h"

/* Boot CPU, once all that the tables should show is mapped. */
void firmware_init(const struct handoff *h);

/*
 * Stores a variable of ours (hv/saved.h) for good; @len 0 deletes it.  HV_NOTSUP: the
 * firmware cannot; HV_NOENT: nothing to delete; HV_NOMEM: its store is full; HV_IO.
 */
enum hv_status firmware_set_variable(const uint16_t *name, const void *data, size_t len) __must_check;

enum firmware_reset { FIRMWARE_RESET_COLD = 0, FIRMWARE_RESET_SHUTDOWN = 2 };

/* Comes back if the firmware did not do it.  No guest runs any more. */
void firmware_reset(enum firmware_reset how);

/* An exception: true when it was the firmware's, whose call now fails. */
bool firmware_faulted(struct trap_frame *f);
