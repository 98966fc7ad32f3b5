/* SPDX-License-Identifier: BSD-2-Clause */
/* version: the release that the log, the monitor and CPUID report. */
#pragma once

#define HV_VERSION "0.1"

#ifdef HV_DEBUG
#define HV_BUILD " (debug: checks every nested entry and flush)"
#else
#define HV_BUILD ""
#endif
