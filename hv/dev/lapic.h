/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic: the local APIC of one vCPU, in xAPIC or x2APIC mode.
 *
 * Ownership: lapic_accept, lapic_matches and lapic_software_enabled may be
 * called from any CPU at any time; everything else only by the CPU that runs
 * the vCPU, without the device lock.  So IRR, TMR and pending errors are changed
 * atomically, and the registers that matching reads are single atomic words.
 * Invariant: an interrupt is deliverable exactly when lapic_pending says so.
 *
 * The timer counts nanoseconds of now_ns (1 GHz before the divider).  All of it
 * is pure.  Spec: SDM 3A chapter 11.
 */
#pragma once

#include "hv/dev/apic_bus.h"
#include "hv/dev/dev.h"

#define LAPIC_BASE     0xfee00000ULL
#define LAPIC_LEN      0x1000
#define LAPIC_TIMER_HZ 1000000000ULL

#define LAPIC_MSR_FIRST 0x800
#define LAPIC_MSR_LAST	0x83f

/* IA32_APIC_BASE */
#define LAPIC_BASE_BSP	  BIT64(8)
#define LAPIC_BASE_EXTD	  BIT64(10)
#define LAPIC_BASE_ENABLE BIT64(11)

/* Local vector table, in register order from 0x320. */
enum lapic_lvt { LVT_TIMER, LVT_THERMAL, LVT_PERF, LVT_LINT0, LVT_LINT1, LVT_ERROR, LVT_COUNT };

#define LVT_VECTOR(v) ((uint8_t)(v))
#define LVT_MODE(v)   ((v) >> 8 & 7)
#define LVT_MASKED    BIT(16)

#define LVT_TIMER_MODE(v)      ((v) >> 17 & 3)
#define LVT_TIMER_ONE_SHOT     0
#define LVT_TIMER_PERIODIC     1
#define LVT_TIMER_TSC_DEADLINE 2

/* What the timer asks of its vCPU; both run on the owner's CPU. */
struct lapic_env {
	void *ctx;
	uint64_t (*now_ns)(void *ctx);
	/* The TSC as the guest reads it now. */
	uint64_t (*guest_tsc)(void *ctx);
	uint32_t tsc_khz; /* of the guest's TSC; not 0 */
};

struct lapic {
	struct apic_bus *bus;
	const struct lapic_env *env;
	unsigned index; /* of the vCPU on the bus */
	uint32_t id;
	bool bsp;

	/* Any CPU. */
	uint32_t irr[8], tmr[8];
	uint32_t esr_pending;

	/* Written by the owner, read by any CPU. */
	uint32_t base; /* low half of IA32_APIC_BASE */
	uint32_t ldr, dfr, svr;
	uint32_t lvt_error;

	/* Owner only. */
	uint32_t isr[8];
	uint32_t tpr, esr;
	uint64_t icr;
	uint32_t lvt[LVT_COUNT]; /* [LVT_ERROR] lives in lvt_error */
	uint32_t initial_count, divide;
	uint64_t expiry_ns; /* of the running count; DEV_NO_DEADLINE when stopped */
	uint64_t fired_ns;  /* when the timer last fired */
	uint64_t tsc_deadline;
};

/* The MMIO page; registers answer aligned dword accesses only. */
extern const struct dev_ops lapic_ops;

void lapic_init(struct lapic *l, struct apic_bus *bus, const struct lapic_env *env, unsigned index,
		uint32_t id);
/* Vcpu 0 is the bootstrap processor.  Power-up also brings APIC_BASE back, INIT leaves it. */
void lapic_power_up(struct lapic *l);
void lapic_reset_init(struct lapic *l);
/* What firmware leaves on the bootstrap processor: enabled, LINT0 ExtINT, LINT1 NMI. */
void lapic_virtual_wire(struct lapic *l);

/* IA32_APIC_BASE; false is #GP(0). */
uint64_t lapic_base_read(const struct lapic *l);
bool __must_check lapic_base_write(struct lapic *l, uint64_t val);
/* x2APIC registers, MSRs 0x800 to 0x83f; false is #GP(0). */
bool __must_check lapic_msr_read(struct lapic *l, uint32_t msr, uint64_t *val);
bool __must_check lapic_msr_write(struct lapic *l, uint32_t msr, uint64_t val);
/* IA32_TSC_DEADLINE: reads 0 when disarmed, writes count in TSC-deadline mode only. */
uint64_t lapic_tsc_deadline_read(const struct lapic *l);
void lapic_tsc_deadline_write(struct lapic *l, uint64_t val);
/* CR8 is TPR bits 7:4. */
uint64_t lapic_cr8_read(const struct lapic *l);
void lapic_cr8_write(struct lapic *l, uint64_t val);

/*
 * Any CPU: requests @vector.  True when the vCPU has something new to look at;
 * false when it was requested before, or is illegal, or the APIC is disabled.
 */
bool lapic_accept(struct lapic *l, uint8_t vector, bool level);
bool lapic_matches(const struct lapic *l, uint32_t dest, bool logical);
bool lapic_software_enabled(const struct lapic *l);

/* The vector to deliver now, or -1: the highest in IRR whose class is above PPR's. */
int lapic_pending(const struct lapic *l);
/* Moves @vector, which lapic_pending returned, from IRR to ISR. */
void lapic_ack(struct lapic *l, uint8_t vector);
void lapic_eoi(struct lapic *l);
uint8_t lapic_ppr(const struct lapic *l);

/* Whether the PIC's INTR (LINT0) and the NMI line (LINT1) reach the CPU. */
bool lapic_accepts_extint(const struct lapic *l);
bool lapic_accepts_nmi(const struct lapic *l);

/* Absolute now_ns of the next timer interrupt, DEV_NO_DEADLINE if none is due. */
uint64_t lapic_next_deadline_ns(const struct lapic *l);
/* Fires the timer when it is due; true when that made an interrupt pending. */
bool lapic_timer_poll(struct lapic *l);
