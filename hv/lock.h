/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock: a ticket spinlock.  Taken with interrupts off (the hypervisor runs so),
 * never held across a VM entry.  Order: vm, device, frame, console.
 */
#pragma once

#include "hv/base.h"
#include "hv/io.h"

struct lock {
	uint32_t next, owner;
};

static inline void lock(struct lock *l)
{
	uint32_t mine = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&l->owner, __ATOMIC_ACQUIRE) != mine)
		cpu_relax();
}

static inline void unlock(struct lock *l)
{
	__atomic_store_n(&l->owner, l->owner + 1, __ATOMIC_RELEASE);
}
