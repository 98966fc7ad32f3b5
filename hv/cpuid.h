/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpuid: what a guest may know of its CPU.
 *
 * An allow-list over the host's answers, with a topology of one package of
 * single-threaded cores that is consistent in every leaf for any vCPU count,
 * the KVM paravirtual interface at 0x40000000 (for its clock; every Linux has
 * the driver) and our own signature at 0x40000100.
 * Pure: the host's CPUID is injected (tests/host/test_cpuid.c).
 * Spec: SDM 2A CPUID; APM 3 appendix E; Linux Documentation/virt/kvm/x86/cpuid.
 */
#pragma once

#include "hv/base.h"

struct cpuid_out {
	uint32_t eax, ebx, ecx, edx;
};

typedef struct cpuid_out (*cpuid_host_fn)(uint32_t leaf, uint32_t subleaf);

/* Of the vCPU that asks. */
struct cpuid_query {
	uint32_t leaf, subleaf;
	uint32_t apic_id;
	uint32_t vcpu_count;
	uint64_t cr4;
};

/* Boot CPU, once; @xcr0: the components of extended state that guests may have. */
void cpuid_init(cpuid_host_fn host, uint64_t xcr0, uint64_t tsc_khz);

struct cpuid_out cpuid_guest(const struct cpuid_query *q);

/* CR4 bits whose features the guest has. */
uint64_t cpuid_guest_cr4_allowed(void);
/* EFER bits likewise. */
uint64_t cpuid_guest_efer_allowed(void);
uint8_t cpuid_guest_maxphyaddr(void);
bool cpuid_guest_page1g(void);
bool cpuid_guest_is_amd(void);
