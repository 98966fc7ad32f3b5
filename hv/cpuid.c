/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuid: what a guest may know of its CPU.  Pure. */
#include "hv/cpuid.h"

#include "hv/state.h"
#include "hv/xcr0.h"

#define HYPERVISOR_BASE 0x40000000
#define OWN_BASE	0x40000100
#define TIMING_LEAF	0x40000010
#define MAX_BASIC	0x16
#define MAX_EXTENDED	0x8000001e
#define GUEST_PHYS_BITS 48
#define GUEST_LINEAR_BITS 48 /* CR4.LA57 is not allowed */

/* Leaf 1. */
#define L1_ECX_ALLOWED                                                            \
	(BIT(0) | BIT(1) | BIT(9) | BIT(12) | BIT(13) | BIT(17) | BIT(19) | BIT(20) | \
	 BIT(22) | BIT(23) | BIT(25) | BIT(26) | BIT(28) | BIT(29) | BIT(30))
#define L1_ECX_FORCED (BIT(21) /* x2APIC */ | BIT(24) /* TSC deadline */ | BIT(31) /* hypervisor */)
#define L1_ECX_OSXSAVE BIT(27)
#define L1_ECX_AVX     (BIT(12) /* FMA */ | BIT(28) | BIT(29) /* F16C */)
#define L1_EDX_ALLOWED 0x078bfbffu
#define L1_EDX_HTT     BIT(28)
/* Leaf 7. */
#define L7_EBX_ALLOWED                                                                   \
	(BIT(0) | BIT(1) | BIT(3) | BIT(5) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(16) | \
	 BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) | BIT(23) | BIT(24) | BIT(28) |     \
	 BIT(29) | BIT(30) | BIT(31))
#define L7_ECX_ALLOWED                                                                    \
	(BIT(1) | BIT(2) | BIT(6) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | BIT(12) | BIT(14) | \
	 BIT(22))
#define L7_EDX_ALLOWED (BIT(4) | BIT(8) | BIT(10))
#define L7_EBX_AVX512                                                                     \
	(BIT(16) | BIT(17) | BIT(21) | BIT(28) | BIT(30) | BIT(31))
#define LD_1_ALLOWED   (BIT(0) | BIT(1) | BIT(2)) /* XSAVEOPT, XSAVEC, XGETBV(1) */
/* Leaf 0x80000001. */
#define E1_ECX_ALLOWED (BIT(0) | BIT(5) | BIT(6) | BIT(7) | BIT(8) | BIT(11) | BIT(16) | BIT(21))
#define E1_ECX_AVX     (BIT(11) /* XOP */ | BIT(16) /* FMA4 */)
#define E1_EDX_ALLOWED (0x0183fbffu | BIT(20) | BIT(22) | BIT(25) | BIT(26) | BIT(27) | BIT(29) | BIT(30) | BIT(31))

#define KVM_FEATURE_CLOCKSOURCE	       BIT(0)
#define KVM_FEATURE_NOP_IO_DELAY       BIT(1)
#define KVM_FEATURE_CLOCKSOURCE2       BIT(3)
#define KVM_FEATURE_CLOCKSOURCE_STABLE BIT(24)

static cpuid_host_fn host;
static struct cpuid_out host_1, host_7, host_e1;
static uint8_t maxphyaddr;
static bool amd;

void cpuid_init(cpuid_host_fn h)
{
	struct cpuid_out r = h(0, 0);

	host = h;
	amd = r.ebx == 0x68747541 /* "Auth" */ || r.ebx == 0x6f677948 /* "Hygo" */;
	host_1 = h(1, 0);
	host_7 = r.eax >= 7 ? h(7, 0) : (struct cpuid_out){ 0 };
	host_e1 = h(0x80000001, 0);
	maxphyaddr = h(0x80000000, 0).eax >= 0x80000008 ? (uint8_t)h(0x80000008, 0).eax : 36;
	if (maxphyaddr > GUEST_PHYS_BITS)
		maxphyaddr = GUEST_PHYS_BITS;
}

uint8_t cpuid_guest_maxphyaddr(void)
{
	return maxphyaddr;
}

bool cpuid_guest_page1g(void)
{
	return host_e1.edx & E1_EDX_ALLOWED & BIT(26);
}

bool cpuid_guest_is_amd(void)
{
	return amd;
}

uint64_t cpuid_guest_efer_allowed(void)
{
	uint64_t m = EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE;

	return host_e1.edx & BIT(25) ? m | EFER_FFXSR : m;
}

uint64_t cpuid_guest_cr4_allowed(void)
{
	/* VME PVI TSD DE PSE PAE MCE PGE PCE OSFXSR OSXMMEXCPT */
	uint64_t m = 0x7ff;

	if (host_1.ecx & L1_ECX_ALLOWED & BIT(17))
		m |= CR4_PCIDE;
	if (host_1.ecx & BIT(26))
		m |= CR4_OSXSAVE;
	if (host_7.ebx & BIT(0))
		m |= CR4_FSGSBASE;
	if (host_7.ebx & BIT(7))
		m |= CR4_SMEP;
	if (host_7.ebx & BIT(20))
		m |= CR4_SMAP;
	if (host_7.ecx & BIT(2))
		m |= CR4_UMIP;
	return m;
}

/* Bits that hold 0 to n - 1. */
static uint32_t id_bits(uint32_t n)
{
	uint32_t b = 0;

	while ((1u << b) < n)
		b++;
	return b;
}

static void leaf_1(const struct cpuid_query *q, struct cpuid_out *r)
{
	uint32_t ids = 1u << id_bits(q->vcpu_count);

	r->ebx = (r->ebx & 0xff00) | (q->apic_id & 0xff) << 24 | (ids & 0xff) << 16;
	r->ecx = (r->ecx & L1_ECX_ALLOWED) | L1_ECX_FORCED;
	if (!(q->xcr0_allowed & XCR0_AVX))
		r->ecx &= ~L1_ECX_AVX;
	if (q->cr4 & CR4_OSXSAVE)
		r->ecx |= L1_ECX_OSXSAVE;
	r->edx &= L1_EDX_ALLOWED;
	if (q->vcpu_count > 1)
		r->edx |= L1_EDX_HTT;
}

/* Caches: the outermost level is shared by all cores, the others are private. */
static void leaf_4(const struct cpuid_query *q, struct cpuid_out *r)
{
	uint32_t level = r->eax >> 5 & 7, cores = 1u << id_bits(q->vcpu_count);

	if (!(r->eax & 0x1f))
		return;
	r->eax = (r->eax & 0x3fff) | (cores - 1) << 26;
	if (level >= 3)
		r->eax |= (cores - 1) << 14;
}

static void leaf_7(const struct cpuid_query *q, struct cpuid_out *r)
{
	if (q->subleaf) {
		*r = (struct cpuid_out){ 0 };
		return;
	}
	r->eax = 0;
	r->ebx &= L7_EBX_ALLOWED;
	r->ecx &= L7_ECX_ALLOWED;
	r->edx &= L7_EDX_ALLOWED;
	if (!(q->xcr0_allowed & XCR0_AVX)) {
		r->ebx &= ~BIT(5);
		r->ecx &= ~(BIT(9) | BIT(10));
	}
	if (!(q->xcr0_allowed & XCR0_AVX512)) {
		r->ebx &= ~L7_EBX_AVX512;
		r->ecx &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
		r->edx &= ~BIT(8);
	}
}

/* Level 0: one thread a core; level 1: the package's cores; then nothing. */
static void leaf_b(const struct cpuid_query *q, struct cpuid_out *r)
{
	*r = (struct cpuid_out){ .ecx = q->subleaf & 0xff, .edx = q->apic_id };
	if (q->subleaf == 0) {
		r->ebx = 1;
		r->ecx |= 1u << 8;
	} else if (q->subleaf == 1) {
		r->eax = id_bits(q->vcpu_count);
		r->ebx = q->vcpu_count;
		r->ecx |= 2u << 8;
	}
}

static void leaf_d(const struct cpuid_query *q, struct cpuid_out *r)
{
	if (q->subleaf == 0) {
		r->eax = (uint32_t)q->xcr0_allowed;
		r->edx = (uint32_t)(q->xcr0_allowed >> 32);
	} else if (q->subleaf == 1) {
		r->eax &= LD_1_ALLOWED;
		r->ecx = r->edx = 0;
	} else if (q->subleaf >= 63 || !(q->xcr0_allowed >> q->subleaf & 1)) {
		*r = (struct cpuid_out){ 0 };
	}
}

static void basic(const struct cpuid_query *q, struct cpuid_out *r)
{
	switch (q->leaf) {
	case 0:
		if (r->eax > MAX_BASIC)
			r->eax = MAX_BASIC;
		break;
	case 1:
		leaf_1(q, r);
		break;
	case 2:
		break;
	case 4:
		leaf_4(q, r);
		break;
	case 6:
		*r = (struct cpuid_out){ .eax = r->eax & BIT(2) }; /* the APIC timer never stops */
		break;
	case 7:
		leaf_7(q, r);
		break;
	case 0xb:
		leaf_b(q, r);
		break;
	case 0xd:
		leaf_d(q, r);
		break;
	default:
		*r = (struct cpuid_out){ 0 };
	}
}

static void extended_8(const struct cpuid_query *q, struct cpuid_out *r)
{
	r->eax = maxphyaddr | (uint32_t)min_u64(r->eax >> 8 & 0xff, GUEST_LINEAR_BITS) << 8;
	r->ebx &= BIT(0) | BIT(2) | BIT(9); /* CLZERO, RstrFpErrPtrs, WBNOINVD */
	r->ecx = amd ? (q->vcpu_count - 1) | id_bits(q->vcpu_count) << 12 : 0;
	r->edx = 0;
}

static void extended(const struct cpuid_query *q, struct cpuid_out *r)
{
	switch (q->leaf) {
	case 0x80000000:
		if (r->eax > MAX_EXTENDED)
			r->eax = MAX_EXTENDED;
		break;
	case 0x80000001:
		r->ecx &= E1_ECX_ALLOWED;
		if (!(q->xcr0_allowed & XCR0_AVX))
			r->ecx &= ~E1_ECX_AVX;
		if (amd && q->vcpu_count > 1)
			r->ecx |= BIT(1); /* CmpLegacy: cores, not threads */
		r->edx &= E1_EDX_ALLOWED;
		break;
	case 0x80000002:
	case 0x80000003:
	case 0x80000004:
	case 0x80000005:
	case 0x80000006:
		break;
	case 0x80000007:
		*r = (struct cpuid_out){ .edx = r->edx & BIT(8) };
		break;
	case 0x80000008:
		extended_8(q, r);
		break;
	default:
		*r = (struct cpuid_out){ 0 };
	}
}

static struct cpuid_out signature(uint32_t max, const char *s)
{
	struct cpuid_out r = { .eax = max };

	memcpy(&r.ebx, s, 4);
	memcpy(&r.ecx, s + 4, 4);
	memcpy(&r.edx, s + 8, 4);
	return r;
}

static struct cpuid_out hypervisor(const struct cpuid_query *q)
{
	switch (q->leaf) {
	case HYPERVISOR_BASE:
		return signature(TIMING_LEAF, "KVMKVMKVM\0\0\0");
	case HYPERVISOR_BASE + 1:
		return (struct cpuid_out){ .eax = KVM_FEATURE_CLOCKSOURCE | KVM_FEATURE_NOP_IO_DELAY |
						  KVM_FEATURE_CLOCKSOURCE2 |
						  KVM_FEATURE_CLOCKSOURCE_STABLE };
	case TIMING_LEAF:
		return (struct cpuid_out){ .eax = (uint32_t)q->tsc_khz, .ebx = 1000000 };
	case OWN_BASE:
		return signature(OWN_BASE, "FaultlineHV\0");
	default:
		return (struct cpuid_out){ 0 };
	}
}

struct cpuid_out cpuid_guest(const struct cpuid_query *q)
{
	struct cpuid_out r;

	if (q->leaf >= HYPERVISOR_BASE && q->leaf < HYPERVISOR_BASE + 0x10000)
		return hypervisor(q);
	r = host(q->leaf, q->subleaf);
	if (q->leaf >= 0x80000000) {
		if (q->leaf > host(0x80000000, 0).eax)
			return (struct cpuid_out){ 0 };
		extended(q, &r);
	} else {
		/* Beyond the last basic leaf Intel repeats it, AMD gives zeros: zeros. */
		if (q->leaf > host(0, 0).eax)
			return (struct cpuid_out){ 0 };
		basic(q, &r);
	}
	return r;
}
