/* SPDX-License-Identifier: BSD-2-Clause */
/* test_exits: instructions that leave the guest, and what they leave behind. */
#include "tests/guest/guest.h"

static void test_cpuid(void)
{
	struct cpuid_regs r = cpuid(0x40000000, 0);
	uint32_t max = cpuid(0, 0).eax, max_ext = cpuid(0x80000000, 0).eax;

	is(r.ebx, 0x4b4d564b, "cpuid: KVM signature");
	ok(r.eax >= 0x40000001, "cpuid: KVM leaves");
	is(cpuid(0x40000100, 0).ebx, 0x6c756146, "cpuid: own signature");
	ok(cpuid(1, 0).ecx & BIT(31), "cpuid: hypervisor bit");
	ok(!(cpuid(1, 0).ecx & BIT(5)), "cpuid: no VMX");
	ok(!(cpuid(0x80000001, 0).ecx & BIT(2)), "cpuid: no SVM");
	ok(cpuid(1, 0).ecx & BIT(21), "cpuid: x2APIC");
	is(cpuid(1, 0).ebx >> 24, 0, "cpuid: initial APIC ID");
	is(cpuid(0xb, 0).edx, 0, "cpuid: x2APIC ID");
	r = cpuid(max + 1, 0);
	is(r.eax | r.ebx | r.ecx | r.edx, 0, "cpuid: beyond the last basic leaf");
	r = cpuid(max_ext + 1, 0);
	is(r.eax | r.ebx | r.ecx | r.edx, 0, "cpuid: beyond the last extended leaf");
	write_cr4(read_cr4() | CR4_OSXSAVE);
	ok(cpuid(1, 0).ecx & BIT(27), "cpuid: OSXSAVE follows CR4");
	write_cr4(read_cr4() & ~CR4_OSXSAVE);
	ok(!(cpuid(1, 0).ecx & BIT(27)), "cpuid: OSXSAVE follows CR4 back");
}

/* CPUID zero-extends; the prefixes that it ignores count in its length. */
static void test_prefixes(void)
{
	uint64_t a = ~0ULL, c = 0, marker = 0;

	a = 0xffffffff40000000ULL;
	__asm__ volatile("cpuid; mov $1, %2"
			 : "+a"(a), "+c"(c), "+r"(marker) : : "rbx", "rdx");
	is(a >> 32, 0, "cpuid: upper halves are cleared");
	a = 0x40000000;
	marker = 0;
	__asm__ volatile(".byte 0x66, 0x2e, 0x48, 0x0f, 0xa2\n mov $1, %2"
			 : "+a"(a), "+c"(c), "+r"(marker) : : "rbx", "rdx");
	is(marker, 1, "cpuid: with prefixes");
}

static void test_hypercall(void)
{
	struct caught c;
	uint64_t a = 1;

	/* The vendor's own is a hypercall, the other vendor's an undefined instruction. */
	CATCH(c, "vmcall", : "+a"(a) : : "r15", "rbx", "rcx", "rdx");
	ok(c.any ? c.vector == VEC_UD : (int64_t)a == -1000, "vmcall: -KVM_ENOSYS or #UD");
	a = 1;
	CATCH(c, "vmmcall", : "+a"(a) : : "r15", "rbx", "rcx", "rdx");
	ok(c.any ? c.vector == VEC_UD : (int64_t)a == -1000, "vmmcall: -KVM_ENOSYS or #UD");
}

static void test_hidden(void)
{
	struct caught c;

	CATCH(c, ".byte 0x0f, 0x01, 0xd8", : : "a"(0x1000) : "r15", "memory");
	is(c.vector, VEC_UD, "vmrun: #UD");
	CATCH(c, ".byte 0x0f, 0x01, 0xc4", : : : "r15", "memory");
	is(c.vector, VEC_UD, "vmxoff: #UD");
	CATCH(c, "monitor", : : "a"(0x400000), "c"(0), "d"(0) : "r15", "memory");
	is(c.vector, VEC_UD, "monitor: #UD");
	CATCH(c, "mwait", : : "a"(0), "c"(0) : "r15", "memory");
	is(c.vector, VEC_UD, "mwait: #UD");
	CATCH(c, "rdpmc", : : "c"(0) : "r15", "rax", "rdx", "memory");
	ok(c.any && c.vector == VEC_GP && !c.error, "rdpmc: #GP(0)");
	CATCH(c, "invd", : : : "r15", "memory");
	ok(!c.any, "invd");
	CATCH(c, "wbinvd", : : : "r15", "memory");
	ok(!c.any, "wbinvd");
	CATCH(c, "pause", : : : "r15", "memory");
	ok(!c.any, "pause");
}

static void try_xcr(uint32_t index, uint64_t val, bool good, const char *what)
{
	uint64_t before = xgetbv();
	struct caught c;

	CATCH(c, "xsetbv", : : "c"(index), "a"((uint32_t)val), "d"((uint32_t)(val >> 32)) : "r15",
	      "memory");
	if (good) {
		ok(!c.any && xgetbv() == val, "xsetbv: %s", what);
		return;
	}
	ok(c.any && c.vector == VEC_GP && !c.error, "xsetbv: %s: #GP(0)", what);
	is(xgetbv(), before, "xsetbv: %s: unchanged", what);
}

static void test_xsetbv(void)
{
	struct caught c;

	CATCH(c, "xsetbv", : : "c"(0), "a"(1), "d"(0) : "r15", "memory");
	is(c.vector, VEC_UD, "xsetbv: #UD without CR4.OSXSAVE");
	write_cr4(read_cr4() | CR4_OSXSAVE);
	try_xcr(0, 3, true, "x87 and SSE");
	try_xcr(0, 0, false, "without x87");
	try_xcr(0, 2, false, "SSE without x87");
	try_xcr(0, 5, false, "AVX without SSE");
	try_xcr(0, 3 | BIT64(62), false, "a reserved bit");
	try_xcr(1, 3, false, "XCR1");
	try_xcr(0, 1, true, "x87 alone");
	is(cpuid(0xd, 0).ebx, 576, "cpuid: XSAVE size follows XCR0");
	try_xcr(0, 3, true, "back");
}

static void test_cr(void)
{
	uint64_t cr0 = read_cr0(), cr4 = read_cr4();
	struct caught c;

	write_cr0(cr0 | CR0_TS);
	ok(read_cr0() & CR0_TS, "cr0: TS set");
	CATCH(c, "fnop", : : : "r15");
	is(c.vector, VEC_NM, "cr0: TS makes #NM");
	__asm__ volatile("clts");
	is(read_cr0(), cr0, "clts");
	__asm__ volatile("lmsw %w0" : : "r"((uint16_t)(cr0 | CR0_TS)));
	ok(read_cr0() & CR0_TS, "lmsw sets TS");
	__asm__ volatile("lmsw %w0" : : "r"((uint16_t)0));
	ok(read_cr0() & CR0_PE, "lmsw does not clear PE");
	write_cr0(cr0);
	CATCH(c, "mov %0, %%cr0", : : "r"(cr0 & ~CR0_PE) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr0: PG without PE: #GP");
	CATCH(c, "mov %0, %%cr0", : : "r"((cr0 | CR0_NW) & ~CR0_CD) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr0: NW without CD: #GP");
	CATCH(c, "mov %0, %%cr0", : : "r"(cr0 | BIT64(32)) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr0: upper half: #GP");
	write_cr0(cr0 | CR0_CD);
	ok(read_cr0() & CR0_CD, "cr0: CD reads back");
	write_cr0(cr0);
	CATCH(c, "mov %0, %%cr4", : : "r"(cr4 | CR4_VMXE) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr4: VMXE is not there: #GP");
	CATCH(c, "mov %0, %%cr4", : : "r"(cr4 | BIT64(63)) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr4: reserved: #GP");
	CATCH(c, "mov %0, %%cr4", : : "r"(cr4 & ~CR4_PAE) : "r15", "memory");
	ok(c.any && c.vector == VEC_GP, "cr4: PAE off in long mode: #GP");
	is(read_cr4(), cr4, "cr4: unchanged");
	write_cr4(cr4 ^ CR4_PGE);
	is(read_cr4(), cr4 ^ CR4_PGE, "cr4: PGE");
	write_cr4(cr4);
}

static void test_cr8(void)
{
	struct caught c;
	uint64_t v;

	__asm__ volatile("mov %0, %%cr8" : : "r"(5ULL));
	__asm__ volatile("mov %%cr8, %0" : "=r"(v));
	is(v, 5, "cr8 reads back");
	is(apic_read(0x80), 0x50, "cr8 is the APIC's TPR");
	CATCH(c, "mov %0, %%cr8", : : "r"(16ULL) : "r15");
	ok(c.any && c.vector == VEC_GP, "cr8: reserved: #GP");
	__asm__ volatile("mov %0, %%cr8" : : "r"(0ULL));
}

void test_exits(void)
{
	test_cpuid();
	test_prefixes();
	test_hypercall();
	test_hidden();
	test_xsetbv();
	test_cr();
	test_cr8();
}
