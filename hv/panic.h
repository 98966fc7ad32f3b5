/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * panic: the one way for the hypervisor to die.
 *
 * The first CPU wins, stops the others by NMI, prints what it knows without
 * taking a lock, and halts the machine for whoever reads the console.
 * Usable in any context.
 */
#pragma once

#include "hv/base.h"

struct trap_frame;

_Noreturn void hv_panic(const char *f, ...) __printf(1, 2);
_Noreturn void panic_trap(const struct trap_frame *f);
bool panic_in_progress(void);
