/* SPDX-License-Identifier: BSD-2-Clause */
/* vmx_caps: what this CPU's VMX can do.  Pure. */
#include "vmx/vmx_caps.h"

#define CPUID1_ECX_VMX BIT(5)

/* IA32_VMX_EPT_VPID_CAP */
#define EPT_WALK_4	   BIT64(6)
#define EPT_MEMTYPE_WB	   BIT64(14)
#define EPT_2M		   BIT64(16)
#define EPT_1G		   BIT64(17)
#define EPT_INVEPT	   BIT64(20)
#define EPT_AD		   BIT64(21)
#define EPT_INVEPT_SINGLE  BIT64(25)
#define EPT_INVEPT_ALL	   BIT64(26)
#define EPT_INVVPID	   BIT64(32)
#define EPT_INVVPID_SINGLE BIT64(41)
#define EPT_INVVPID_ALL	   BIT64(42)

#define BASIC_SIZE(b)	 ((b) >> 32 & 0x1fff)
#define BASIC_MEMTYPE(b) ((b) >> 50 & 0xf)
#define MEMTYPE_WB	 6

#define CR0_PE_PG 0x80000001ULL

/* Reserved controls that read as 1 without TRUE words and mean nothing (SDM 3D A.2-A.5). */
#define PIN_DEFAULT1   0x00000016u
#define CPU_DEFAULT1   0x0401e172u
#define EXIT_DEFAULT1  0x00036dffu
#define ENTRY_DEFAULT1 0x000011ffu

struct need {
	uint64_t bit;
	const char *missing;
};

#define NEWER "; needs a newer CPU, or a layer below that passes it on"

/* Bit n of a control is allowed to be 1 when bit 32 + n of its MSR is. */
static const struct need pin_needs[] = {
	{PIN_EXTERNAL_INTERRUPT,
	 "IA32_VMX_PINBASED_CTLS bit 32 is 0: no external-interrupt exiting" NEWER},
	{PIN_NMI_EXITING, "IA32_VMX_PINBASED_CTLS bit 35 is 0: no NMI exiting" NEWER},
	{PIN_VIRTUAL_NMIS, "IA32_VMX_PINBASED_CTLS bit 37 is 0: no virtual NMIs" NEWER},
};

static const struct need cpu_needs[] = {
	{CPU_INTERRUPT_WINDOW,
	 "IA32_VMX_PROCBASED_CTLS bit 34 is 0: no interrupt-window exiting" NEWER},
	{CPU_TSC_OFFSETTING, "IA32_VMX_PROCBASED_CTLS bit 35 is 0: no TSC offsetting" NEWER},
	{CPU_HLT, "IA32_VMX_PROCBASED_CTLS bit 39 is 0: no HLT exiting" NEWER},
	{CPU_MWAIT, "IA32_VMX_PROCBASED_CTLS bit 42 is 0: no MWAIT exiting" NEWER},
	{CPU_RDPMC, "IA32_VMX_PROCBASED_CTLS bit 43 is 0: no RDPMC exiting" NEWER},
	{CPU_CR8_LOAD, "IA32_VMX_PROCBASED_CTLS bit 51 is 0: no CR8-load exiting" NEWER},
	{CPU_CR8_STORE, "IA32_VMX_PROCBASED_CTLS bit 52 is 0: no CR8-store exiting" NEWER},
	{CPU_NMI_WINDOW, "IA32_VMX_PROCBASED_CTLS bit 54 is 0: no NMI-window exiting" NEWER},
	{CPU_IO_BITMAPS, "IA32_VMX_PROCBASED_CTLS bit 57 is 0: no I/O bitmaps" NEWER},
	{CPU_MSR_BITMAPS, "IA32_VMX_PROCBASED_CTLS bit 60 is 0: no MSR bitmaps" NEWER},
	{CPU_MONITOR, "IA32_VMX_PROCBASED_CTLS bit 61 is 0: no MONITOR exiting" NEWER},
	{CPU_SECONDARY, "IA32_VMX_PROCBASED_CTLS bit 63 is 0: no secondary controls" NEWER},
};

static const struct need cpu2_needs[] = {
	{CPU2_EPT, "IA32_VMX_PROCBASED_CTLS2 bit 33 is 0: no EPT" NEWER},
	{CPU2_UNRESTRICTED_GUEST,
	 "IA32_VMX_PROCBASED_CTLS2 bit 39 is 0: no unrestricted guest" NEWER},
};

static const struct need exit_needs[] = {
	{EXIT_SAVE_DEBUG, "IA32_VMX_EXIT_CTLS bit 34 is 0: cannot save debug controls" NEWER},
	{EXIT_HOST_64, "IA32_VMX_EXIT_CTLS bit 41 is 0: no 64-bit host" NEWER},
	{EXIT_SAVE_PAT, "IA32_VMX_EXIT_CTLS bit 50 is 0: cannot save IA32_PAT" NEWER},
	{EXIT_LOAD_PAT, "IA32_VMX_EXIT_CTLS bit 51 is 0: cannot load IA32_PAT" NEWER},
	{EXIT_SAVE_EFER, "IA32_VMX_EXIT_CTLS bit 52 is 0: cannot save IA32_EFER" NEWER},
	{EXIT_LOAD_EFER, "IA32_VMX_EXIT_CTLS bit 53 is 0: cannot load IA32_EFER" NEWER},
};

static const struct need entry_needs[] = {
	{ENTRY_LOAD_DEBUG, "IA32_VMX_ENTRY_CTLS bit 34 is 0: cannot load debug controls" NEWER},
	{ENTRY_IA32E, "IA32_VMX_ENTRY_CTLS bit 41 is 0: no IA-32e mode guests" NEWER},
	{ENTRY_LOAD_PAT, "IA32_VMX_ENTRY_CTLS bit 46 is 0: cannot load IA32_PAT" NEWER},
	{ENTRY_LOAD_EFER, "IA32_VMX_ENTRY_CTLS bit 47 is 0: cannot load IA32_EFER" NEWER},
};

static const struct need ept_needs[] = {
	{EPT_WALK_4, "IA32_VMX_EPT_VPID_CAP bit 6 is 0: no 4-level EPT" NEWER},
	{EPT_MEMTYPE_WB, "IA32_VMX_EPT_VPID_CAP bit 14 is 0: no write-back EPT" NEWER},
	{EPT_2M, "IA32_VMX_EPT_VPID_CAP bit 16 is 0: no 2 MiB EPT pages" NEWER},
	{EPT_INVEPT, "IA32_VMX_EPT_VPID_CAP bit 20 is 0: no INVEPT" NEWER},
};

static const char *unmet(const struct need *n, size_t count, uint64_t have)
{
	for (size_t i = 0; i < count; i++)
		if (!(have & n[i].bit))
			return n[i].missing;
	return NULL;
}

#define UNMET(needs, have) unmet(needs, ARRAY_SIZE(needs), have)

static uint64_t sum(const struct need *n, size_t count)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		bits |= n[i].bit;
	return bits;
}

#define SUM(needs) ((uint32_t)sum(needs, ARRAY_SIZE(needs)))

static const char *feature_missing(const struct vmx_words *w)
{
	if (!(w->cpuid1_ecx & CPUID1_ECX_VMX))
		return "CPUID 1 ECX bit 5 is 0: this CPU has no VMX";
	if ((w->feature_control & FEATURE_CONTROL_LOCK) &&
	    !(w->feature_control & FEATURE_CONTROL_VMX))
		return "IA32_FEATURE_CONTROL bit 2 is 0 and locked: enable VT-x in the firmware";
	if (BASIC_SIZE(w->basic) > PAGE_SIZE)
		return "IA32_VMX_BASIC bits 44:32: a VMCS does not fit in a page" NEWER;
	if (BASIC_MEMTYPE(w->basic) != MEMTYPE_WB)
		return "IA32_VMX_BASIC bits 53:50: the VMCS cannot be write-back memory" NEWER;
	return NULL;
}

static const char *control_missing(const struct vmx_words *t, const struct vmx_words *w)
{
	const char *m = UNMET(pin_needs, t->pin >> 32);

	if (!m)
		m = UNMET(cpu_needs, t->cpu >> 32);
	if (!m)
		m = UNMET(cpu2_needs, w->cpu2 >> 32);
	if (!m)
		m = UNMET(exit_needs, t->exit >> 32);
	if (!m)
		m = UNMET(entry_needs, t->entry >> 32);
	if (!m)
		m = UNMET(ept_needs, w->ept_vpid);
	if (!m && !(w->ept_vpid & (EPT_INVEPT_SINGLE | EPT_INVEPT_ALL)))
		m = "IA32_VMX_EPT_VPID_CAP bits 25 and 26 are 0: INVEPT of no type" NEWER;
	return m;
}

/* Bits that must be 1 although we do not want them and they do mean something. */
static uint32_t forced(uint64_t word, uint32_t want, uint32_t default1)
{
	return (uint32_t)word & ~want & ~default1;
}

static const char *forced_on(const struct vmx_words *t, const struct vmx_caps *c)
{
	if (((uint32_t)t->cpu & (CPU_CR3_LOAD | CPU_CR3_STORE)))
		return "IA32_VMX_PROCBASED_CTLS bits 15 or 16 are 1: CR3 exits cannot be off" NEWER;
	if (forced(t->pin, c->pin, PIN_DEFAULT1))
		return "IA32_VMX_PINBASED_CTLS bits 31:0 force a control that we cannot use" NEWER;
	if (forced(t->cpu, c->cpu, CPU_DEFAULT1))
		return "IA32_VMX_PROCBASED_CTLS bits 31:0 force a control that we cannot use" NEWER;
	if (forced(t->cpu2, c->cpu2, 0))
		return "IA32_VMX_PROCBASED_CTLS2 bits 31:0 force a control that we cannot use" NEWER;
	if (forced(t->exit, c->exit, EXIT_DEFAULT1))
		return "IA32_VMX_EXIT_CTLS bits 31:0 force a control that we cannot use" NEWER;
	if (forced(t->entry, c->entry, ENTRY_DEFAULT1))
		return "IA32_VMX_ENTRY_CTLS bits 31:0 force a control that we cannot use" NEWER;
	return NULL;
}

static void choose_optional(const struct vmx_words *t, const struct vmx_words *w,
			    struct vmx_caps *c)
{
	c->preemption_timer = t->pin >> 32 & PIN_PREEMPTION_TIMER;
	if (c->preemption_timer)
		c->pin |= PIN_PREEMPTION_TIMER;
	c->preemption_shift = w->misc & 0x1f;
	c->cpu2 |= (uint32_t)(w->cpu2 >> 32) & (CPU2_RDTSCP | CPU2_WBINVD | CPU2_INVPCID);
	/* A VPID that cannot be flushed would do more harm than good. */
	c->vpid = (w->cpu2 >> 32 & CPU2_VPID) && (w->ept_vpid & EPT_INVVPID) &&
		  (w->ept_vpid & (EPT_INVVPID_SINGLE | EPT_INVVPID_ALL));
	if (c->vpid)
		c->cpu2 |= CPU2_VPID;
	c->invvpid_single = w->ept_vpid & EPT_INVVPID_SINGLE;
	c->invept_single = w->ept_vpid & EPT_INVEPT_SINGLE;
	c->ept_1g = w->ept_vpid & EPT_1G;
	c->ept_ad = w->ept_vpid & EPT_AD;
	c->pml = c->ept_ad && (w->cpu2 >> 32 & CPU2_PML);
}

bool vmx_caps_compute(const struct vmx_words *w, struct vmx_caps *c, const char **missing)
{
	struct vmx_words t = *w; /* with the TRUE words in place of the others */

	memset(c, 0, sizeof(*c));
	if (vmx_caps_has_true(w->basic)) {
		t.pin = w->true_pin;
		t.cpu = w->true_cpu;
		t.exit = w->true_exit;
		t.entry = w->true_entry;
	}
	*missing = feature_missing(w);
	if (!*missing)
		*missing = control_missing(&t, w);
	if (*missing)
		return false;
	c->revision = (uint32_t)w->basic & 0x7fffffff;
	/* The windows open on demand; IA-32e mode follows the guest's EFER. */
	c->pin = SUM(pin_needs);
	c->cpu = SUM(cpu_needs) & ~(CPU_INTERRUPT_WINDOW | CPU_NMI_WINDOW);
	c->cpu2 = SUM(cpu2_needs);
	c->exit = SUM(exit_needs);
	c->entry = SUM(entry_needs) & ~ENTRY_IA32E;
	choose_optional(&t, w, c);
	*missing = forced_on(&t, c);
	if (*missing)
		return false;
	c->pin |= (uint32_t)t.pin;
	c->cpu |= (uint32_t)t.cpu;
	c->exit |= (uint32_t)t.exit;
	c->entry |= (uint32_t)t.entry;
	/* An unrestricted guest chooses PE and PG itself. */
	c->cr0_fixed0 = w->cr0_fixed0 & ~CR0_PE_PG;
	c->cr0_fixed1 = w->cr0_fixed1;
	c->cr4_fixed0 = w->cr4_fixed0;
	c->cr4_fixed1 = w->cr4_fixed1;
	return true;
}
