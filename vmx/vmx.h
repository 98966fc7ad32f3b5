/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx: what the files of the VMX back end share.  Only vmx/ includes this; the
 * rest of the hypervisor sees vmx_ops.
 */
#pragma once

#include "hv/cpu.h"
#include "hv/vcpu.h"
#include "hv/virt.h"
#include "hv/vm.h"
#include "vmx/vmx_caps.h"
#include "vmx/vmx_exit_decode.h"
#include "vmx/vmx_vmcs.h"

/* vcpu->virt; the fields after "copies" repeat what the VMCS holds, to save VMREAD and VMWRITE. */
struct vmx_vcpu {
	void *vmcs;
	uint64_t vmcs_pa;
	bool loaded;	   /* current on the CPU that runs us */
	bool launched;	   /* since VMCLEAR */
	bool injecting;	   /* an event is in the VM-entry fields */
	bool flush_linear; /* guest paging changed: its VPID's translations are stale */
	bool flush_all;	   /* new on this CPU, which may remember an earlier stay */
	bool pml_on;	   /* the CPU lists the pages it writes */
	uint64_t *pml;	   /* there, when it can */
	uint16_t vpid;	   /* 0: none */
	struct cpu *last_cpu;
	uint64_t cr2;		 /* while not loaded */
	struct vmx_raw_exit raw; /* the last exit */
	/* copies */
	uint32_t cpu_controls, entry_controls;
	uint32_t interruptibility;
	bool interruptibility_known; /* the guest has not run since */
	uint64_t rsp, rip, rflags;
	uint64_t pat, tsc_offset;
};

/* Guest interruptibility state (SDM 3C table 25-3) */
#define INTERRUPTIBILITY_STI	BIT(0)
#define INTERRUPTIBILITY_MOV_SS BIT(1)
#define INTERRUPTIBILITY_NMI	BIT(3)

extern struct vmx_caps vmx_caps;

static inline struct vmx_vcpu *vmx_of(struct vcpu *v)
{
	return v->virt;
}

/* vmx_state.c */
void vmx_get_sregs(struct vcpu *v, struct hv_sregs *s);
void vmx_set_sregs(struct vcpu *v, const struct hv_sregs *s);
/* Fields of a new VMCS that decide who owns which bit of CR0 and CR4. */
void vmx_state_init(void);

/* vmx_inject.c */
void vmx_inject(struct vcpu *v, const struct hv_event *e);
void vmx_want_window(struct vcpu *v, bool irq, bool nmi);
uint32_t vmx_get_blocking(struct vcpu *v);
void vmx_set_blocking(struct vcpu *v, uint32_t block);
/* Right after an exit: what entry consumed, and NMI blocking that an IRET lost. */
void vmx_inject_after_exit(struct vcpu *v);

/* vmx_flush.c */
uint64_t vmx_eptp(const struct vcpu *v);
/* Its own for each vCPU; 0 when the CPU has none. */
uint16_t vmx_vpid(const struct vcpu *v);
/* Last before entry: honours an owed flush and what we owe ourselves. */
void vmx_flush_before_entry(struct vcpu *v, bool owed);

/* vmx_pml.c */
enum hv_status vmx_pml_create(struct vmx_vcpu *s) __must_check;
void vmx_pml_destroy(struct vmx_vcpu *s);
/* Of a new VMCS. */
void vmx_pml_init(const struct vmx_vcpu *s);
void vmx_pml_set(struct vmx_vcpu *s, bool on);
/* After an exit, while the vCPU still counts as in the guest. */
void vmx_pml_drain(struct vcpu *v);

/* After flush_enter(): whoever waited for it may rely on the writes being listed. */
static inline void vmx_pml_before_entry(struct vcpu *v)
{
	const struct dirty_log *log = dirty_log_of(&v->vm->npt);
	bool on = log && log->mode == DIRTY_PML;

	if (unlikely(on != vmx_of(v)->pml_on))
		vmx_pml_set(vmx_of(v), on);
}

/* vmx_dump.c */
void vmx_dump(struct vcpu *v, void (*say)(const char *f, ...));

/* vmx_enter.S: true when the guest ran, or VM entry failed late; false for VMfail. */
bool vmx_enter(struct hv_regs *regs, bool launched);
/* The address in HOST_RIP; not to be called. */
void vmx_exited(void);

extern const struct virt_ops vmx_ops;
