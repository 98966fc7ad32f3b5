/* SPDX-License-Identifier: BSD-2-Clause */
/* svm_caps: what this CPU's SVM can do.  Pure. */
#include "svm/svm_caps.h"

#define EXT_ECX_SVM   BIT(2)
#define EXT_EDX_NX    BIT(20)
#define EXT_EDX_1G    BIT(26)
#define EDX_NP	      BIT(0)
#define EDX_SVML      BIT(2)
#define EDX_NRIPS     BIT(3)
#define EDX_FLUSH_BY_ASID BIT(6)
#define EDX_DECODE_ASSISTS BIT(7)

bool svm_caps_compute(const struct svm_words *w, struct svm_caps *c, const char **missing)
{
	memset(c, 0, sizeof(*c));
	*missing = NULL;
	if (!(w->ext_ecx & EXT_ECX_SVM))
		*missing = "CPUID 8000_0001 ECX.SVM is 0: this CPU has no SVM";
	else if (w->vm_cr & VM_CR_SVMDIS)
		*missing = w->svm_edx & EDX_SVML ?
				   "VM_CR.SVMDIS is locked: enable virtualization (SVM) in the firmware" :
				   "VM_CR.SVMDIS is set: enable virtualization (SVM) in the firmware";
	else if (w->max_extended < 0x8000000a)
		*missing = "CPUID 8000_000A is absent: SVM without nested paging";
	else if (!(w->svm_edx & EDX_NP))
		*missing = "CPUID 8000_000A EDX.NP is 0: SVM without nested paging";
	else if (!(w->ext_edx & EXT_EDX_NX))
		*missing = "CPUID 8000_0001 EDX.NX is 0: no-execute pages are needed";
	else if (w->svm_ebx < 2)
		*missing = "CPUID 8000_000A EBX: no ASID for a guest";
	if (*missing)
		return false;
	c->asid_count = w->svm_ebx;
	c->nrip_save = w->svm_edx & EDX_NRIPS;
	c->flush_by_asid = w->svm_edx & EDX_FLUSH_BY_ASID;
	c->decode_assists = w->svm_edx & EDX_DECODE_ASSISTS;
	c->page_1g = w->ext_edx & EXT_EDX_1G;
	return true;
}
