/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm: a virtual machine from configuration to its end.
 *
 * A VM is created at boot from the configuration, or later by the monitor, and
 * then runs, pauses, is reset, or stops, until it is destroyed.  State changes
 * of a running VM go through vm_request(): every vCPU parks, and the last one to
 * park carries the request out on its own CPU.
 *
 *	vm_create() -> STOPPED -> vm_start() -> RUNNING <-> PAUSED, STARVED
 *	vm_destroy() <- STOPPED <---------------------------------
 *
 * hv/vm.c has who there is, hv/vm_run.c the states, hv/vm_dump.c what is kept of
 * a VM that has failed.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/lock.h"
#include "hv/platform.h"
#include "hv/vcpu.h"
#include "mm/dirty.h"
#include "mm/flush.h"
#include "mm/frame.h"
#include "mm/npt.h"
#include "mm/region.h"

enum vm_state {
	VM_STOPPED,
	VM_RUNNING,
	VM_PAUSED,  /* until it is told to go on */
	VM_STARVED, /* until memory comes free */
};
enum vm_request { VM_REQ_NONE, VM_REQ_RESET, VM_REQ_STOP, VM_REQ_PAUSE, VM_REQ_STARVE };

struct vm_stats {
	uint64_t demand_faults;
	uint64_t resident; /* bytes of guest RAM that have a frame */
	uint32_t resets;
	uint32_t early_resets; /* in a row, each soon after the one before */
};

/* The last failure: registers, control structure, last exits. */
struct vm_crash {
	bool unread;
	uint64_t ns;
	uint32_t len;
	char text[6 * KIB];
};

struct vm {
	unsigned index;
	struct config_vm config; /* its own copy: the monitor changes some of it */
	enum vm_state state;
	uint32_t vcpu_count;
	struct vcpu *vcpu[CONFIG_MAX_VCPUS];
	struct region_map *regions; /* the current one; atomic, never changed in place */
	struct npt_fmt fmt; /* what this VM uses of the machine's */
	struct npt npt;
	struct flush flush;
	struct flush_env flush_env;
	struct lock mutation; /* removal and protection of nested entries (hv/vm_mutate.h) */
	struct frame_list retired[2]; /* of flush */
	struct dirty_log dirty;	      /* attached to npt while writes are logged */
	struct lock device;   /* everything in platform but the local APICs */
	struct platform platform;
	uint64_t start_ns;    /* host time at which the VM's clock began */
	uint64_t boot_ns;     /* and at which it last began to run */
	uint64_t tsc_offset;
	struct vm_stats stats;
	struct vm_crash crash;
	uint64_t starved_freed; /* guest_frames_freed() when a fault found none */
	/* any CPU */
	uint32_t parked;      /* vCPUs that have parked */
	uint32_t request;     /* enum vm_request */
	struct hv_error reason;
};

extern struct vm *vms[CONFIG_MAX_VMS];
extern enum config_when_idle vm_when_idle;

/* Creates and starts every VM of the configuration.  Boot CPU, once. */
void vm_init(const struct handoff *h);

/* Around a walk through vms[] on any CPU but the boot CPU, which alone changes it. */
void vm_lock_all(void);
void vm_unlock_all(void);

/* ---- boot CPU, between turns ---------------------------------------------------- */

struct vm *vm_find(const char *name);

/* Makes a VM, which is stopped; nothing is left behind when @err says why not. */
enum hv_status vm_create(const struct config_vm *c, struct vm **vm, struct hv_error *err)
	__must_check;

/* Of a stopped VM; it is stopped still when @err says why not. */
enum hv_status vm_start(struct vm *vm, struct hv_error *err) __must_check;

/*
 * RESET, STOP or PAUSE of a VM that runs or is paused.  It may take a while: the
 * state tells.  False: another request is being carried out.
 */
bool vm_order(struct vm *vm, enum vm_request r, const char *why) __must_check;

/*
 * Between these nobody lets a VM that does not run go on: one that waits for
 * memory counts as paused meanwhile.
 */
bool vm_hold(struct vm *vm);
void vm_let_go(struct vm *vm, bool held);

/* Moves the vCPUs of a stopped or paused VM to CPUs of @mask (0: any); HV_NOENT: none is there. */
enum hv_status vm_place(struct vm *vm, uint64_t mask) __must_check;

/* Of a stopped VM. */
void vm_destroy(struct vm *vm);

/* ---- any CPU ------------------------------------------------------------------------ */

/* Also from a device callback.  The first request with its reason wins. */
void vm_request(struct vm *vm, enum vm_request r, const char *f, ...) __printf(3, 4);

/* What the configuration makes of a guest's wish to reboot. */
enum vm_request vm_on_reboot(const struct vm *vm);
/* And of its triple fault. */
enum vm_request vm_on_crash(const struct vm *vm);

/* Lets a VM that is @from (PAUSED or STARVED) go on; false: it is not. */
bool vm_resume(struct vm *vm, enum vm_state from);

/* By the last vCPU that parked. */
void vm_all_parked(struct vm *vm);

/* Stops the VM with a dump of @v: our answer to an exit that we cannot handle. */
void vm_fail(struct vcpu *v, const char *f, ...) __printf(2, 3);

/* Registers, control structure and last exits of @v on the console and in vm->crash; on its CPU. */
void vm_dump(struct vcpu *v, const char *why);

/* Nanoseconds of the VM's own clock. */
uint64_t vm_now_ns(const struct vm *vm);

/* How many VMs still run. */
uint32_t vm_running_count(void);

const char *vm_state_name(enum vm_state s);
