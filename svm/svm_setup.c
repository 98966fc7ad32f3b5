/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_setup: brings SVM up on a CPU, builds a vCPU's VMCB, runs it.
 * Spec: APM 2 15.4-15.5.
 */
#include "hv/log.h"
#include "hv/msr.h"
#include "hv/vm.h"
#include "mm/frame.h"
#include "svm/svm.h"
#include "svm/svm_exit_decode.h"

#define MSR_EFER	0xc0000080
#define MSR_VM_HSAVE_PA 0xc0010117

struct svm_caps svm_caps __attribute__((section(".data.ro_after_init")));
static struct npt_fmt format __attribute__((section(".data.ro_after_init")));
static void *iopm, *msrpm;

/* Two bits per MSR, read then write; three ranges of 8192 MSRs (APM 2 15.11). */
static int msrpm_bit(uint32_t msr)
{
	if (msr < 0x2000)
		return (int)(msr * 2);
	if (msr >= 0xc0000000 && msr < 0xc0002000)
		return (int)(0x4000 + (msr - 0xc0000000) * 2);
	if (msr >= 0xc0010000 && msr < 0xc0012000)
		return (int)(0x8000 + (msr - 0xc0010000) * 2);
	return -1;
}

static void pass_msr(uint32_t msr)
{
	int bit = msrpm_bit(msr);

	if (bit >= 0)
		((uint8_t *)msrpm)[bit / 8] &= (uint8_t) ~(3u << (bit % 8));
}

static bool build_bitmaps(void)
{
	iopm = hv_pages_alloc(2);
	msrpm = hv_pages_alloc(1);
	if (!iopm || !msrpm)
		return false;
	memset(iopm, 0xff, 3 * PAGE_SIZE);
	memset(msrpm, 0xff, 2 * PAGE_SIZE);
	msr_for_each_passthrough(pass_msr);
	return true;
}

static const struct npt_fmt *svm_probe(void)
{
	struct svm_words w = { .max_extended = cpuid(0x80000000, 0).eax };
	const char *missing;

	w.ext_ecx = cpuid(0x80000001, 0).ecx;
	w.ext_edx = cpuid(0x80000001, 0).edx;
	if (w.ext_ecx & BIT(2)) {
		w.vm_cr = rdmsr(MSR_VM_CR);
		if (w.max_extended >= 0x8000000a) {
			w.svm_ebx = cpuid(0x8000000a, 0).ebx;
			w.svm_edx = cpuid(0x8000000a, 0).edx;
		}
	}
	if (!svm_caps_compute(&w, &svm_caps, &missing)) {
		log_err("svm: %s", missing);
		return NULL;
	}
	/* The CPU walks nested tables with as many levels as our own have: ours are of four. */
	if (read_cr4() & CR4_LA57) {
		log_err("svm: CR4.LA57 is 1: switch 5-level paging off in the firmware");
		return NULL;
	}
	if (!build_bitmaps()) {
		log_err("svm: no memory for the permission maps");
		return NULL;
	}
	format = npt_fmt_npt;
	format.max_leaf_shift = svm_caps.page_1g ? NPT_SHIFT_1G : NPT_SHIFT_2M;
	log_info("svm: NPT, %u ASIDs, nRIP %s, flush by ASID %s, decode assists %s, 1 GiB pages %s",
		 svm_caps.asid_count, svm_caps.nrip_save ? "yes" : "no",
		 svm_caps.flush_by_asid ? "yes" : "no", svm_caps.decode_assists ? "yes" : "no",
		 svm_caps.page_1g ? "yes" : "no");
	return &format;
}

static enum hv_status svm_cpu_enable(struct cpu *c)
{
	struct svm_cpu *s = hv_pages_alloc(0);

	if (!s)
		return HV_NOMEM;
	s->hsave = hv_pages_alloc(0);
	s->host_vmcb = hv_pages_alloc(0);
	if (!s->hsave || !s->host_vmcb)
		return HV_NOMEM;
	if (rdmsr(MSR_VM_CR) & VM_CR_SVMDIS)
		return HV_NOTSUP;
	s->host_vmcb_pa = ptr_to_hpa(s->host_vmcb).v;
	svm_flush_cpu_init(s);
	c->virt = s;
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SVME);
	wrmsr(MSR_VM_HSAVE_PA, ptr_to_hpa(s->hsave).v);
	/* What VMLOAD brings back after each exit never changes: FS, GS, TR, LDTR and their MSRs. */
	__asm__ volatile("vmsave %%rax" : : "a"(s->host_vmcb_pa) : "memory");
	return HV_OK;
}

static void svm_cpu_disable(struct cpu *c)
{
	(void)c;
	__asm__ volatile("stgi" : : : "memory");
	wrmsr(MSR_VM_HSAVE_PA, 0);
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) & ~EFER_SVME);
}

static enum hv_status svm_vcpu_create(struct vcpu *v)
{
	struct svm_vcpu *s = hv_pages_alloc(0);
	struct vmcb_control *c;

	if (!s)
		return HV_NOMEM;
	s->vmcb = hv_pages_alloc(0);
	if (!s->vmcb) {
		hv_pages_free(s, 0);
		return HV_NOMEM;
	}
	s->vmcb_pa = ptr_to_hpa(s->vmcb).v;
	c = &s->vmcb->control;
	c->intercept_cr_read = BIT(8);
	c->intercept_cr_write = BIT(0) | BIT(4) | BIT(8);
	c->intercept_exceptions = BIT(VEC_MC);
	c->intercept_misc1 = SVM_INTERCEPT_INTR | SVM_INTERCEPT_NMI | SVM_INTERCEPT_SMI |
			     SVM_INTERCEPT_INIT | SVM_INTERCEPT_RDPMC | SVM_INTERCEPT_CPUID |
			     SVM_INTERCEPT_INVD | SVM_INTERCEPT_HLT | SVM_INTERCEPT_INVLPGA |
			     SVM_INTERCEPT_IOIO | SVM_INTERCEPT_MSR | SVM_INTERCEPT_TASK_SWITCH |
			     SVM_INTERCEPT_SHUTDOWN;
	c->intercept_misc2 = SVM_INTERCEPT_VMRUN | SVM_INTERCEPT_VMMCALL | SVM_INTERCEPT_VMLOAD |
			     SVM_INTERCEPT_VMSAVE | SVM_INTERCEPT_STGI | SVM_INTERCEPT_CLGI |
			     SVM_INTERCEPT_SKINIT | SVM_INTERCEPT_WBINVD | SVM_INTERCEPT_MONITOR |
			     SVM_INTERCEPT_MWAIT | SVM_INTERCEPT_XSETBV;
	c->iopm_base_pa = ptr_to_hpa(iopm).v;
	c->msrpm_base_pa = ptr_to_hpa(msrpm).v;
	c->vintr = VINTR_V_INTR_MASKING;
	c->np_enable = 1;
	c->n_cr3 = ptr_to_hpa(v->vm->npt.root).v;
	v->virt = s;
	return HV_OK;
}

static void svm_vcpu_destroy(struct vcpu *v)
{
	struct svm_vcpu *s = svm_of(v);

	hv_pages_free(s->vmcb, 0);
	hv_pages_free(s, 0);
	v->virt = NULL;
}

/* The ASID is the last CPU's; the SYSCALL MSRs travel in the VMCB. */
static void svm_vcpu_load(struct vcpu *v)
{
	struct vmcb_save *s = &svm_of(v)->vmcb->save;

	if (svm_of(v)->last_cpu != this_cpu())
		svm_of(v)->asid_generation = 0;
	svm_of(v)->last_cpu = this_cpu();
	s->star = v->msrs.star;
	s->lstar = v->msrs.lstar;
	s->cstar = v->msrs.cstar;
	s->sfmask = v->msrs.sfmask;
	s->kernel_gs_base = v->msrs.kernel_gs_base;
	s->sysenter_cs = v->msrs.sysenter_cs;
	s->sysenter_esp = v->msrs.sysenter_esp;
	s->sysenter_eip = v->msrs.sysenter_eip;
}

static void svm_vcpu_put(struct vcpu *v)
{
	const struct vmcb_save *s = &svm_of(v)->vmcb->save;

	v->msrs.star = s->star;
	v->msrs.lstar = s->lstar;
	v->msrs.cstar = s->cstar;
	v->msrs.sfmask = s->sfmask;
	v->msrs.kernel_gs_base = s->kernel_gs_base;
	v->msrs.sysenter_cs = s->sysenter_cs;
	v->msrs.sysenter_esp = s->sysenter_esp;
	v->msrs.sysenter_eip = s->sysenter_eip;
}

/* Without nRIP: what the last exit at this place found out; 0: it has to be decoded. */
static uint8_t known_length(const struct vcpu *v, const struct vmcb_save *s)
{
	const struct insn_cache_key k = { s->rip, s->cs.base, s->cr0, s->cr3, s->cr4,
					  s->efer & ~EFER_SVME, svm_seg_attr(&s->cs) };

	return (uint8_t)insn_cache_len(&v->insn_cache, &k, flush_acked(&v->vm->flush, v->index));
}

/* Apart from svm_run(), so that the way of a nested fault saves few registers. */
static __attribute__((noinline)) void take_exit(struct vcpu *v, struct svm_vcpu *s,
						struct hv_exit *e)
{
	svm_exit_decode(s->vmcb, svm_caps.nrip_save, e);
	if (!svm_caps.nrip_save)
		e->insn_len = known_length(v, &s->vmcb->save);
	if (e->class == EXIT_ENTRY_FAILED)
		svm_flush_lost(v);
	svm_inject_after_exit(v, e);
}

static void svm_run(struct vcpu *v, uint64_t deadline, struct hv_exit *e)
{
	struct svm_vcpu *s = svm_of(v);
	struct svm_cpu *c = v->home->virt;
	struct vmcb_save *save = &s->vmcb->save;
	bool owed;

	(void)deadline; /* no timer of its own: the APIC's interrupt ends the run */
	save->rax = v->regs.gpr[GPR_RAX];
	save->rsp = v->regs.gpr[GPR_RSP];
	save->rip = v->regs.rip;
	save->rflags = v->regs.rflags;
	save->g_pat = v->msrs.pat;
	s->vmcb->control.tsc_offset = v->tsc_offset;
	owed = flush_enter(&v->vm->flush, v->index);
	s->vmcb->control.tlb_control = TLB_FLUSH_NONE;
	if (owed || s->paging_changed || s->asid_generation != c->asid_generation)
		svm_flush_now(v, owed);
	audit_enter(&v->vm->flush.audit, v->index);
	svm_enter(&v->regs, s->vmcb_pa, c->host_vmcb_pa);
	audit_leave(&v->vm->flush.audit, v->index);
	flush_leave(&v->vm->flush, v->index, FLUSH_ROOT);
	v->regs.gpr[GPR_RAX] = save->rax;
	v->regs.gpr[GPR_RSP] = save->rsp;
	v->regs.rip = save->rip;
	v->regs.rflags = save->rflags;
	if (s->vmcb->control.exitcode == SVM_EXIT_NPF && !s->iret_seen &&
	    !(s->vmcb->control.exitintinfo & SVM_EVENT_VALID)) {
		svm_exit_decode_npf(&s->vmcb->control, e);
		s->vmcb->control.eventinj = 0;
		return;
	}
	take_exit(v, s, e);
}

static bool svm_has_deadline(void)
{
	return false;
}

const struct virt_ops svm_ops = {
	.name = "SVM",
	.probe = svm_probe,
	.cpu_enable = svm_cpu_enable,
	.cpu_disable = svm_cpu_disable,
	.vcpu_create = svm_vcpu_create,
	.vcpu_destroy = svm_vcpu_destroy,
	.vcpu_load = svm_vcpu_load,
	.vcpu_put = svm_vcpu_put,
	.run = svm_run,
	.has_deadline = svm_has_deadline,
	.get_sregs = svm_get_sregs,
	.set_sregs = svm_set_sregs,
	.inject = svm_inject,
	.want_window = svm_want_window,
	.get_blocking = svm_get_blocking,
	.set_blocking = svm_set_blocking,
	.dump = svm_dump,
};
