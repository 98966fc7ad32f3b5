/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_state: the VMCS's guest-state area to and from struct hv_sregs.
 *
 * CR0 and CR4: bits that the guest owns are in the field, the others as the
 * guest sees them in the read shadow.  CR2 and DR6 have no field: CR2 is in the
 * CPU while the vCPU is loaded, DR6 while it is the CPU's current one.
 * Spec: SDM 3C 25.4.1, 25.6.6, 26.3.1, 27.3.2.4.
 */
#include "hv/log.h"
#include "hv/guest_mem.h"
#include "vmx/vmx.h"

#define CR4_PVI BIT64(1)
#define CR4_TSD BIT64(2)
#define CR4_DE	BIT64(3)

/* Everything else exits when the guest changes it. */
#define CR0_GUEST_OWNED (CR0_TS | CR0_MP | CR0_EM | CR0_AM | CR0_WP)
#define CR4_GUEST_OWNED                                                                            \
	(CR4_PVI | CR4_DE | CR4_TSD | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT | CR4_FSGSBASE)

/* A change of any of these invalidates translations or reloads the PDPTEs (SDM 3A 4.4.1, 4.10.4).
 */
#define CR0_PAGING (CR0_PG | CR0_WP | CR0_CD | CR0_NW)
#define CR4_PAGING                                                                                 \
	(CR4_PSE | CR4_PAE | CR4_PGE | CR4_PCIDE | CR4_SMEP | CR4_SMAP | CR4_PKE | CR4_LA57)
#define EFER_PAGING (EFER_LMA | EFER_NXE)

#define ACCESS_RIGHTS_MASK 0x1f0ffu
#define SEG_ATTR_DPL_SHIFT 5

void vmx_state_init(void)
{
	vmwritenw(VMCSNW_CR0_GUEST_HOST_MASK, ~CR0_GUEST_OWNED);
	vmwritenw(VMCSNW_CR4_GUEST_HOST_MASK, ~CR4_GUEST_OWNED);
}

static uint64_t get_cr0(void)
{
	return (vmreadnw(VMCSNW_CR0_READ_SHADOW) & ~CR0_GUEST_OWNED) |
	       (vmreadnw(VMCSNW_GUEST_CR0) & CR0_GUEST_OWNED);
}

static uint64_t get_cr4(void)
{
	return (vmreadnw(VMCSNW_CR4_READ_SHADOW) & ~CR4_GUEST_OWNED) |
	       (vmreadnw(VMCSNW_GUEST_CR4) & CR4_GUEST_OWNED);
}

/* CD and NW stay ours: entry ignores them, and caching is up to the nested tables. */
static void set_cr0(uint64_t val)
{
	vmwritenw(VMCSNW_CR0_READ_SHADOW, val);
	vmwritenw(VMCSNW_GUEST_CR0, (val & ~(CR0_CD | CR0_NW)) | vmx_caps.cr0_fixed0 | CR0_ET);
}

/* A machine check must reach us whatever the guest thinks of MCE. */
static void set_cr4(uint64_t val)
{
	vmwritenw(VMCSNW_CR4_READ_SHADOW, val);
	vmwritenw(VMCSNW_GUEST_CR4, val | vmx_caps.cr4_fixed0 | (read_cr4() & CR4_MCE));
}

static void set_efer(struct vmx_vcpu *s, uint64_t val)
{
	uint32_t c = vmx_caps.entry | (val & EFER_LMA ? ENTRY_IA32E : 0);

	vmwrite64(VMCS64_GUEST_IA32_EFER, val);
	if (c == s->entry_controls)
		return;
	vmwrite32(VMCS32_VM_ENTRY_CONTROLS, c);
	s->entry_controls = c;
}

static bool is_live(const struct vcpu *v)
{
	return this_cpu()->current == v;
}

static uint64_t get_dr6(const struct vcpu *v)
{
	uint64_t val = v->dr6;

	if (is_live(v))
		__asm__ volatile("mov %%db6, %0" : "=r"(val));
	return val;
}

static void set_dr6(struct vcpu *v, uint64_t val)
{
	v->dr6 = val;
	if (is_live(v))
		__asm__ volatile("mov %0, %%db6" : : "r"(val));
}

static void get_seg(unsigned i, struct hv_segment *o)
{
	o->selector = vmread16(vmcs_guest_selector(i));
	o->attr = vmread32(vmcs_guest_access_rights(i)) & ACCESS_RIGHTS_MASK;
	o->limit = vmread32(vmcs_guest_limit(i));
	o->base = vmreadnw(vmcs_guest_base(i));
}

/* Entry wants usable segments present, and the current privilege level in SS whatever it is. */
static void set_seg(unsigned i, const struct hv_segment *s, uint8_t cpl)
{
	uint32_t attr = s->attr & ACCESS_RIGHTS_MASK;

	if (!(attr & SEG_ATTR_P))
		attr |= SEG_ATTR_UNUSABLE;
	if (i == SEG_SS)
		attr = (attr & ~(3u << SEG_ATTR_DPL_SHIFT)) | (uint32_t)cpl << SEG_ATTR_DPL_SHIFT;
	vmwrite16(vmcs_guest_selector(i), s->selector);
	vmwrite32(vmcs_guest_access_rights(i), attr);
	vmwrite32(vmcs_guest_limit(i), s->limit);
	vmwritenw(vmcs_guest_base(i), s->base);
}

void vmx_get_sregs(struct vcpu *v, struct hv_sregs *o)
{
	for (unsigned i = 0; i < SEG_COUNT; i++)
		get_seg(i, &o->seg[i]);
	o->gdtr.base = vmreadnw(VMCSNW_GUEST_GDTR_BASE);
	o->gdtr.limit = (uint16_t)vmread32(VMCS32_GUEST_GDTR_LIMIT);
	o->idtr.base = vmreadnw(VMCSNW_GUEST_IDTR_BASE);
	o->idtr.limit = (uint16_t)vmread32(VMCS32_GUEST_IDTR_LIMIT);
	o->cr0 = get_cr0();
	o->cr2 = read_cr2();
	o->cr3 = vmreadnw(VMCSNW_GUEST_CR3);
	o->cr4 = get_cr4();
	o->efer = vmread64(VMCS64_GUEST_IA32_EFER);
	o->dr6 = get_dr6(v);
	o->dr7 = vmreadnw(VMCSNW_GUEST_DR7);
	o->pending_debug = vmreadnw(VMCSNW_GUEST_PENDING_DEBUG_EXCEPTIONS);
	o->cpl = SEG_ATTR_DPL(o->seg[SEG_SS].attr);
}

static bool is_pae(const struct hv_sregs *s)
{
	return (s->cr0 & CR0_PG) && (s->cr4 & CR4_PAE) && !(s->efer & EFER_LMA);
}

/* With EPT the CPU takes the PDPTEs from the VMCS; MOV CR would have read them from memory. */
static void load_pdptes(struct vcpu *v, uint64_t cr3)
{
	uint64_t pdpte[4] = {0};

	if (guest_mem_read(v->vm, GPA(cr3 & 0xffffffe0), pdpte, sizeof(pdpte)))
		log_debug("vmx: a guest has page-directory pointers at %llx, where it has no memory",
			  (unsigned long long)cr3);
	for (unsigned i = 0; i < ARRAY_SIZE(pdpte); i++)
		vmwrite64(vmcs_guest_pdpte(i), pdpte[i]);
}

/* Before the fields change. */
static bool paging_changes(const struct hv_sregs *o)
{
	return ((get_cr0() ^ o->cr0) & CR0_PAGING) || ((get_cr4() ^ o->cr4) & CR4_PAGING) ||
	       ((vmread64(VMCS64_GUEST_IA32_EFER) ^ o->efer) & EFER_PAGING) ||
	       vmreadnw(VMCSNW_GUEST_CR3) != o->cr3;
}

void vmx_set_sregs(struct vcpu *v, const struct hv_sregs *o)
{
	struct vmx_vcpu *s = vmx_of(v);

	if (paging_changes(o)) {
		s->flush_linear = true;
		if (is_pae(o))
			load_pdptes(v, o->cr3);
	}
	for (unsigned i = 0; i < SEG_COUNT; i++)
		set_seg(i, &o->seg[i], o->cpl);
	vmwritenw(VMCSNW_GUEST_GDTR_BASE, o->gdtr.base);
	vmwrite32(VMCS32_GUEST_GDTR_LIMIT, o->gdtr.limit);
	vmwritenw(VMCSNW_GUEST_IDTR_BASE, o->idtr.base);
	vmwrite32(VMCS32_GUEST_IDTR_LIMIT, o->idtr.limit);
	set_cr0(o->cr0);
	write_cr2(o->cr2);
	vmwritenw(VMCSNW_GUEST_CR3, o->cr3);
	set_cr4(o->cr4);
	set_efer(s, o->efer);
	set_dr6(v, o->dr6);
	vmwritenw(VMCSNW_GUEST_DR7, o->dr7);
	vmwritenw(VMCSNW_GUEST_PENDING_DEBUG_EXCEPTIONS, o->pending_debug);
}
