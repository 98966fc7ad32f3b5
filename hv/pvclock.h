/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvclock: the pages of the KVM paravirtual clock, and its rate.
 *
 * Pure (tests/host/test_pvclock.c).
 * Spec: Linux Documentation/virt/kvm/x86/msr (MSR_KVM_SYSTEM_TIME_NEW and others).
 */
#pragma once

#include "hv/base.h"

#define PVCLOCK_STABLE BIT(0) /* flags: the same on all vCPUs */

/* ns = system_time + ((tsc - tsc_timestamp) << tsc_shift) * tsc_to_system_mul / 2^32 */
struct __packed pvclock_vcpu_time {
	uint32_t version;
	uint32_t pad0;
	uint64_t tsc_timestamp;
	uint64_t system_time;
	uint32_t tsc_to_system_mul;
	int8_t tsc_shift; /* negative: to the right */
	uint8_t flags;
	uint8_t pad[2];
};
_Static_assert(sizeof(struct pvclock_vcpu_time) == 32, "pvclock ABI");

struct __packed pvclock_wall_clock {
	uint32_t version, sec, nsec;
};
_Static_assert(sizeof(struct pvclock_wall_clock) == 12, "pvclock ABI");

/* Sets multiplier and shift for a TSC of @khz (1 to 2^50), as exactly as 32 bits can. */
void pvclock_set_rate(struct pvclock_vcpu_time *t, uint64_t khz);
