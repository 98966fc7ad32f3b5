/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuid: what a guest may know of its CPU.  Pure. */
#include "hv/cpuid.h"

#include "hv/state.h"
#include "hv/xcr0.h"

#define HYPERVISOR_BASE 0x40000000
#define OWN_BASE	0x40000100
#define TIMING_LEAF	0x40000010
#define EXTENDED_BASE	0x80000000
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

#define RO_AFTER_INIT __attribute__((section(".data.ro_after_init")))

/* Leaves from @base on with subleaf 0: below another hypervisor each CPUID costs us an exit. */
struct known {
	uint32_t base, count;
	struct cpuid_out leaf[32];
};

static cpuid_host_fn host RO_AFTER_INIT;
static struct known basic RO_AFTER_INIT = { .base = 0 };
static struct known extended RO_AFTER_INIT = { .base = EXTENDED_BASE };
static uint64_t xcr0_allowed RO_AFTER_INIT, tsc_khz RO_AFTER_INIT;
static uint8_t maxphyaddr RO_AFTER_INIT;
static bool amd RO_AFTER_INIT;

_Static_assert(MAX_BASIC < ARRAY_SIZE(basic.leaf), "all that guests may ask for");
_Static_assert(MAX_EXTENDED - EXTENDED_BASE < ARRAY_SIZE(extended.leaf), "likewise");

static void learn(struct known *k, uint32_t max)
{
	struct cpuid_out first = host(k->base, 0);

	memset(k->leaf, 0, sizeof(k->leaf));
	k->count = 0;
	if (first.eax < k->base)
		return;
	if (first.eax > max)
		first.eax = max;
	k->count = first.eax - k->base + 1;
	for (uint32_t i = 1; i < k->count; i++)
		k->leaf[i] = host(k->base + i, 0);
	k->leaf[0] = first;
}

void cpuid_init(cpuid_host_fn h, uint64_t xcr0, uint64_t khz)
{
	host = h;
	xcr0_allowed = xcr0;
	tsc_khz = khz;
	learn(&basic, MAX_BASIC);
	learn(&extended, MAX_EXTENDED);
	amd = basic.leaf[0].ebx == 0x68747541 /* "Auth" */ ||
	      basic.leaf[0].ebx == 0x6f677948 /* "Hygo" */;
	maxphyaddr = extended.count > 8 ? (uint8_t)extended.leaf[8].eax : 36;
	if (maxphyaddr > GUEST_PHYS_BITS)
		maxphyaddr = GUEST_PHYS_BITS;
}

uint8_t cpuid_guest_maxphyaddr(void)
{
	return maxphyaddr;
}

bool cpuid_guest_page1g(void)
{
	return extended.leaf[1].edx & E1_EDX_ALLOWED & BIT(26);
}

bool cpuid_guest_is_amd(void)
{
	return amd;
}

uint64_t cpuid_guest_efer_allowed(void)
{
	uint64_t m = EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE;

	return extended.leaf[1].edx & BIT(25) ? m | EFER_FFXSR : m;
}

uint64_t cpuid_guest_cr4_allowed(void)
{
	/* VME PVI TSD DE PSE PAE MCE PGE PCE OSFXSR OSXMMEXCPT */
	uint64_t m = 0x7ff;

	if (basic.leaf[1].ecx & L1_ECX_ALLOWED & BIT(17))
		m |= CR4_PCIDE;
	if (basic.leaf[1].ecx & BIT(26))
		m |= CR4_OSXSAVE;
	if (basic.leaf[7].ebx & BIT(0))
		m |= CR4_FSGSBASE;
	if (basic.leaf[7].ebx & BIT(7))
		m |= CR4_SMEP;
	if (basic.leaf[7].ebx & BIT(20))
		m |= CR4_SMAP;
	if (basic.leaf[7].ecx & BIT(2))
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
	if (!(xcr0_allowed & XCR0_AVX))
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
	uint32_t level, cores = 1u << id_bits(q->vcpu_count);

	*r = host(4, q->subleaf);
	if (!(r->eax & 0x1f))
		return;
	level = r->eax >> 5 & 7;
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
	if (!(xcr0_allowed & XCR0_AVX)) {
		r->ebx &= ~BIT(5);
		r->ecx &= ~(BIT(9) | BIT(10));
	}
	if (!(xcr0_allowed & XCR0_AVX512)) {
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

/* What is enabled, and how much room it takes, changes with XCR0: not what we once learned. */
static void leaf_d(const struct cpuid_query *q, struct cpuid_out *r)
{
	*r = host(0xd, q->subleaf);
	if (q->subleaf == 0) {
		r->eax = (uint32_t)xcr0_allowed;
		r->edx = (uint32_t)(xcr0_allowed >> 32);
	} else if (q->subleaf == 1) {
		r->eax &= LD_1_ALLOWED;
		r->ecx = r->edx = 0;
	} else if (q->subleaf >= 63 || !(xcr0_allowed >> q->subleaf & 1)) {
		*r = (struct cpuid_out){ 0 };
	}
}

static void filter_basic(const struct cpuid_query *q, struct cpuid_out *r)
{
	switch (q->leaf) {
	case 0:
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

static void filter_extended(const struct cpuid_query *q, struct cpuid_out *r)
{
	switch (q->leaf) {
	case EXTENDED_BASE:
		break;
	case 0x80000001:
		r->ecx &= E1_ECX_ALLOWED;
		if (!(xcr0_allowed & XCR0_AVX))
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
		return (struct cpuid_out){ .eax = (uint32_t)tsc_khz, .ebx = 1000000 };
	case OWN_BASE:
		return signature(OWN_BASE, "FaultlineHV\0");
	default:
		return (struct cpuid_out){ 0 };
	}
}

/* Beyond the last leaf Intel repeats it, AMD gives zeros: zeros. */
struct cpuid_out cpuid_guest(const struct cpuid_query *q)
{
	struct cpuid_out r = { 0 };

	if (q->leaf < basic.count) {
		r = basic.leaf[q->leaf];
		filter_basic(q, &r);
	} else if (q->leaf - EXTENDED_BASE < extended.count) {
		r = extended.leaf[q->leaf - EXTENDED_BASE];
		filter_extended(q, &r);
	} else if (q->leaf >= HYPERVISOR_BASE && q->leaf < HYPERVISOR_BASE + 0x10000) {
		r = hypervisor(q);
	}
	return r;
}
