/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_exit_decode: a raw #VMEXIT turned into struct hv_exit.
 * Pure (tests/host/test_svm_exit_decode.c, fuzzed).
 * Spec: APM 2 15.5-15.13, appendix C.
 */
#pragma once

#include "hv/exit.h"
#include "mm/npte.h"
#include "svm/svm_vmcb.h"

#define SVM_NPF_WRITE BIT64(1)
#define SVM_NPF_FETCH BIT64(4)
#define SVM_NPF_WALK  BIT64(33)

void svm_exit_decode(const struct vmcb *vmcb, bool nrip_save, struct hv_exit *e);

/* The part for nested page faults alone; they are what we are measured by. */
static inline void svm_exit_decode_npf(const struct vmcb_control *c, struct hv_exit *e)
{
	/* Write and fetch are bits 1 and 4 there, 1 and 2 here. */
	uint8_t access = (uint8_t)((c->exitinfo1 & SVM_NPF_WRITE) | (c->exitinfo1 & SVM_NPF_FETCH) >> 2);

	e->class = EXIT_NPF;
	e->reason = SVM_EXIT_NPF;
	e->info1 = c->exitinfo1;
	e->info2 = c->exitinfo2;
	e->insn_len = 0;
	e->vectoring.valid = false;
	e->npf.gpa = GPA(c->exitinfo2);
	e->npf.access = access ? access : NPT_READ;
	e->npf.walk = c->exitinfo1 & SVM_NPF_WALK;
}
