/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virt: the seam between policy and the two back ends.
 *
 * One const table per vendor, chosen once at boot (hv/virt_select.c), sealed
 * read-only.  All operations run on the CPU that has the vCPU, interrupts off.
 * General registers, RIP and RFLAGS live in vcpu->regs and are always current
 * outside run(); everything else is fetched in bulk, only by slow paths.
 */
#pragma once

#include "hv/base.h"
#include "hv/exit.h"
#include "hv/state.h"
#include "hv/status.h"
#include "mm/npte.h"

struct cpu;
struct vcpu;
struct vm;

/* What keeps an event from being delivered just now. */
#define BLOCK_IRQ_SHADOW BIT(0) /* after STI or MOV SS */
#define BLOCK_NMI	 BIT(1) /* between an NMI and its IRET */

struct virt_ops {
	const char *name;
	/* The nested format this machine can do; NULL after logging each missing feature. */
	const struct npt_fmt *(*probe)(void);
	/* Enter and leave root operation on the calling CPU. */
	enum hv_status (*cpu_enable)(struct cpu *c);
	void (*cpu_disable)(struct cpu *c);
	enum hv_status (*vcpu_create)(struct vcpu *v);
	void (*vcpu_destroy)(struct vcpu *v);
	/* Make @v's control structure current on this CPU, and no longer so. */
	void (*vcpu_load)(struct vcpu *v);
	void (*vcpu_put)(struct vcpu *v);
	/*
	 * Enters the guest until it exits, at the latest when the TSC reaches
	 * @deadline where the CPU can do that itself (has_deadline).
	 */
	void (*run)(struct vcpu *v, uint64_t deadline, struct hv_exit *e);
	bool (*has_deadline)(void);
	void (*get_sregs)(struct vcpu *v, struct hv_sregs *s);
	void (*set_sregs)(struct vcpu *v, const struct hv_sregs *s);
	/* @e is delivered at the next entry; e->valid false withdraws it. */
	void (*inject)(struct vcpu *v, const struct hv_event *e);
	/* Ask for an exit as soon as an interrupt or NMI could be delivered. */
	void (*want_window)(struct vcpu *v, bool irq, bool nmi);
	uint32_t (*get_blocking)(struct vcpu *v);
	void (*set_blocking)(struct vcpu *v, uint32_t block);
	/* The vendor's control structure and last exit in words. */
	void (*dump)(struct vcpu *v, void (*say)(const char *f, ...));
};
_Static_assert((sizeof(struct virt_ops) - sizeof(const char *)) / sizeof(void (*)(void)) <= 16,
	       "the seam stays coarse");

extern const struct virt_ops *virt; /* NULL: no VM can run on this machine */
extern const struct npt_fmt *virt_npt_fmt;

/* Chooses the back end by CPUID and probes it; what is missing is logged. */
void virt_select(void);
