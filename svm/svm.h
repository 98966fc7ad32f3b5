/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm: what the files of the SVM back end share.  Only svm/ includes this;
 * the rest of the hypervisor sees svm_ops.
 */
#pragma once

#include "hv/cpu.h"
#include "hv/vcpu.h"
#include "hv/virt.h"
#include "svm/svm_caps.h"
#include "svm/svm_vmcb.h"

/* vcpu->virt */
struct svm_vcpu {
	struct vmcb *vmcb;
	uint64_t vmcb_pa;
	const struct cpu *last_cpu;
	uint64_t asid_generation; /* of that CPU, when the ASID was given; 0: none */
	bool paging_changed;	  /* by us: the ASID must be flushed */
	bool nmi_blocked;	  /* from the injection of an NMI to its IRET */
	bool iret_seen;		  /* the IRET is about to execute at iret_rip */
	bool stepping;		  /* over that IRET, with TF set by us */
	bool guest_tf;		  /* what TF was before */
	uint64_t iret_rip;
};

/* cpu->virt */
struct svm_cpu {
	void *hsave;
	void *host_vmcb;
	uint64_t host_vmcb_pa;
	uint64_t asid_generation;
	uint32_t next_asid;
};

extern struct svm_caps svm_caps;

static inline struct svm_vcpu *svm_of(struct vcpu *v)
{
	return v->virt;
}

/* Bits 11:8 of the packed attributes are bits 15:12 of the neutral ones. */
static inline uint32_t svm_seg_attr(const struct vmcb_seg *s)
{
	uint32_t attr = (s->attrib & 0xffu) | (uint32_t)(s->attrib & 0xf00u) << 4;

	return attr & SEG_ATTR_P ? attr : attr | SEG_ATTR_UNUSABLE;
}

/* svm_state.c */
void svm_get_sregs(struct vcpu *v, struct hv_sregs *s);
void svm_set_sregs(struct vcpu *v, const struct hv_sregs *s);

/* svm_inject.c */
void svm_inject(struct vcpu *v, const struct hv_event *e);
void svm_want_window(struct vcpu *v, bool irq, bool nmi);
uint32_t svm_get_blocking(struct vcpu *v);
void svm_set_blocking(struct vcpu *v, uint32_t block);
/* Right after an exit: event fields, windows and NMI blocking; may change e->class. */
void svm_inject_after_exit(struct vcpu *v, struct hv_exit *e);

/* svm_flush.c: ASIDs of the calling CPU. */
void svm_flush_cpu_init(struct svm_cpu *c);
/* Before entry, when the ASID is old or a flush is owed: a valid ASID, and the flush. */
void svm_flush_now(struct vcpu *v, bool owed);
/* Entry failed: whether the flush that it was to do has happened, nobody knows. */
void svm_flush_lost(struct vcpu *v);

/* svm_dump.c */
void svm_dump(struct vcpu *v, void (*say)(const char *f, ...));

/* svm_enter.S */
void svm_enter(struct hv_regs *regs, uint64_t vmcb_pa, uint64_t host_vmcb_pa);

extern const struct virt_ops svm_ops;
