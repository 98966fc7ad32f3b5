/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/cpuid.h"
#include "hv/state.h"

#define INTEL "GenuineIntel"
#define AMD   "AuthenticAMD"
#define ONES  0xffffffffu

#define AVX_ON	  7ULL
#define AVX512_ON 0xe7ULL

/* A host that has every feature there is, sixteen threads, and rather odd topology. */
static struct {
	const char *vendor;
	uint32_t max_basic, max_extended;
	uint8_t phys_bits, linear_bits;
	uint32_t f1_ecx, f1_edx, f7_ebx, f7_ecx, e1_ecx, e1_edx;
} hw;

static struct cpuid_out leaf_0(uint32_t max)
{
	struct cpuid_out r = {.eax = max};

	memcpy(&r.ebx, hw.vendor, 4);
	memcpy(&r.edx, hw.vendor + 4, 4);
	memcpy(&r.ecx, hw.vendor + 8, 4);
	return r;
}

static struct cpuid_out cache(uint32_t subleaf)
{
	static const uint32_t type_and_level[] = {0x21, 0x22, 0x43, 0x63};

	if (subleaf > 3)
		return (struct cpuid_out){0};
	return (struct cpuid_out){0xfc000000 | 31u << 14 | 0x100 | type_and_level[subleaf], 0x1c0003f, 63, 4};
}

static struct cpuid_out host(uint32_t leaf, uint32_t subleaf)
{
	if (leaf >= 0x80000000 && leaf > hw.max_extended)
		return (struct cpuid_out){ONES, ONES, ONES, ONES};
	switch (leaf) {
	case 0:
		return leaf_0(hw.max_basic);
	case 1:
		return (struct cpuid_out){0x906a3, 0x5a200800, hw.f1_ecx, hw.f1_edx};
	case 4:
		return cache(subleaf);
	case 7:
		return (struct cpuid_out){2, hw.f7_ebx, hw.f7_ecx, ONES};
	case 0x80000000:
		return leaf_0(hw.max_extended);
	case 0x80000001:
		return (struct cpuid_out){0, 0, hw.e1_ecx, hw.e1_edx};
	case 0x80000008:
		return (struct cpuid_out){hw.phys_bits | (uint32_t)hw.linear_bits << 8 | 48 << 16, ONES,
					  0x500f, ONES};
	default:
		/* Any leaf that is not thought of would leak through. */
		return (struct cpuid_out){ONES, ONES, ONES, ONES};
	}
}

static void learn(uint64_t xcr0)
{
	cpuid_init(host, xcr0, 2000000);
}

static void be(const char *vendor)
{
	hw.vendor = vendor;
	hw.max_basic = 0x20;
	hw.max_extended = 0x80000028;
	hw.phys_bits = 46;
	hw.linear_bits = 57;
	hw.f1_ecx = hw.f1_edx = hw.f7_ebx = hw.f7_ecx = hw.e1_ecx = hw.e1_edx = ONES;
	learn(AVX512_ON);
}

static struct cpuid_query query = {.vcpu_count = 1};

static struct cpuid_out ask(uint32_t leaf, uint32_t subleaf)
{
	query.leaf = leaf;
	query.subleaf = subleaf;
	return cpuid_guest(&query);
}

static void assert_zero(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_out r = ask(leaf, subleaf);

	assert_int_equal(r.eax | r.ebx | r.ecx | r.edx, 0);
}

static void as(uint32_t count, uint32_t id)
{
	query.vcpu_count = count;
	query.apic_id = id;
}

static void tear_down(void)
{
	query = (struct cpuid_query){.vcpu_count = 1};
}

static void vendor_and_limits(void **s)
{
	static const char *const vendors[] = {INTEL, AMD, "HygonGenuine"};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(vendors); i++) {
		char name[13] = "";
		struct cpuid_out r;

		be(vendors[i]);
		r = ask(0, 0);
		memcpy(name, &r.ebx, 4);
		memcpy(name + 4, &r.edx, 4);
		memcpy(name + 8, &r.ecx, 4);
		assert_string_equal(name, vendors[i]);
		assert_int_equal(r.eax, 0x16);
		assert_int_equal(ask(0x80000000, 0).eax, 0x8000001e);
		assert_int_equal(cpuid_guest_is_amd(), i > 0);
	}
	hw.max_basic = 0xd;
	hw.max_extended = 0x80000008;
	learn(AVX512_ON);
	assert_int_equal(ask(0, 0).eax, 0xd);
	assert_int_equal(ask(0x80000000, 0).eax, 0x80000008);
}

static void hidden_features(void **s)
{
	static const char *const vendors[] = {INTEL, AMD};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(vendors); i++) {
		struct cpuid_out r;

		be(vendors[i]);
		r = ask(1, 0);
		assert_false(r.ecx & (BIT(3) /* MONITOR */ | BIT(5) /* VMX */ | BIT(6) /* SMX */ |
				      BIT(15) /* PDCM */ | BIT(2) /* DTES64 */ | BIT(27) /* OSXSAVE */));
		assert_false(r.edx & (BIT(21) /* DS */ | BIT(22) /* ACPI */ | BIT(29) /* TM */));
		assert_int_equal(r.ecx & (BIT(21) | BIT(24) | BIT(31)), BIT(21) | BIT(24) | BIT(31));
		r = ask(7, 0);
		assert_false(r.ebx & (BIT(2) /* SGX */ | BIT(4) /* HLE */ | BIT(11) /* RTM */ | BIT(14)));
		assert_false(r.ecx & (BIT(3) /* PKU */ | BIT(7) /* CET */ | BIT(16) /* LA57 */));
		assert_int_equal(r.eax, 0);
		assert_zero(7, 1);
		r = ask(0x80000001, 0);
		assert_false(r.ecx & (BIT(2) /* SVM */ | BIT(10) /* IBS */ | BIT(22) /* TOPOEXT */ |
				      BIT(29) /* MONITORX */));
		assert_zero(5, 0);
		assert_zero(0x8000000a, 0);
		assert_int_equal(ask(6, 0).eax, BIT(2));
		assert_int_equal(ask(0x80000007, 0).edx, BIT(8));
	}
}

/* A host without a feature does not get it by our masks. */
static void nothing_is_invented(void **s)
{
	struct cpuid_out r;

	(void)s;
	be(INTEL);
	hw.f1_ecx = hw.f1_edx = hw.f7_ebx = hw.f7_ecx = hw.e1_ecx = hw.e1_edx = 0;
	learn(AVX512_ON);
	r = ask(1, 0);
	assert_int_equal(r.ecx, BIT(21) | BIT(24) | BIT(31));
	assert_int_equal(r.edx, 0);
	r = ask(7, 0);
	assert_int_equal(r.ebx | r.ecx, 0);
	r = ask(0x80000001, 0);
	assert_int_equal(r.ecx | r.edx, 0);
	assert_int_equal(cpuid_guest_cr4_allowed(), 0x7ff);
	assert_false(cpuid_guest_page1g());
}

static void unknown_leaves(void **s)
{
	static const uint32_t leaves[] = {3, 5, 8, 9, 0xa, 0xc, 0xe, 0xf, 0x10, 0x12, 0x14, 0x17, 0x18,
					  0x1a, 0x1c, 0x1f, 0x20, 0x21, 0x1000, 0x3fffffff, 0x40000002,
					  0x400000ff, 0x40000101, 0x4000ffff, 0x50000000, 0x7fffffff,
					  0x80000009, 0x8000000a, 0x80000019, 0x8000001a, 0x8000001b,
					  0x8000001d, 0x8000001e, 0x8000001f, 0x80000028, 0x80000029,
					  0x8fffffff, 0xc0000000, 0xffffffff};

	(void)s;
	be(AMD);
	for (unsigned i = 0; i < ARRAY_SIZE(leaves); i++) {
		assert_zero(leaves[i], 0);
		assert_zero(leaves[i], 1);
		assert_zero(leaves[i], ONES);
	}
	/* What the host does not have is not asked for. */
	hw.max_basic = 1;
	hw.max_extended = 0x80000001;
	learn(AVX512_ON);
	assert_zero(7, 0);
	assert_zero(0xb, 0);
	assert_zero(0xd, 0);
	assert_zero(0x80000008, 0);
	assert_int_equal(cpuid_guest_maxphyaddr(), 36);
	assert_int_equal(cpuid_guest_cr4_allowed() & CR4_SMEP, 0);
}

static unsigned bits_for(uint32_t n)
{
	unsigned b = 0;

	while (1u << b < n)
		b++;
	return b;
}

/* One package of single-threaded cores, whichever leaf is asked. */
static void topology_of(uint32_t count, uint32_t id)
{
	unsigned bits = bits_for(count);
	struct cpuid_out r;

	as(count, id);
	r = ask(1, 0);
	assert_int_equal(r.ebx >> 24, id);
	assert_int_equal(r.ebx >> 16 & 0xff, 1u << bits);
	assert_int_equal(r.ebx & 0xff00, 0x800);
	assert_int_equal(!!(r.edx & BIT(28)), count > 1);
	for (uint32_t i = 0; i < 4; i++) {
		r = ask(4, i);
		assert_int_equal(r.eax >> 26, (1u << bits) - 1);
		assert_int_equal(r.eax >> 14 & 0xfff, i == 3 ? (1u << bits) - 1 : 0);
		assert_int_equal(r.eax & 0x1f, (cache(i).eax) & 0x1f);
	}
	assert_zero(4, 4);
	r = ask(0xb, 0);
	assert_int_equal(r.eax, 0);
	assert_int_equal(r.ebx, 1);
	assert_int_equal(r.ecx, 1 << 8);
	assert_int_equal(r.edx, id);
	r = ask(0xb, 1);
	assert_int_equal(r.eax, bits);
	assert_int_equal(r.ebx, count);
	assert_int_equal(r.ecx, 2 << 8 | 1);
	assert_int_equal(r.edx, id);
	r = ask(0xb, 2);
	assert_int_equal(r.eax | r.ebx, 0);
	assert_int_equal(r.ecx, 2);
	assert_int_equal(r.edx, id);
	r = ask(0x80000008, 0);
	assert_int_equal(r.ecx, cpuid_guest_is_amd() ? (count - 1) | bits << 12 : 0);
	/* CmpLegacy only with more than one core. */
	assert_int_equal(!!(ask(0x80000001, 0).ecx & BIT(1)), cpuid_guest_is_amd() && count > 1);
}

static void topology(void **s)
{
	static const char *const vendors[] = {INTEL, AMD};

	(void)s;
	for (unsigned v = 0; v < ARRAY_SIZE(vendors); v++) {
		be(vendors[v]);
		for (uint32_t count = 1; count <= 32; count++)
			for (uint32_t id = 0; id < count; id++)
				topology_of(count, id);
	}
	tear_down();
}

static void address_sizes(void **s)
{
	struct cpuid_out r;

	(void)s;
	be(INTEL);
	r = ask(0x80000008, 0);
	assert_int_equal(r.eax & 0xff, 46);
	assert_int_equal(cpuid_guest_maxphyaddr(), 46);
	/* CR4.LA57 is not to be had, so there are no 57 bits. */
	assert_int_equal(r.eax >> 8 & 0xff, 48);
	assert_int_equal(r.eax >> 16, 0);
	hw.phys_bits = 52;
	learn(AVX512_ON);
	assert_int_equal(ask(0x80000008, 0).eax & 0xff, 48);
}

static void osxsave_follows_cr4(void **s)
{
	(void)s;
	be(INTEL);
	query.cr4 = CR4_OSXSAVE;
	assert_true(ask(1, 0).ecx & BIT(27));
	tear_down();
	assert_false(ask(1, 0).ecx & BIT(27));
}

static void vectors_need_their_state(void **s)
{
	const uint32_t avx = BIT(12) | BIT(28) | BIT(29);

	(void)s;
	be(AMD);
	assert_int_equal(ask(1, 0).ecx & avx, avx);
	assert_int_equal(ask(7, 0).ebx & (BIT(5) | BIT(16)), BIT(5) | BIT(16));
	learn(AVX_ON);
	assert_int_equal(ask(1, 0).ecx & avx, avx);
	assert_int_equal(ask(7, 0).ebx & (BIT(5) | BIT(16)), BIT(5));
	assert_zero(0xd, 5);
	assert_int_equal(ask(0xd, 0).eax, 7);
	assert_int_equal(ask(0xd, 0).edx, 0);
	learn(3);
	assert_int_equal(ask(1, 0).ecx & avx, 0);
	assert_int_equal(ask(7, 0).ebx & (BIT(5) | BIT(16)), 0);
	assert_int_equal(ask(7, 0).ecx & (BIT(9) | BIT(10)), 0);
	assert_int_equal(ask(0x80000001, 0).ecx & (BIT(11) | BIT(16)), 0);
	assert_zero(0xd, 2);
	assert_int_equal(ask(0xd, 1).eax, 7); /* XSAVES is not to be had */
	assert_int_equal(ask(0xd, 1).ecx | ask(0xd, 1).edx, 0);
	assert_zero(0xd, 63);
	assert_zero(0xd, ONES);
	tear_down();
}

static void control_bits(void **s)
{
	(void)s;
	be(INTEL);
	assert_int_equal(cpuid_guest_cr4_allowed(), 0x7ff | CR4_PCIDE | CR4_OSXSAVE | CR4_FSGSBASE |
							    CR4_SMEP | CR4_SMAP | CR4_UMIP);
	assert_int_equal(cpuid_guest_efer_allowed(),
			 EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE | EFER_FFXSR);
	assert_true(cpuid_guest_page1g());
}

static void hypervisor_leaves(void **s)
{
	struct cpuid_out r;

	(void)s;
	be(INTEL);
	r = ask(0x40000000, 0);
	assert_memory_equal(&r.ebx, "KVMKVMKVM\0\0\0", 12);
	assert_int_equal(r.eax, 0x40000010);
	r = ask(0x40000001, 0);
	assert_int_equal(r.eax, BIT(0) | BIT(1) | BIT(3) | BIT(24));
	assert_int_equal(r.ebx | r.ecx | r.edx, 0);
	r = ask(0x40000010, 0);
	assert_int_equal(r.eax, 2000000);
	assert_int_equal(r.ebx, 1000000);
	r = ask(0x40000100, 0);
	assert_memory_equal(&r.ebx, "FaultlineHV\0", 12);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(vendor_and_limits),   cmocka_unit_test(hidden_features),
		cmocka_unit_test(nothing_is_invented), cmocka_unit_test(unknown_leaves),
		cmocka_unit_test(topology),	       cmocka_unit_test(address_sizes),
		cmocka_unit_test(osxsave_follows_cr4), cmocka_unit_test(vectors_need_their_state),
		cmocka_unit_test(control_bits),	       cmocka_unit_test(hypervisor_leaves),
	};
	return cmocka_run_group_tests_name("cpuid", t, NULL, NULL);
}
