/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_exit_decode: a raw #VMEXIT turned into struct hv_exit.
 * Pure (tests/host/test_svm_exit_decode.c, fuzzed).
 * Spec: APM 2 15.5-15.13, appendix C.
 */
#pragma once

#include "hv/exit.h"
#include "svm/svm_vmcb.h"

void svm_exit_decode(const struct vmcb *vmcb, bool nrip_save, struct hv_exit *e);
