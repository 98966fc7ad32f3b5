/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm: a virtual machine from configuration to its end.
 *
 * A VM is created once at boot (or refused, with its reason on the console) and
 * then runs, is reset, or stops; its slot stays.  State changes of a running VM
 * go through vm_request(): every vCPU parks, and the last one to park carries
 * the request out on its own CPU.
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

enum vm_state { VM_STOPPED, VM_RUNNING, VM_PAUSED };
enum vm_request { VM_REQ_NONE, VM_REQ_RESET, VM_REQ_STOP, VM_REQ_PAUSE };

struct vm_stats {
	uint64_t demand_faults;
	uint64_t resident; /* bytes of guest RAM that have a frame */
	uint32_t resets;
	uint32_t early_resets; /* in a row, each soon after the one before */
};

struct vm {
	unsigned index;
	const struct config_vm *config;
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
	/* any CPU */
	uint32_t parked;      /* vCPUs that have parked */
	uint32_t request;     /* enum vm_request */
	struct hv_error reason;
};

extern struct vm *vms[CONFIG_MAX_VMS];

/* Creates and starts every VM of the configuration.  Boot CPU, once. */
void vm_init(const struct handoff *h);

/* Any CPU, also from a device callback.  The first request with its reason wins. */
void vm_request(struct vm *vm, enum vm_request r, const char *f, ...) __printf(3, 4);

/* What the configuration makes of a guest's wish to reboot, or of its triple fault. */
static inline enum vm_request vm_on_reboot(const struct vm *vm)
{
	return vm->config->on_reboot == ON_REBOOT_STOP ? VM_REQ_STOP : VM_REQ_RESET;
}

/* Lets a paused VM go on; any CPU. */
void vm_resume(struct vm *vm);

/* By the last vCPU that parked. */
void vm_all_parked(struct vm *vm);

/* Stops the VM with a dump of @v: our answer to an exit that we cannot handle. */
void vm_fail(struct vcpu *v, const char *f, ...) __printf(2, 3);

/* Registers, control structure and last exits of @v on the console; on its CPU. */
void vm_dump(struct vcpu *v, const char *why);

/* Nanoseconds of the VM's own clock. */
uint64_t vm_now_ns(const struct vm *vm);

/* How many VMs still run. */
uint32_t vm_running_count(void);
