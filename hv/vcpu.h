/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vcpu: one virtual CPU and the only run loop.
 *
 * A vCPU belongs to one host CPU, its home, and moves only while its VM does not
 * run: only that CPU runs it and touches its registers.  Other CPUs reach it through the fields after
 * "any CPU", each of which is atomic, followed by vcpu_kick().
 */
#pragma once

#include "hv/base.h"
#include "hv/dev/lapic.h"
#include "hv/exit.h"
#include "hv/histogram.h"
#include "hv/insn_cache.h"
#include "hv/mtrr.h"
#include "hv/state.h"
#include "hv/status.h"
#include "hv/virt.h"
#include "mm/npt.h"

struct vm;
struct cpu;

/* Guest MSRs that live in the CPU itself while the guest is loaded (VMX), or in the VMCB. */
struct vcpu_msrs {
	uint64_t star, lstar, cstar, sfmask, kernel_gs_base, tsc_aux;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t pat;
};

/* MSRs that only we keep. */
struct vcpu_soft_msrs {
	uint64_t tsc_adjust;
	struct mtrr mtrr;
	uint64_t misc_enable;
	uint64_t mcg_status;
	uint64_t kvm_wall_clock, kvm_system_time, kvm_eoi;
	uint64_t kvm_poll_control;
	uint64_t amd_scratch[4]; /* HWCR, NB_CFG, DE_CFG, SYSCFG */
};

enum vcpu_state {
	VCPU_PARKED,	/* the VM is off, paused or being reset: not to be run */
	VCPU_WAIT_SIPI, /* after INIT */
	VCPU_RUNNING,
	VCPU_HALTED,
};

/* Bits of vcpu->requests. */
#define VCPU_REQ_INIT BIT(0)
#define VCPU_REQ_SIPI BIT(1)
#define VCPU_REQ_NMI  BIT(2)
#define VCPU_REQ_STOP BIT(3) /* the VM wants this vCPU parked */
#define VCPU_REQ_CLOCK BIT(4) /* rewrite the guest's clock page */
#define VCPU_REQ_UNTIME BIT(5) /* forget how long faults took */

struct vcpu_stats {
	uint64_t exits[EXIT_CLASS_COUNT];
	uint64_t fast_faults[4]; /* by enum fault_fast: FAST_NONE went the long way */
	struct histogram fault_cycles[4]; /* likewise, while time_faults is set */
};

/* Its place among the vCPUs of the same home (hv/sched.c). */
struct sched_entry {
	struct vcpu *next;
	uint64_t virtual_ns;		    /* run time by weight */
	uint64_t period_start, period_used; /* for the cap */
	uint64_t run_ns;		    /* in all */
};

struct vcpu {
	struct hv_regs regs; /* first: the enter code knows it by offset */
	struct vm *vm;
	struct cpu *home;
	struct sched_entry sched;
	unsigned index;
	uint32_t trace_id; /* of VM and vCPU (hv/trace.h) */
	void *virt; /* the back end's part */
	enum vcpu_state state, parked_from;
	struct lapic lapic;
	struct lapic_env lapic_env;
	struct vcpu_msrs msrs;
	struct vcpu_soft_msrs soft;
	uint64_t tsc_offset;
	uint64_t xcr0;
	void *xsave;		/* FPU state while another vCPU has the CPU */
	uint64_t dr[4], dr6;	/* likewise; DR7 is switched by the hardware */
	struct hv_event exception; /* to be delivered first */
	struct hv_event reinject;  /* a delivery that an exit interrupted */
	bool nmi_pending;
	bool touched_device; /* since the last look at timers and interrupts */
	struct insn_cache insn_cache;
	struct npt_walk walk; /* where the last nested fault ended */
	/* The last exit after which the guest had not moved, and how often it came again. */
	uint64_t stuck_rip, stuck_rcx, stuck_info;
	uint32_t stuck_repeats;
	uint64_t last_info;
	uint32_t msr_warnings;
	struct vcpu_stats stats;
	/* any CPU */
	uint32_t requests;
	uint8_t sipi_vector;
	bool time_faults;
};

/* All allocations of a vCPU; HV_NOMEM leaves nothing behind. */
enum hv_status vcpu_create(struct vcpu *v, struct vm *vm, unsigned index, struct cpu *home)
	__must_check;
void vcpu_destroy(struct vcpu *v);

/* Power-up state at the reset vector; the vCPU stays parked. */
void vcpu_power_up(struct vcpu *v);

/* On its home CPU. */
bool vcpu_runnable(struct vcpu *v);
/* Absolute host ns of the next thing that it waits for. */
uint64_t vcpu_next_deadline(struct vcpu *v);
/* Runs until it halts, stops, or @slice_end (host ns) has passed. */
void vcpu_run(struct vcpu *v, uint64_t slice_end);
/* Saves what is loaded of the CPU's current vCPU. */
void vcpu_unload_current(void);

/* Any CPU: ORs @request (may be 0) and makes the vCPU's home look. */
void vcpu_kick(struct vcpu *v, uint32_t request);

/* For the exit handlers; on the home CPU, between exits. */
void vcpu_skip(struct vcpu *v, unsigned len);
/* As vcpu_skip(), for a HLT. */
void vcpu_halt(struct vcpu *v, unsigned len);
void vcpu_raise(struct vcpu *v, uint8_t vector);
void vcpu_raise_error(struct vcpu *v, uint8_t vector, uint32_t error);
void vcpu_raise_pf(struct vcpu *v, uint64_t cr2, uint32_t error);
uint64_t vcpu_guest_tsc(const struct vcpu *v);
