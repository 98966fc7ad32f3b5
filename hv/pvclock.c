/* SPDX-License-Identifier: BSD-2-Clause */
/* pvclock: the pages of the KVM paravirtual clock, and its rate.  Pure. */
#include "hv/pvclock.h"

/*
 * The shift makes a tick take half a nanosecond to one, so that the multiplier
 * fills its 32 bits; it is computed from the rate itself, without what shifts lose.
 */
void pvclock_set_rate(struct pvclock_vcpu_time *t, uint64_t khz)
{
	uint64_t scaled = khz;
	int shift = 0;

	for (; scaled > 2000000; scaled /= 2)
		shift--;
	for (; scaled <= 1000000; scaled *= 2)
		shift++;
	t->tsc_shift = (int8_t)shift;
	t->tsc_to_system_mul = (uint32_t)mul_div(1000000, BIT64(32 - shift), khz);
}
