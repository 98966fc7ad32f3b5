/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assert: checks of our own invariants, never of anything a guest or a file
 * supplies.  HV_ASSERT stays in release builds.  hv_assert_fail is the panic
 * (hv/panic.c) in the hypervisor and abort() in the hosted tests.  Pure.
 */
#pragma once

#include "hv/base.h"

_Noreturn void hv_assert_fail(const char *expr, const char *file, int line);

#define HV_ASSERT(e) ((e) ? (void)0 : hv_assert_fail(#e, __FILE__, __LINE__))
