/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_msr: every MSR that can be named, read with sentinels in all registers,
 * and what the ones that a kernel uses must do.
 */
#include "tests/guest/guest.h"

#define SENTINEL 0x5a5aa5a50f0ff0f0ULL

static unsigned readable, broken;

/* An MSR either reads, clearing the upper halves, or raises #GP(0) and changes nothing. */
static void sweep_one(uint32_t msr)
{
	uint64_t a = SENTINEL, c = 0x1234567800000000ULL | msr, d = ~SENTINEL;
	uint64_t b = SENTINEL + 1, si = SENTINEL + 2, di = SENTINEL + 3;
	struct caught k;

	CATCH(k, "rdmsr", : "+a"(a), "+c"(c), "+d"(d), "+b"(b), "+S"(si), "+D"(di) : : "r15");
	if (b != SENTINEL + 1 || si != SENTINEL + 2 || di != SENTINEL + 3 ||
	    c != (0x1234567800000000ULL | msr))
		broken++;
	if (k.any) {
		if (k.vector != VEC_GP || k.error || a != SENTINEL || d != ~SENTINEL)
			broken++;
		return;
	}
	readable++;
	if (a >> 32 || d >> 32)
		broken++;
}

static void test_sweep(void)
{
	static const struct {
		uint32_t first, count;
	} ranges[] = { { 0, 0x2000 }, { 0x40000000, 0x100 }, { 0x4b564d00, 0x100 },
		       { 0xc0000000, 0x2000 }, { 0xc0010000, 0x2000 }, { 0xfffffff0, 0x10 } };

	for (unsigned r = 0; r < ARRAY_SIZE(ranges); r++)
		for (uint32_t i = 0; i < ranges[r].count; i++)
			sweep_one(ranges[r].first + i);
	is(broken, 0, "msr: sweep leaves all other registers alone");
	ok(readable > 50, "msr: sweep finds the ones that exist");
}

static void refused(uint32_t msr, uint64_t val, const char *what)
{
	struct caught c;

	CATCH(c, "wrmsr", : : "c"(msr), "a"((uint32_t)val), "d"((uint32_t)(val >> 32)) : "r15",
	      "memory");
	ok(c.any && c.vector == VEC_GP && !c.error, "msr: %s: #GP(0)", what);
}

static void kept(uint32_t msr, uint64_t val, const char *what)
{
	uint64_t old = rdmsr(msr);
	struct caught c;

	CATCH(c, "wrmsr", : : "c"(msr), "a"((uint32_t)val), "d"((uint32_t)(val >> 32)) : "r15",
	      "memory");
	ok(!c.any && rdmsr(msr) == val, "msr: %s reads back", what);
	wrmsr(msr, old);
}

static void test_known(void)
{
	uint64_t efer = rdmsr(0xc0000080), t;

	refused(0x12345678, 0, "unknown");
	refused(0xfe, 0, "MTRRcap is read-only");
	refused(0xc0000080, efer | BIT64(12), "EFER.SVME");
	refused(0xc0000080, efer & ~EFER_LME, "EFER.LME with paging on");
	refused(0xc0000080, efer | BIT64(63), "EFER reserved");
	refused(0x277, 0x0203040506000701ULL, "PAT with type 2 and 3");
	refused(0x200, 0x8000000000000002ULL, "MTRR base, bad type");
	refused(0x1b, 0xfee00900ULL | BIT64(63), "APIC base reserved");
	kept(0x277, 0x0007040600070406ULL, "PAT");
	kept(0x174, 8, "SYSENTER_CS");
	kept(0x175, 0x123456789abcULL, "SYSENTER_ESP");
	kept(0x176, 0x7fff12345678ULL, "SYSENTER_EIP");
	kept(0xc0000081, 0x0010000800000000ULL, "STAR");
	kept(0xc0000082, 0xffffffff81000000ULL, "LSTAR");
	kept(0xc0000084, 0x47700, "SFMASK");
	kept(0xc0000100, 0x7f0011223344ULL, "FS base");
	kept(0xc0000102, 0xffff888000001000ULL, "KERNEL_GS_BASE");
	kept(0x2ff, 0xc06, "MTRR default type");
	kept(0x3b, 0x1000, "TSC_ADJUST");
	t = rdtsc();
	wrmsr(0x10, 0x123456789000ULL);
	ok(rdtsc() - 0x123456789000ULL < 1000000000ULL, "msr: TSC can be set");
	wrmsr(0x10, t + 1000000);
	wrmsr(0x3b, 0);
	ok(rdtsc() >= t, "msr: TSC_ADJUST 0 brings the TSC back");
}

/* Sets CS, SS and RIP as SYSCALL must, which shows that the MSRs reach the CPU. */
static void test_syscall(void)
{
	extern char syscall_landing[];
	uint64_t star = rdmsr(0xc0000081), lstar = rdmsr(0xc0000082), rip = 0, flags = 0;

	wrmsr(0xc0000081, 0x0008ULL << 32);
	wrmsr(0xc0000082, (uint64_t)syscall_landing);
	wrmsr(0xc0000084, RFLAGS_IF);
	__asm__ volatile("syscall\n"
			 ".globl syscall_landing\nsyscall_landing:\n"
			 : "=c"(rip) : : "r11", "memory");
	__asm__ volatile("mov %%r11, %0" : "=r"(flags));
	is(rip, (uint64_t)syscall_landing, "msr: SYSCALL lands where LSTAR says");
	wrmsr(0xc0000081, star);
	wrmsr(0xc0000082, lstar);
	(void)flags;
}

void test_msr(void)
{
	test_sweep();
	test_known();
	test_syscall();
}
