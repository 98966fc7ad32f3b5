/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mmio: instructions whose memory operand is a device or nothing; runs in
 * xAPIC mode, with the local APIC's page as the device.
 */
#include "tests/guest/guest.h"

#define APIC	0xfee00000UL
#define LDR	0xd0	/* bits 31:24 are writable */
#define ICR_HI	0x310	/* bits 31:24 */
#define NOWHERE 0xd0000000UL /* below 4 GiB, no RAM, no device */

#define REG(off) (*(volatile uint32_t *)(APIC + (off)))

static void test_forms(void)
{
	uint64_t a;

	REG(ICR_HI) = 0x12000000;
	is(REG(ICR_HI), 0x12000000, "mmio: MOV");
	__asm__ volatile("movl $0x34000000, (%0)" : : "r"(APIC + ICR_HI) : "memory");
	is(REG(ICR_HI), 0x34000000, "mmio: MOV immediate");
	__asm__ volatile("orl $0x03000000, (%0)" : : "r"(APIC + ICR_HI) : "memory");
	is(REG(ICR_HI), 0x37000000, "mmio: OR");
	__asm__ volatile("andl $0x0f000000, (%0)" : : "r"(APIC + ICR_HI) : "memory");
	is(REG(ICR_HI), 0x07000000, "mmio: AND");
	__asm__ volatile("xorl %1, (%0)" : : "r"(APIC + ICR_HI), "r"(0xff000000) : "memory");
	is(REG(ICR_HI), 0xf8000000, "mmio: XOR");
	__asm__ volatile("addl $0x01000000, (%0)" : : "r"(APIC + ICR_HI) : "memory");
	is(REG(ICR_HI), 0xf9000000, "mmio: ADD");
	__asm__ volatile("subl $0x02000000, (%0)" : : "r"(APIC + ICR_HI) : "memory");
	is(REG(ICR_HI), 0xf7000000, "mmio: SUB");
	__asm__ volatile("btsl $27, (%0)" : : "r"(APIC + ICR_HI) : "memory", "cc");
	is(REG(ICR_HI), 0xff000000, "mmio: BTS");
	__asm__ volatile("btrl $24, (%0)" : : "r"(APIC + ICR_HI) : "memory", "cc");
	is(REG(ICR_HI), 0xfe000000, "mmio: BTR");
	a = 0x21000000;
	__asm__ volatile("xchgl %k0, (%1)" : "+r"(a) : "r"(APIC + ICR_HI) : "memory");
	ok(a == 0xfe000000 && REG(ICR_HI) == 0x21000000, "mmio: XCHG");
	a = 0x21000000;
	__asm__ volatile("lock cmpxchgl %2, (%1)" : "+a"(a) : "r"(APIC + ICR_HI), "r"(0x22000000) :
			 "memory", "cc");
	is(REG(ICR_HI), 0x22000000, "mmio: CMPXCHG");
	__asm__ volatile("mov %%eax, %%eax\n movl (%1), %k0" : "=r"(a) : "r"(APIC + ICR_HI));
	is(a, 0x22000000, "mmio: MOV clears the upper half");
	REG(ICR_HI) = 0;
}

static void test_flags(void)
{
	uint8_t z, c;

	REG(ICR_HI) = 0x55000000;
	__asm__ volatile("cmpl $0x55000000, (%1)\n setz %0" : "=r"(z) : "r"(APIC + ICR_HI) : "cc");
	is(z, 1, "mmio: CMP equal");
	__asm__ volatile("cmpl $0x56000000, (%1)\n setc %0" : "=r"(c) : "r"(APIC + ICR_HI) : "cc");
	is(c, 1, "mmio: CMP below");
	__asm__ volatile("testl $0x01000000, (%1)\n setnz %0" : "=r"(z) : "r"(APIC + ICR_HI) : "cc");
	is(z, 1, "mmio: TEST");
	__asm__ volatile("btl $25, (%1)\n setc %0" : "=r"(c) : "r"(APIC + ICR_HI) : "cc");
	is(c, 0, "mmio: BT");
	REG(ICR_HI) = 0;
}

static void test_strings(void)
{
	uint32_t *buf = (uint32_t *)((char *)fresh_pages(2) + PAGE_SIZE - 4);
	uint64_t si, di, n;

	REG(ICR_HI) = 0x42000000;
	si = APIC + ICR_HI;
	di = (uint64_t)buf;
	__asm__ volatile("movsl" : "+S"(si), "+D"(di) : : "memory");
	is(buf[0], 0x42000000, "mmio: MOVS from a device");
	si = (uint64_t)buf;
	di = APIC + LDR;
	__asm__ volatile("movsl" : "+S"(si), "+D"(di) : : "memory");
	is(REG(LDR), 0x42000000, "mmio: MOVS to a device");
	di = APIC + LDR;
	__asm__ volatile("stosl" : "+D"(di) : "a"(0x11000000) : "memory");
	is(REG(LDR), 0x11000000, "mmio: STOS");
	si = APIC + LDR;
	n = 0;
	__asm__ volatile("lodsl" : "+S"(si), "+a"(n));
	is(n, 0x11000000, "mmio: LODS");
	/* All of a page that is not there, into two fresh pages. */
	si = NOWHERE;
	di = (uint64_t)fresh_pages(2) + 100;
	n = PAGE_SIZE;
	__asm__ volatile("rep movsb" : "+S"(si), "+D"(di), "+c"(n) : : "memory");
	ok(!n && ((uint8_t *)di)[-1] == 0xff && ((uint8_t *)di)[-PAGE_SIZE] == 0xff &&
	   !((uint8_t *)di)[0], "mmio: REP MOVSB from nowhere");
	REG(LDR) = 0;
}

static void test_nowhere(void)
{
	is(*(volatile uint8_t *)NOWHERE, 0xff, "nowhere: byte");
	is(*(volatile uint16_t *)(NOWHERE + 1), 0xffff, "nowhere: word, odd address");
	is(*(volatile uint32_t *)(NOWHERE + PAGE_SIZE - 2), 0xffffffff, "nowhere: across pages");
	is(*(volatile uint64_t *)(NOWHERE + 8), ~0ULL, "nowhere: quadword");
	*(volatile uint64_t *)(NOWHERE + 8) = 0;
	is(*(volatile uint64_t *)(NOWHERE + 8), ~0ULL, "nowhere: writes vanish");
}

/* The instruction itself lies across two pages, the second of which has no frame. */
static void test_crossing(void)
{
	static const uint8_t code[] = { 0x8b, 0x87, 0x10, 0x03, 0x00, 0x00, /* mov eax, [rdi+0x310] */
					0xc3 };
	uint64_t a = 0;

	REG(ICR_HI) = 0x77000000;
	for (unsigned cut = 1; cut < sizeof(code); cut++) {
		char *p = (char *)fresh_pages(2) + PAGE_SIZE - cut;

		memcpy(p, code, sizeof(code));
		__asm__ volatile("call *%1" : "=a"(a) : "r"(p), "D"(APIC) : "memory");
		if (a != 0x77000000)
			break;
	}
	is(a, 0x77000000, "mmio: the instruction across pages, at every byte");
	REG(ICR_HI) = 0;
}

static void test_ioapic(void)
{
	volatile uint32_t *sel = (void *)0xfec00000UL, *win = (void *)0xfec00010UL;

	*sel = 1;
	is(*win & 0xff0000, 23u << 16, "ioapic: 24 pins");
	*sel = 0x10 + 2 * 5;
	*win = 0x10055;
	is(*win, 0x10055, "ioapic: redirection reads back");
}

void test_mmio(void)
{
	test_forms();
	test_flags();
	test_strings();
	test_nowhere();
	test_crossing();
	test_ioapic();
}
