/* SPDX-License-Identifier: BSD-2-Clause */
/* svm_dump: the control area and the last exit in words. */
#include "svm/svm.h"

static const char *code_name(uint32_t code)
{
	switch (code) {
	case SVM_EXIT_INTR: return "INTR";
	case SVM_EXIT_NMI: return "NMI";
	case SVM_EXIT_SMI: return "SMI";
	case SVM_EXIT_INIT: return "INIT";
	case SVM_EXIT_VINTR: return "VINTR";
	case SVM_EXIT_CPUID: return "CPUID";
	case SVM_EXIT_IRET: return "IRET";
	case SVM_EXIT_INVD: return "INVD";
	case SVM_EXIT_HLT: return "HLT";
	case SVM_EXIT_IOIO: return "IOIO";
	case SVM_EXIT_MSR: return "MSR";
	case SVM_EXIT_TASK_SWITCH: return "TASK_SWITCH";
	case SVM_EXIT_SHUTDOWN: return "SHUTDOWN";
	case SVM_EXIT_VMMCALL: return "VMMCALL";
	case SVM_EXIT_WBINVD: return "WBINVD";
	case SVM_EXIT_XSETBV: return "XSETBV";
	case SVM_EXIT_NPF: return "NPF";
	case SVM_EXIT_INVALID: return "INVALID";
	default: return code <= SVM_EXIT_CR_LAST ? "CR access" :
		 code >= SVM_EXIT_EXCEPTION && code <= SVM_EXIT_EXCEPTION_LAST ? "exception" : "?";
	}
}

/* VMRUN only says that the state is invalid: name the rules it breaks (APM 2 15.5.1). */
static void explain_invalid(const struct vmcb *b, void (*say)(const char *f, ...))
{
	const struct vmcb_save *s = &b->save;

	if (!(s->efer & EFER_SVME))
		say("  invalid: EFER.SVME is 0\n");
	if ((s->cr0 & CR0_NW) && !(s->cr0 & CR0_CD))
		say("  invalid: CR0.NW without CR0.CD\n");
	if ((s->efer & EFER_LME) && (s->cr0 & CR0_PG) && !(s->cr4 & CR4_PAE))
		say("  invalid: long mode without CR4.PAE\n");
	if ((s->efer & EFER_LME) && (s->cr0 & CR0_PG) && !(s->cr0 & CR0_PE))
		say("  invalid: long mode without CR0.PE\n");
	if ((s->efer & EFER_LMA) && (s->cs.attrib & 0x600) == 0x600)
		say("  invalid: CS.L and CS.D are both 1 in long mode\n");
	if (!(b->control.intercept_misc2 & SVM_INTERCEPT_VMRUN))
		say("  invalid: VMRUN is not intercepted\n");
	if (!b->control.guest_asid)
		say("  invalid: ASID 0\n");
	if (s->cr0 >> 32 || s->dr6 >> 32 || s->dr7 >> 32)
		say("  invalid: upper half of CR0, DR6 or DR7 is not 0\n");
}

void svm_dump(struct vcpu *v, void (*say)(const char *f, ...))
{
	const struct vmcb *b = svm_of(v)->vmcb;
	const struct vmcb_control *c = &b->control;
	uint32_t code = (uint32_t)c->exitcode;

	say("  vmcb exitcode %x (%s) info1 %llx info2 %llx intinfo %llx\n", code, code_name(code),
	    (unsigned long long)c->exitinfo1, (unsigned long long)c->exitinfo2,
	    (unsigned long long)c->exitintinfo);
	say("  vmcb vintr %llx eventinj %llx shadow %llx asid %u ncr3 %llx\n",
	    (unsigned long long)c->vintr, (unsigned long long)c->eventinj,
	    (unsigned long long)c->interrupt_shadow, c->guest_asid, (unsigned long long)c->n_cr3);
	if (code == SVM_EXIT_INVALID)
		explain_invalid(b, say);
}
