/* SPDX-License-Identifier: BSD-2-Clause */
/* kvm_clock: the KVM paravirtual clock. */
#include "hv/kvm_clock.h"

#include "hv/guest_mem.h"
#include "hv/pvclock.h"
#include "hv/time.h"
#include "hv/vm.h"

#define MSR_WALL_CLOCK_OLD  0x11u
#define MSR_SYSTEM_TIME_OLD 0x12u
#define MSR_WALL_CLOCK	    0x4b564d00u
#define MSR_SYSTEM_TIME	    0x4b564d01u

#define ENABLE BIT64(0)

static bool write_system_time(struct vcpu *v, uint64_t val)
{
	struct pvclock_vcpu_time t = { .version = 2, .flags = PVCLOCK_STABLE };
	uint64_t host_tsc = rdtsc();

	v->soft.kvm_system_time = val;
	if (!(val & ENABLE))
		return true;
	t.tsc_timestamp = host_tsc + v->tsc_offset;
	t.system_time = time_tsc_to_ns(host_tsc) - v->vm->start_ns;
	pvclock_set_rate(&t, time_tsc_khz());
	return !guest_mem_write(v->vm, GPA(val & ~ENABLE), &t, sizeof(t));
}

static bool write_wall_clock(struct vcpu *v, uint64_t val)
{
	struct pvclock_wall_clock w = {
		.version = 2,
		.sec = (uint32_t)(v->vm->platform.epoch),
	};

	v->soft.kvm_wall_clock = val;
	return !guest_mem_write(v->vm, GPA(val), &w, sizeof(w));
}

bool kvm_clock_read(struct vcpu *v, uint32_t msr, uint64_t *val)
{
	switch (msr) {
	case MSR_WALL_CLOCK_OLD:
	case MSR_WALL_CLOCK:
		*val = v->soft.kvm_wall_clock;
		return true;
	case MSR_SYSTEM_TIME_OLD:
	case MSR_SYSTEM_TIME:
		*val = v->soft.kvm_system_time;
		return true;
	default:
		return false;
	}
}

bool kvm_clock_write(struct vcpu *v, uint32_t msr, uint64_t val)
{
	switch (msr) {
	case MSR_WALL_CLOCK_OLD:
	case MSR_WALL_CLOCK:
		return write_wall_clock(v, val);
	case MSR_SYSTEM_TIME_OLD:
	case MSR_SYSTEM_TIME:
		return write_system_time(v, val);
	default:
		return false;
	}
}
