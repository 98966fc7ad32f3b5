/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_caps: what this CPU's SVM can do, computed from CPUID and VM_CR words.
 * Pure (tests/host/test_caps.c).  Spec: APM 2 15.4, APM 3 E.4.9 (8000_000A).
 */
#pragma once

#include "hv/base.h"

struct svm_words {
	uint32_t max_extended;	 /* CPUID 8000_0000 EAX */
	uint32_t ext_ecx, ext_edx; /* 8000_0001 */
	uint32_t svm_ebx, svm_edx; /* 8000_000A */
	uint64_t vm_cr;		 /* MSR C001_0114; read only when SVM is in CPUID */
};

struct svm_caps {
	uint32_t asid_count;	/* valid ASIDs are 1 to asid_count - 1 */
	bool nrip_save;
	bool flush_by_asid;
	bool decode_assists;
	bool page_1g;
};

#define MSR_VM_CR	0xc0010114
#define VM_CR_SVMDIS	BIT64(4)

/*
 * False when guests cannot run; @missing is then one line that says what is
 * missing and what to do about it.
 */
bool svm_caps_compute(const struct svm_words *w, struct svm_caps *c, const char **missing);
