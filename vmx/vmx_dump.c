/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_dump: the last exit, and why an entry was refused, in words.
 * Spec: SDM 3C 26.3.1, 26.8, 31.4.
 */
#include "hv/panic.h"
#include "vmx/vmx.h"

typedef void (*say_fn)(const char *f, ...);

#define BASIC_INVALID_STATE 33

/* Access rights beyond those of hv/state.h */
#define TYPE(ar)     ((ar)&0xf)
#define AR_RESERVED  0xfffe0f00u
#define TYPE_LDT     2
#define TYPE_TSS16   3
#define TYPE_TSS32   11
#define TYPE_DATA_RW 3

#define RFLAGS_RESERVED_0 0xffffffffffc08028ULL
#define EFER_KNOWN	  (EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE)
#define PDPTE_P		  BIT64(0)
#define PDPTE_RESERVED_0  0xfff00000000001e6ULL

static const char *field_name(uint32_t encoding)
{
	static const struct {
		uint32_t encoding;
		const char *name;
	} fields[] = {
#define X(name, value) {value, #name},
		VMCS16_FIELDS(X) VMCS64_FIELDS(X) VMCS32_FIELDS(X) VMCSNW_FIELDS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].encoding == encoding)
			return fields[i].name;
	return "?";
}

void vmx_vmcs_failed(const char *operation, uint32_t encoding)
{
	hv_panic("vmx: %s of field %x (%s) failed", operation, encoding, field_name(encoding));
}

/* SDM 3C 31.4 */
static const char *instruction_error(uint64_t number)
{
	static const char *const text[] = {
		[1] = "VMCALL executed in VMX root operation",
		[2] = "VMCLEAR with invalid physical address",
		[3] = "VMCLEAR with VMXON pointer",
		[4] = "VMLAUNCH with non-clear VMCS",
		[5] = "VMRESUME with non-launched VMCS",
		[6] = "VMRESUME after VMXOFF",
		[7] = "VM entry with invalid control fields",
		[8] = "VM entry with invalid host-state fields",
		[9] = "VMPTRLD with invalid physical address",
		[10] = "VMPTRLD with VMXON pointer",
		[11] = "VMPTRLD with incorrect VMCS revision identifier",
		[12] = "VMREAD or VMWRITE from or to unsupported VMCS component",
		[13] = "VMWRITE to read-only VMCS component",
		[15] = "VMXON executed in VMX root operation",
		[16] = "VM entry with invalid executive-VMCS pointer",
		[17] = "VM entry with non-launched executive VMCS",
		[18] = "VM entry with executive-VMCS pointer not VMXON pointer",
		[19] = "VMCALL with non-clear VMCS",
		[20] = "VMCALL with invalid VM-exit control fields",
		[22] = "VMCALL with incorrect MSEG revision identifier",
		[23] = "VMXOFF under dual-monitor treatment of SMIs and SMM",
		[24] = "VMCALL with invalid SMM-monitor features",
		[25] = "VM entry with invalid VM-execution control fields in executive VMCS",
		[26] = "VM entry with events blocked by MOV SS",
		[28] = "invalid operand to INVEPT or INVVPID",
	};

	return number < ARRAY_SIZE(text) && text[number] ? text[number] : "no VMCS is current";
}

static void rule(say_fn say, bool broken, const char *text)
{
	if (broken)
		say("  invalid: %s\n", text);
}

static bool entry_is_ia32e(void)
{
	return vmread32(VMCS32_VM_ENTRY_CONTROLS) & ENTRY_IA32E;
}

static bool canonical(uint64_t a)
{
	return (uint64_t)((int64_t)(a << 16) >> 16) == a;
}

static bool pat_is_valid(uint64_t pat)
{
	for (unsigned i = 0; i < 64; i += 8) {
		uint8_t t = (uint8_t)(pat >> i);

		if (t > 7 || t == 2 || t == 3)
			return false;
	}
	return true;
}

/* SDM 26.3.1.1 */
static void check_control_registers(const struct hv_sregs *s, say_fn say)
{
	uint64_t cr0 = vmreadnw(VMCSNW_GUEST_CR0), cr4 = vmreadnw(VMCSNW_GUEST_CR4);
	uint64_t fixed0 = vmx_caps.cr0_fixed0;
	bool ia32e = entry_is_ia32e(), pg = cr0 & CR0_PG;

	rule(say, (cr0 & fixed0) != fixed0, "CR0 lacks a bit that VMX fixes to 1");
	rule(say, cr0 & ~vmx_caps.cr0_fixed1, "CR0 has a bit that VMX fixes to 0");
	rule(say, pg && !(cr0 & CR0_PE), "CR0.PG without CR0.PE");
	rule(say, (cr4 & vmx_caps.cr4_fixed0) != vmx_caps.cr4_fixed0,
	     "CR4 lacks a bit that VMX fixes to 1");
	rule(say, cr4 & ~vmx_caps.cr4_fixed1, "CR4 has a bit that VMX fixes to 0");
	rule(say, ia32e && !pg, "IA-32e mode guest without CR0.PG");
	rule(say, ia32e && !(cr4 & CR4_PAE), "IA-32e mode guest without CR4.PAE");
	rule(say, !ia32e && (cr4 & CR4_PCIDE), "CR4.PCIDE outside IA-32e mode");
	rule(say, s->cr3 >> (cpuid(0x80000008, 0).eax & 0xff),
	     "CR3 beyond the physical address width");
	rule(say, s->dr7 >> 32, "bits 63:32 of DR7 are not 0");
	rule(say, s->efer & ~EFER_KNOWN, "reserved bits of IA32_EFER");
	rule(say, !!(s->efer & EFER_LMA) != ia32e, "IA32_EFER.LMA differs from IA-32e mode guest");
	rule(say, pg && !!(s->efer & EFER_LMA) != !!(s->efer & EFER_LME),
	     "IA32_EFER.LMA differs from LME with CR0.PG");
	rule(say, !pat_is_valid(vmread64(VMCS64_GUEST_IA32_PAT)),
	     "IA32_PAT has a reserved memory type");
	rule(say,
	     !canonical(vmreadnw(VMCSNW_GUEST_IA32_SYSENTER_ESP)) ||
		     !canonical(vmreadnw(VMCSNW_GUEST_IA32_SYSENTER_EIP)),
	     "IA32_SYSENTER_ESP or EIP is not canonical");
}

static bool granularity_is_wrong(const struct hv_segment *g)
{
	return (g->attr & SEG_ATTR_G) ? (g->limit & 0xfff) != 0xfff : g->limit >> 20;
}

static bool is_usable(const struct hv_segment *g)
{
	return !(g->attr & SEG_ATTR_UNUSABLE);
}

/* SDM 26.3.1.2, virtual-8086 mode */
static void check_v8086_segment(unsigned i, const struct hv_segment *g, say_fn say)
{
	if (g->base != (uint64_t)g->selector << 4 || g->limit != 0xffff || g->attr != 0xf3)
		say("  invalid: segment %u is not as virtual-8086 mode wants it\n", i);
}

/* SDM 26.3.1.2, ES to GS but CS and SS */
static void check_data_segment(unsigned i, const struct hv_segment *g, say_fn say)
{
	uint32_t type = TYPE(g->attr);

	if (!is_usable(g))
		return;
	if (!(g->attr & SEG_ATTR_S) || !(g->attr & SEG_ATTR_P) || (g->attr & AR_RESERVED) ||
	    !(type & 1) || ((type & 8) && !(type & 2)))
		say("  invalid: segment %u has access rights %x\n", i, g->attr);
	if (granularity_is_wrong(g))
		say("  invalid: segment %u has limit %x against its granularity\n", i, g->limit);
	if ((i == SEG_FS || i == SEG_GS) ? !canonical(g->base) : g->base >> 32)
		say("  invalid: segment %u has base %llx\n", i, (unsigned long long)g->base);
}

static void check_code_and_stack(const struct hv_sregs *s, say_fn say)
{
	const struct hv_segment *cs = &s->seg[SEG_CS], *ss = &s->seg[SEG_SS];
	uint32_t type = TYPE(cs->attr), cpl = SEG_ATTR_DPL(ss->attr), dpl = SEG_ATTR_DPL(cs->attr);

	rule(say, !is_usable(cs), "CS is unusable");
	rule(say, type != TYPE_DATA_RW && (type & 9) != 9,
	     "CS is neither accessed code nor type 3");
	rule(say, !(cs->attr & SEG_ATTR_S) || !(cs->attr & SEG_ATTR_P) || (cs->attr & AR_RESERVED),
	     "CS: S or P is 0, or a reserved bit is set");
	rule(say, type == TYPE_DATA_RW && dpl, "CS of type 3 with DPL above 0");
	rule(say, (type == 9 || type == 11) && dpl != cpl, "DPL of CS differs from that of SS");
	rule(say, type >= 13 && dpl > cpl, "DPL of conforming CS above that of SS");
	rule(say, entry_is_ia32e() && (cs->attr & SEG_ATTR_L) && (cs->attr & SEG_ATTR_DB),
	     "CS has L and D/B in IA-32e mode");
	rule(say, granularity_is_wrong(cs), "CS: limit against granularity");
	rule(say, cs->base >> 32, "CS: bits 63:32 of the base are not 0");
	rule(say, cpl && (type == TYPE_DATA_RW || !(s->cr0 & CR0_PE)),
	     "DPL of SS above 0 in real mode or with CS of type 3");
	if (!is_usable(ss))
		return;
	rule(say, TYPE(ss->attr) != 3 && TYPE(ss->attr) != 7, "SS is neither type 3 nor 7");
	rule(say, !(ss->attr & SEG_ATTR_S) || !(ss->attr & SEG_ATTR_P) || (ss->attr & AR_RESERVED),
	     "SS: S or P is 0, or a reserved bit is set");
	rule(say, granularity_is_wrong(ss), "SS: limit against granularity");
	rule(say, ss->base >> 32, "SS: bits 63:32 of the base are not 0");
}

static void check_system_segments(const struct hv_sregs *s, say_fn say)
{
	const struct hv_segment *tr = &s->seg[SEG_TR], *ldtr = &s->seg[SEG_LDTR];
	uint32_t type = TYPE(tr->attr);

	rule(say,
	     !is_usable(tr) || (tr->attr & (SEG_ATTR_S | AR_RESERVED)) || !(tr->attr & SEG_ATTR_P),
	     "TR: unusable, S is 1, P is 0 or a reserved bit is set");
	rule(say, type != TYPE_TSS32 && (type != TYPE_TSS16 || entry_is_ia32e()),
	     "TR is no busy TSS of this mode");
	rule(say, (tr->selector & 4) || !canonical(tr->base) || granularity_is_wrong(tr),
	     "TR: selector, base or limit");
	if (!is_usable(ldtr))
		return;
	rule(say,
	     TYPE(ldtr->attr) != TYPE_LDT || (ldtr->attr & (SEG_ATTR_S | AR_RESERVED)) ||
		     !(ldtr->attr & SEG_ATTR_P),
	     "LDTR is no present LDT");
	rule(say, (ldtr->selector & 4) || !canonical(ldtr->base) || granularity_is_wrong(ldtr),
	     "LDTR: selector, base or limit");
}

/* SDM 26.3.1.3, 26.3.1.4 */
static void check_rip_and_rflags(const struct hv_sregs *s, const struct hv_regs *r, say_fn say)
{
	bool ia32e = entry_is_ia32e();

	rule(say, !canonical(s->gdtr.base) || !canonical(s->idtr.base),
	     "the base of GDTR or IDTR is not canonical");
	rule(say, (!ia32e || !(s->seg[SEG_CS].attr & SEG_ATTR_L)) && r->rip >> 32,
	     "bits 63:32 of RIP are not 0 outside 64-bit mode");
	rule(say, (r->rflags & RFLAGS_RESERVED_0) || !(r->rflags & RFLAGS_ONE),
	     "reserved bits of RFLAGS");
	rule(say, (r->rflags & RFLAGS_VM) && (ia32e || !(s->cr0 & CR0_PE)),
	     "RFLAGS.VM in IA-32e or real mode");
}

/* SDM 26.3.1.5 */
static void check_non_register_state(const struct hv_regs *r, say_fn say)
{
	uint32_t state = vmread32(VMCS32_GUEST_INTERRUPTIBILITY_STATE);
	uint32_t event = vmread32(VMCS32_VM_ENTRY_INTERRUPTION_INFORMATION);
	uint32_t shadow = state & (INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS);
	bool valid = event & VMX_EVENT_VALID, extint = valid && !(event >> 8 & 7);
	bool nmi = valid && (event >> 8 & 7) == EVENT_NMI;

	rule(say, shadow == (INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS),
	     "blocking by STI and by MOV SS at once");
	rule(say, (shadow & INTERRUPTIBILITY_STI) && !(r->rflags & RFLAGS_IF),
	     "blocking by STI with RFLAGS.IF 0");
	rule(say, extint && (shadow || !(r->rflags & RFLAGS_IF)),
	     "an external interrupt is injected although the guest blocks it");
	rule(say, nmi && (state & (INTERRUPTIBILITY_MOV_SS | INTERRUPTIBILITY_NMI)),
	     "an NMI is injected although the guest blocks it");
	rule(say, vmread32(VMCS32_GUEST_ACTIVITY_STATE), "the activity state is not active");
	rule(say, ~vmread64(VMCS64_VMCS_LINK_POINTER), "the VMCS link pointer is not all ones");
}

/* SDM 26.3.1.6 */
static void check_pdptes(const struct hv_sregs *s, say_fn say)
{
	if (!(s->cr0 & CR0_PG) || !(s->cr4 & CR4_PAE) || (s->efer & EFER_LMA))
		return;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t p = vmread64(vmcs_guest_pdpte(i));

		if ((p & PDPTE_P) && (p & PDPTE_RESERVED_0))
			say("  invalid: PDPTE %u is %llx\n", i, (unsigned long long)p);
	}
}

/* Entry only says that the state is invalid: name the rules it breaks. */
static void explain_invalid_state(struct vcpu *v, say_fn say)
{
	struct hv_sregs s;

	vmx_get_sregs(v, &s);
	check_control_registers(&s, say);
	if (v->regs.rflags & RFLAGS_VM) {
		for (unsigned i = SEG_ES; i <= SEG_GS; i++)
			check_v8086_segment(i, &s.seg[i], say);
	} else {
		check_code_and_stack(&s, say);
		for (unsigned i = SEG_ES; i <= SEG_GS; i++)
			if (i != SEG_CS && i != SEG_SS)
				check_data_segment(i, &s.seg[i], say);
	}
	check_system_segments(&s, say);
	check_rip_and_rflags(&s, &v->regs, say);
	check_non_register_state(&v->regs, say);
	check_pdptes(&s, say);
}

static void dump_fields(say_fn say)
{
	say("  vmcs controls: pin %x cpu %x cpu2 %x exit %x entry %x\n",
	    vmread32(VMCS32_PIN_BASED_CONTROLS), vmread32(VMCS32_PRIMARY_PROCESSOR_BASED_CONTROLS),
	    vmread32(VMCS32_SECONDARY_PROCESSOR_BASED_CONTROLS),
	    vmread32(VMCS32_PRIMARY_VM_EXIT_CONTROLS), vmread32(VMCS32_VM_ENTRY_CONTROLS));
	say("  vmcs cr0 %llx cr4 %llx eptp %llx vpid %u interruptibility %x entry event %x\n",
	    (unsigned long long)vmreadnw(VMCSNW_GUEST_CR0),
	    (unsigned long long)vmreadnw(VMCSNW_GUEST_CR4),
	    (unsigned long long)vmread64(VMCS64_EPT_POINTER),
	    vmread16(VMCS16_VIRTUAL_PROCESSOR_IDENTIFIER),
	    vmread32(VMCS32_GUEST_INTERRUPTIBILITY_STATE),
	    vmread32(VMCS32_VM_ENTRY_INTERRUPTION_INFORMATION));
}

void vmx_dump(struct vcpu *v, say_fn say)
{
	struct vmx_vcpu *s = vmx_of(v);
	const struct vmx_raw_exit *r = &s->raw;

	if (r->reason == VMX_REASON_VMFAIL)
		say("  vmx: VM entry failed, instruction error %llu: %s\n",
		    (unsigned long long)r->qualification, instruction_error(r->qualification));
	else
		say("  vmx exit reason %x (%s) qualification %llx gpa %llx interruption %x vectoring %x\n",
		    r->reason, vmx_exit_reason_name(r->reason),
		    (unsigned long long)r->qualification, (unsigned long long)r->gpa,
		    r->interruption, r->vectoring);
	if (!s->loaded)
		return;
	dump_fields(say);
	if (r->reason == (VMX_REASON_ENTRY_FAILED | BASIC_INVALID_STATE))
		explain_invalid_state(v, say);
}
