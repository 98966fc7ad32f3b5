/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_setup: brings VMX up on a CPU, builds a vCPU's VMCS, runs it.
 * Spec: SDM 3C 24.6-24.8, 25, 32.5-32.7.
 */
#include "hv/log.h"
#include "hv/msr.h"
#include "hv/panic.h"
#include "hv/vm.h"
#include "mm/frame.h"
#include "vmx/vmx.h"

#define MSR_PAT		   0x277
#define MSR_EFER	   0xc0000080
#define MSR_STAR	   0xc0000081
#define MSR_LSTAR	   0xc0000082
#define MSR_CSTAR	   0xc0000083
#define MSR_SFMASK	   0xc0000084
#define MSR_KERNEL_GS_BASE 0xc0000102

/* The MSR bitmap: reads of the low range, of the high one, then writes (SDM 25.6.9). */
#define MSR_RANGE     0x2000u
#define MSR_HIGH      0xc0000000u
#define BITMAP_HIGH   0x400u
#define BITMAP_WRITES 0x800u

struct vmx_caps vmx_caps __attribute__((section(".data.ro_after_init")));
static struct npt_fmt format __attribute__((section(".data.ro_after_init")));
static uint8_t *io_bitmaps, *msr_bitmap;

static void pass_msr(uint32_t msr)
{
	uint32_t base = msr >= MSR_HIGH ? BITMAP_HIGH : 0;
	uint32_t n = msr >= MSR_HIGH ? msr - MSR_HIGH : msr;

	if (n >= MSR_RANGE)
		return;
	msr_bitmap[base + n / 8] &= (uint8_t) ~(1u << (n % 8));
	msr_bitmap[BITMAP_WRITES + base + n / 8] &= (uint8_t) ~(1u << (n % 8));
}

static bool build_bitmaps(void)
{
	io_bitmaps = hv_pages_alloc(1);
	msr_bitmap = hv_pages_alloc(0);
	if (!io_bitmaps || !msr_bitmap)
		return false;
	memset(io_bitmaps, 0xff, 2 * PAGE_SIZE);
	memset(msr_bitmap, 0xff, PAGE_SIZE);
	msr_for_each_passthrough(pass_msr);
	return true;
}

/* Which of them exist, the ones before tell. */
static void read_words(struct vmx_words *w)
{
	w->cpuid1_ecx = cpuid(1, 0).ecx;
	w->feature_control = rdmsr(MSR_FEATURE_CONTROL);
	w->basic = rdmsr(MSR_VMX_BASIC);
	w->pin = rdmsr(MSR_VMX_PINBASED_CTLS);
	w->cpu = rdmsr(MSR_VMX_PROCBASED_CTLS);
	w->exit = rdmsr(MSR_VMX_EXIT_CTLS);
	w->entry = rdmsr(MSR_VMX_ENTRY_CTLS);
	w->misc = rdmsr(MSR_VMX_MISC);
	w->cr0_fixed0 = rdmsr(MSR_VMX_CR0_FIXED0);
	w->cr0_fixed1 = rdmsr(MSR_VMX_CR0_FIXED1);
	w->cr4_fixed0 = rdmsr(MSR_VMX_CR4_FIXED0);
	w->cr4_fixed1 = rdmsr(MSR_VMX_CR4_FIXED1);
	if (vmx_caps_has_cpu2(w->cpu))
		w->cpu2 = rdmsr(MSR_VMX_PROCBASED_CTLS2);
	if (vmx_caps_has_ept_vpid(w->cpu2))
		w->ept_vpid = rdmsr(MSR_VMX_EPT_VPID_CAP);
	if (!vmx_caps_has_true(w->basic))
		return;
	w->true_pin = rdmsr(MSR_VMX_TRUE_PINBASED_CTLS);
	w->true_cpu = rdmsr(MSR_VMX_TRUE_PROCBASED_CTLS);
	w->true_exit = rdmsr(MSR_VMX_TRUE_EXIT_CTLS);
	w->true_entry = rdmsr(MSR_VMX_TRUE_ENTRY_CTLS);
}

static const char *yes(bool b)
{
	return b ? "yes" : "no";
}

static const struct npt_fmt *vmx_probe(void)
{
	struct vmx_words w = {0};
	const char *missing;

	read_words(&w);
	if (!vmx_caps_compute(&w, &vmx_caps, &missing)) {
		log_err("vmx: %s", missing);
		return NULL;
	}
	if (!build_bitmaps()) {
		log_err("vmx: no memory for the bitmaps");
		return NULL;
	}
	format = npt_fmt_ept;
	format.max_leaf_shift = vmx_caps.ept_1g ? NPT_SHIFT_1G : NPT_SHIFT_2M;
	if (!vmx_caps.ept_ad)
		format.accessed = format.dirty = 0;
	format.pml = vmx_caps.pml;
	log_info(
		"vmx: EPT, accessed and dirty bits %s, 1 GiB pages %s, VPID %s, page-modification log %s, preemption timer %s",
		yes(vmx_caps.ept_ad), yes(vmx_caps.ept_1g), yes(vmx_caps.vpid), yes(vmx_caps.pml),
		yes(vmx_caps.preemption_timer));
	return &format;
}

/* ---- the CPU ---------------------------------------------------------------------- */

static enum hv_status unlock_feature(struct cpu *c)
{
	uint64_t fc = rdmsr(MSR_FEATURE_CONTROL);

	if (!(fc & FEATURE_CONTROL_LOCK)) {
		wrmsr(MSR_FEATURE_CONTROL, fc | FEATURE_CONTROL_LOCK | FEATURE_CONTROL_VMX);
	} else if (!(fc & FEATURE_CONTROL_VMX)) {
		log_err("vmx: cpu %u: IA32_FEATURE_CONTROL is locked without VMX: enable VT-x in the firmware",
			c->id);
		return HV_NOTSUP;
	}
	return HV_OK;
}

/* Once per CPU; c->virt is its VMXON region.  Repeated calls do nothing. */
static enum hv_status vmx_cpu_enable(struct cpu *c)
{
	uint32_t *region;
	enum hv_status st;

	if (c->virt)
		return HV_OK;
	st = unlock_feature(c);
	if (st)
		return st;
	region = hv_pages_alloc(0);
	if (!region)
		return HV_NOMEM;
	*region = vmx_caps.revision;
	write_cr0((read_cr0() | vmx_caps.cr0_fixed0) & vmx_caps.cr0_fixed1);
	write_cr4((read_cr4() | vmx_caps.cr4_fixed0) & vmx_caps.cr4_fixed1);
	if (!vmxon(ptr_to_hpa(region).v)) {
		write_cr4(read_cr4() & ~CR4_VMXE);
		hv_pages_free(region, 0);
		log_err("vmx: cpu %u: VMXON failed", c->id);
		return HV_NOTSUP;
	}
	c->virt = region;
	return HV_OK;
}

static void vmx_cpu_disable(struct cpu *c)
{
	if (!c->virt)
		return;
	vmxoff();
	write_cr4(read_cr4() & ~CR4_VMXE);
	hv_pages_free(c->virt, 0);
	c->virt = NULL;
}

/* ---- the VMCS --------------------------------------------------------------------- */

static void write_controls(struct vcpu *v)
{
	struct vmx_vcpu *s = vmx_of(v);

	vmwrite32(VMCS32_PIN_BASED_CONTROLS, vmx_caps.pin);
	vmwrite32(VMCS32_PRIMARY_PROCESSOR_BASED_CONTROLS, vmx_caps.cpu);
	vmwrite32(VMCS32_SECONDARY_PROCESSOR_BASED_CONTROLS, vmx_caps.cpu2);
	vmwrite32(VMCS32_PRIMARY_VM_EXIT_CONTROLS, vmx_caps.exit);
	vmwrite32(VMCS32_VM_ENTRY_CONTROLS, vmx_caps.entry);
	s->cpu_controls = vmx_caps.cpu;
	s->entry_controls = vmx_caps.entry;
	vmwrite32(VMCS32_EXCEPTION_BITMAP, BIT(VEC_MC));
	vmwrite32(VMCS32_PAGE_FAULT_ERROR_CODE_MASK, 0);
	vmwrite32(VMCS32_PAGE_FAULT_ERROR_CODE_MATCH, 0);
	vmwrite32(VMCS32_CR3_TARGET_COUNT, 0);
	vmwrite32(VMCS32_VM_EXIT_MSR_STORE_COUNT, 0);
	vmwrite32(VMCS32_VM_EXIT_MSR_LOAD_COUNT, 0);
	vmwrite32(VMCS32_VM_ENTRY_MSR_LOAD_COUNT, 0);
	vmwrite32(VMCS32_VM_ENTRY_INTERRUPTION_INFORMATION, 0);
	vmwrite32(VMCS32_VM_ENTRY_EXCEPTION_ERROR_CODE, 0);
	vmwrite32(VMCS32_VM_ENTRY_INSTRUCTION_LENGTH, 0);
	vmwrite64(VMCS64_ADDRESS_OF_IO_BITMAP_A, ptr_to_hpa(io_bitmaps).v);
	vmwrite64(VMCS64_ADDRESS_OF_IO_BITMAP_B, ptr_to_hpa(io_bitmaps + PAGE_SIZE).v);
	vmwrite64(VMCS64_ADDRESS_OF_MSR_BITMAPS, ptr_to_hpa(msr_bitmap).v);
	vmwrite64(VMCS64_TSC_OFFSET, 0);
	vmwrite64(VMCS64_EPT_POINTER, vmx_eptp(v));
	if (s->vpid)
		vmwrite16(VMCS16_VIRTUAL_PROCESSOR_IDENTIFIER, s->vpid);
	vmx_pml_init(s);
	vmx_state_init();
}

/* What struct hv_sregs does not have; the rest comes with power-up. */
static void write_guest_defaults(void)
{
	vmwrite64(VMCS64_VMCS_LINK_POINTER, ~0ULL);
	vmwrite64(VMCS64_GUEST_IA32_DEBUGCTL, 0);
	vmwrite64(VMCS64_GUEST_IA32_PAT, 0);
	vmwrite64(VMCS64_GUEST_IA32_EFER, 0);
	vmwrite32(VMCS32_GUEST_INTERRUPTIBILITY_STATE, 0);
	vmwrite32(VMCS32_GUEST_ACTIVITY_STATE, 0);
	vmwrite32(VMCS32_GUEST_SMBASE, 0);
	vmwritenw(VMCSNW_GUEST_CR0, 0);
	vmwritenw(VMCSNW_GUEST_CR3, 0);
	vmwritenw(VMCSNW_GUEST_CR4, 0);
	vmwritenw(VMCSNW_CR0_READ_SHADOW, 0);
	vmwritenw(VMCSNW_CR4_READ_SHADOW, 0);
	vmwritenw(VMCSNW_GUEST_RSP, 0);
	vmwritenw(VMCSNW_GUEST_RIP, 0);
	vmwritenw(VMCSNW_GUEST_RFLAGS, 0);
	vmwritenw(VMCSNW_GUEST_PENDING_DEBUG_EXCEPTIONS, 0);
	for (unsigned i = 0; i < 4; i++)
		vmwrite64(vmcs_guest_pdpte(i), 0);
}

/* The same on every CPU. */
static void write_host_constants(void)
{
	vmwrite16(VMCS16_HOST_CS_SELECTOR, SEL_CODE);
	vmwrite16(VMCS16_HOST_SS_SELECTOR, SEL_DATA);
	vmwrite16(VMCS16_HOST_DS_SELECTOR, SEL_DATA);
	vmwrite16(VMCS16_HOST_ES_SELECTOR, SEL_DATA);
	vmwrite16(VMCS16_HOST_FS_SELECTOR, 0);
	vmwrite16(VMCS16_HOST_GS_SELECTOR, 0);
	vmwrite16(VMCS16_HOST_TR_SELECTOR, SEL_TSS);
	vmwritenw(VMCSNW_HOST_FS_BASE, 0);
	vmwrite32(VMCS32_HOST_IA32_SYSENTER_CS, 0);
	vmwritenw(VMCSNW_HOST_IA32_SYSENTER_ESP, 0);
	vmwritenw(VMCSNW_HOST_IA32_SYSENTER_EIP, 0);
	vmwritenw(VMCSNW_HOST_RIP, (uint64_t)vmx_exited);
}

static void write_host_of(struct cpu *c)
{
	struct dtable_reg idtr;

	__asm__ volatile("sidt %0" : "=m"(idtr));
	vmwritenw(VMCSNW_HOST_CR0, read_cr0());
	vmwritenw(VMCSNW_HOST_CR3, read_cr3());
	vmwritenw(VMCSNW_HOST_CR4, read_cr4());
	vmwritenw(VMCSNW_HOST_GS_BASE, (uint64_t)c);
	vmwritenw(VMCSNW_HOST_TR_BASE, (uint64_t)&c->tss);
	vmwritenw(VMCSNW_HOST_GDTR_BASE, (uint64_t)c->gdt);
	vmwritenw(VMCSNW_HOST_IDTR_BASE, idtr.base);
	vmwrite64(VMCS64_HOST_IA32_PAT, rdmsr(MSR_PAT));
	vmwrite64(VMCS64_HOST_IA32_EFER, rdmsr(MSR_EFER));
}

static void make_current(struct vmx_vcpu *s)
{
	if (!vmptrld(s->vmcs_pa))
		hv_panic("vmx: VMPTRLD of %llx failed", (unsigned long long)s->vmcs_pa);
	s->loaded = true;
}

/* Writes back what the CPU caches of it: any CPU may load it next, with VMLAUNCH. */
static void release(struct vmx_vcpu *s)
{
	if (!vmclear(s->vmcs_pa))
		hv_panic("vmx: VMCLEAR of %llx failed", (unsigned long long)s->vmcs_pa);
	s->loaded = false;
	s->launched = false;
}

static void free_pages(struct vmx_vcpu *s)
{
	vmx_pml_destroy(s);
	if (s->vmcs)
		hv_pages_free(s->vmcs, 0);
	hv_pages_free(s, 0);
}

/* At boot, before the scheduler enables this CPU; but a VMCS needs VMX operation. */
static enum hv_status vmx_vcpu_create(struct vcpu *v)
{
	enum hv_status st = vmx_cpu_enable(this_cpu());
	struct vmx_vcpu *s;

	if (st)
		return st;
	s = hv_pages_alloc(0);
	if (!s)
		return HV_NOMEM;
	s->vmcs = hv_pages_alloc(0);
	if (!s->vmcs || vmx_pml_create(s)) {
		free_pages(s);
		return HV_NOMEM;
	}
	s->vmcs_pa = ptr_to_hpa(s->vmcs).v;
	s->vpid = vmx_vpid(v);
	*(uint32_t *)s->vmcs = vmx_caps.revision;
	v->virt = s;
	release(s);
	make_current(s);
	write_controls(v);
	write_guest_defaults();
	write_host_constants();
	release(s);
	return HV_OK;
}

static void vmx_vcpu_destroy(struct vcpu *v)
{
	free_pages(vmx_of(v));
	v->virt = NULL;
}

/* Root operation uses none of the MSRs below, so they stay the guest's until it is put. */
static void vmx_vcpu_load(struct vcpu *v)
{
	struct vmx_vcpu *s = vmx_of(v);
	struct cpu *c = this_cpu();

	make_current(s);
	s->interruptibility_known = false;
	if (s->last_cpu != c)
		s->flush_all = true;
	s->last_cpu = c;
	write_host_of(c);
	vmwrite32(VMCS32_GUEST_IA32_SYSENTER_CS, (uint32_t)v->msrs.sysenter_cs);
	vmwritenw(VMCSNW_GUEST_IA32_SYSENTER_ESP, v->msrs.sysenter_esp);
	vmwritenw(VMCSNW_GUEST_IA32_SYSENTER_EIP, v->msrs.sysenter_eip);
	wrmsr(MSR_STAR, v->msrs.star);
	wrmsr(MSR_LSTAR, v->msrs.lstar);
	wrmsr(MSR_CSTAR, v->msrs.cstar);
	wrmsr(MSR_SFMASK, v->msrs.sfmask);
	wrmsr(MSR_KERNEL_GS_BASE, v->msrs.kernel_gs_base);
	write_cr2(s->cr2);
}

static void vmx_vcpu_put(struct vcpu *v)
{
	struct vmx_vcpu *s = vmx_of(v);

	v->msrs.sysenter_cs = vmread32(VMCS32_GUEST_IA32_SYSENTER_CS);
	v->msrs.sysenter_esp = vmreadnw(VMCSNW_GUEST_IA32_SYSENTER_ESP);
	v->msrs.sysenter_eip = vmreadnw(VMCSNW_GUEST_IA32_SYSENTER_EIP);
	v->msrs.star = rdmsr(MSR_STAR);
	v->msrs.lstar = rdmsr(MSR_LSTAR);
	v->msrs.cstar = rdmsr(MSR_CSTAR);
	v->msrs.sfmask = rdmsr(MSR_SFMASK);
	v->msrs.kernel_gs_base = rdmsr(MSR_KERNEL_GS_BASE);
	s->cr2 = read_cr2();
	release(s);
}

/* ---- running ---------------------------------------------------------------------- */

static void set_timer(uint64_t deadline)
{
	uint64_t now = rdtsc(), left = deadline > now ? deadline - now : 0;

	if (vmx_caps.preemption_timer)
		vmwrite32(VMCS32_VMX_PREEMPTION_TIMER_VALUE,
			  (uint32_t)min_u64(left >> vmx_caps.preemption_shift, UINT32_MAX));
}

static void write_changed(struct vcpu *v, struct vmx_vcpu *s)
{
	if (s->rsp != v->regs.gpr[GPR_RSP])
		vmwritenw(VMCSNW_GUEST_RSP, v->regs.gpr[GPR_RSP]);
	if (s->rip != v->regs.rip)
		vmwritenw(VMCSNW_GUEST_RIP, v->regs.rip);
	if (s->rflags != v->regs.rflags)
		vmwritenw(VMCSNW_GUEST_RFLAGS, v->regs.rflags);
	if (s->pat != v->msrs.pat)
		vmwrite64(VMCS64_GUEST_IA32_PAT, v->msrs.pat);
	if (s->tsc_offset != v->tsc_offset)
		vmwrite64(VMCS64_TSC_OFFSET, v->tsc_offset);
	s->rsp = v->regs.gpr[GPR_RSP];
	s->rip = v->regs.rip;
	s->rflags = v->regs.rflags;
	s->pat = v->msrs.pat;
	s->tsc_offset = v->tsc_offset;
}

static void read_registers(struct vcpu *v, struct vmx_vcpu *s)
{
	s->rsp = vmreadnw(VMCSNW_GUEST_RSP);
	s->rip = vmreadnw(VMCSNW_GUEST_RIP);
	s->rflags = vmreadnw(VMCSNW_GUEST_RFLAGS);
	v->regs.gpr[GPR_RSP] = s->rsp;
	v->regs.rip = s->rip;
	v->regs.rflags = s->rflags;
}

static void read_exit(struct vmx_raw_exit *r)
{
	unsigned needs;

	*r = (struct vmx_raw_exit){.reason = vmread32(VMCS32_EXIT_REASON)};
	needs = vmx_exit_needs(r->reason);
	if (needs & VMX_NEED_QUALIFICATION)
		r->qualification = vmreadnw(VMCSNW_EXIT_QUALIFICATION);
	if (needs & VMX_NEED_GPA)
		r->gpa = vmread64(VMCS64_GUEST_PHYSICAL_ADDRESS);
	if (needs & VMX_NEED_INTERRUPTION)
		r->interruption = vmread32(VMCS32_VM_EXIT_INTERRUPTION_INFORMATION);
	if (r->interruption & VMX_EVENT_ERROR_VALID)
		r->interruption_error = vmread32(VMCS32_VM_EXIT_INTERRUPTION_ERROR_CODE);
	if (needs & VMX_NEED_VECTORING)
		r->vectoring = vmread32(VMCS32_IDT_VECTORING_INFORMATION);
	if (r->vectoring & VMX_EVENT_ERROR_VALID)
		r->vectoring_error = vmread32(VMCS32_IDT_VECTORING_ERROR_CODE);
	if ((needs & VMX_NEED_LENGTH) || vmx_exit_vectoring_is_soft(r->vectoring))
		r->length = vmread32(VMCS32_VM_EXIT_INSTRUCTION_LENGTH);
}

/* After VMfail the guest has not run: registers and event fields are as they were. */
static void take_exit(struct vcpu *v, struct vmx_vcpu *s, bool entered)
{
	if (!entered) {
		s->raw = (struct vmx_raw_exit){
			.reason = VMX_REASON_VMFAIL,
			.qualification = vmread32(VMCS32_VM_INSTRUCTION_ERROR),
		};
		return;
	}
	read_exit(&s->raw);
	if (s->raw.reason & VMX_REASON_ENTRY_FAILED)
		return;
	s->launched = true;
	read_registers(v, s);
	vmx_inject_after_exit(v);
}

static void vmx_run(struct vcpu *v, uint64_t deadline, struct hv_exit *e)
{
	struct vmx_vcpu *s = vmx_of(v);
	bool entered;

	write_changed(v, s);
	set_timer(deadline);
	vmx_flush_before_entry(v, flush_enter(&v->vm->flush, v->index));
	vmx_pml_before_entry(v);
	audit_enter(&v->vm->flush.audit, v->index);
	entered = vmx_enter(&v->regs, s->launched);
	if (s->pml_on)
		vmx_pml_drain(v);
	audit_leave(&v->vm->flush.audit, v->index);
	flush_leave(&v->vm->flush, v->index, FLUSH_ROOT);
	take_exit(v, s, entered);
	vmx_exit_decode(&s->raw, e);
	/* The exit blocks further NMIs until an IRET: the one of the handler. */
	if (e->class == EXIT_HOST_NMI)
		__asm__ volatile("int $2" : : : "memory");
}

static bool vmx_has_deadline(void)
{
	return vmx_caps.preemption_timer;
}

const struct virt_ops vmx_ops = {
	.name = "VMX",
	.probe = vmx_probe,
	.cpu_enable = vmx_cpu_enable,
	.cpu_disable = vmx_cpu_disable,
	.vcpu_create = vmx_vcpu_create,
	.vcpu_destroy = vmx_vcpu_destroy,
	.vcpu_load = vmx_vcpu_load,
	.vcpu_put = vmx_vcpu_put,
	.run = vmx_run,
	.has_deadline = vmx_has_deadline,
	.get_sregs = vmx_get_sregs,
	.set_sregs = vmx_set_sregs,
	.inject = vmx_inject,
	.want_window = vmx_want_window,
	.get_blocking = vmx_get_blocking,
	.set_blocking = vmx_set_blocking,
	.dump = vmx_dump,
};
