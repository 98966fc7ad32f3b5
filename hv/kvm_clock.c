/* SPDX-License-Identifier: BSD-2-Clause */
/* kvm_clock: the KVM paravirtual clock. */
#include "hv/kvm_clock.h"

#include "hv/time.h"
#include "hv/vm.h"
#include "hv/guest_mem.h"

#define MSR_WALL_CLOCK_OLD  0x11u
#define MSR_SYSTEM_TIME_OLD 0x12u
#define MSR_WALL_CLOCK	    0x4b564d00u
#define MSR_SYSTEM_TIME	    0x4b564d01u

#define ENABLE	    BIT64(0)
#define FLAG_STABLE BIT(0)

struct __packed pvclock_vcpu_time {
	uint32_t version;
	uint32_t pad0;
	uint64_t tsc_timestamp;
	uint64_t system_time;
	uint32_t tsc_to_system_mul;
	int8_t tsc_shift;
	uint8_t flags;
	uint8_t pad[2];
};
_Static_assert(sizeof(struct pvclock_vcpu_time) == 32, "pvclock ABI");

struct __packed pvclock_wall_clock {
	uint32_t version, sec, nsec;
};
_Static_assert(sizeof(struct pvclock_wall_clock) == 12, "pvclock ABI");

/* ns = ((tsc << shift) * mul) >> 32, with mul as large as 32 bits allow. */
static void scale(uint64_t khz, uint32_t *mul, int8_t *shift)
{
	*shift = 0;
	while (khz > 2000000) {
		khz /= 2;
		(*shift)--;
	}
	while (khz <= 1000000) {
		khz *= 2;
		(*shift)++;
	}
	*mul = (uint32_t)mul_div(1000000, 1ULL << 32, khz);
}

static bool write_system_time(struct vcpu *v, uint64_t val)
{
	struct pvclock_vcpu_time t = { .version = 2, .flags = FLAG_STABLE };
	uint64_t host_tsc = rdtsc();
	uint32_t mul;
	int8_t shift;

	v->soft.kvm_system_time = val;
	if (!(val & ENABLE))
		return true;
	t.tsc_timestamp = host_tsc + v->tsc_offset;
	t.system_time = time_tsc_to_ns(host_tsc) - v->vm->start_ns;
	scale(time_tsc_khz(), &mul, &shift);
	t.tsc_to_system_mul = mul;
	t.tsc_shift = shift;
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
