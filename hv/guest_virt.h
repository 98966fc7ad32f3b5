/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_virt: a vCPU's memory at linear addresses, as its own page tables and
 * rights see it: RAM, emulated devices or nothing behind it.
 * On the vCPU's CPU, between exits.
 */
#pragma once

#include "hv/insn_exec.h"
#include "hv/vcpu.h"

/* What insn_exec() needs, for one instruction of @v. */
struct guest_virt {
	struct vcpu *v;
	struct hv_sregs sregs;
	struct insn_env env;
	bool noting; /* page-table entries go into the vCPU's insn_cache */
};

void guest_virt_init(struct guest_virt *g, struct vcpu *v);

/*
 * Fetches and decodes the instruction at RIP.  HV_RETRY: it no longer is where
 * it was, or the VM pauses for want of memory: enter the guest again; HV_NOTSUP or HV_INVAL from the decoder;
 * HV_FAULT: it is not in RAM.
 */
enum hv_status guest_virt_fetch(struct guest_virt *g, struct insn *in) __must_check;

/* The length of the instruction at RIP, which the next exit there need not decode; 0 as above. */
unsigned guest_virt_insn_len(struct guest_virt *g);

/* @in for the trace and for refusals: up to 15 bytes at RIP in hex. */
void guest_virt_bytes(struct guest_virt *g, char *text, size_t size);

/* Acts on what insn_exec() returned; true when the guest may go on. */
bool guest_virt_conclude(struct vcpu *v, enum insn_result r, const struct insn_fault *f);
