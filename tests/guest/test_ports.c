/* SPDX-License-Identifier: BSD-2-Clause */
/* test_ports: every port at every width, and string I/O. */
#include "tests/guest/guest.h"

#define SCRATCH 0x3ff /* the UART's scratch register */
#define FW_SEL	0x510
#define FW_DATA 0x511

static bool claimed(unsigned port)
{
	static const struct {
		uint16_t first, last;
	} known[] = { { 0x20, 0x21 }, { 0x40, 0x43 }, { 0x60, 0x61 }, { 0x64, 0x64 },
		      { 0x70, 0x71 }, { 0x92, 0x92 }, { 0xa0, 0xa1 }, { 0xf4, 0xf7 },
		      { 0x3f8, 0x3ff }, { 0x4d0, 0x4d1 }, { 0x510, 0x511 }, { 0x600, 0x60b },
		      { 0xcf8, 0xcff } };

	for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
		if (port >= known[i].first && port <= known[i].last)
			return true;
	return false;
}

static void test_sweep(void)
{
	unsigned wrong = 0, upper = 0;

	for (unsigned p = 0; p < 0x10000; p++) {
		uint64_t a = 0x1111222233330000ULL;

		__asm__ volatile("inb %w1, %%al" : "+a"(a) : "d"(p));
		upper += a >> 8 != 0x11112222333300ULL;
		wrong += !claimed(p) && (a & 0xff) != 0xff;
		if (p % 7)
			continue;
		a = 0x1111222233330000ULL;
		__asm__ volatile("inw %w1, %%ax" : "+a"(a) : "d"(p));
		upper += a >> 16 != 0x111122223333ULL;
		wrong += !claimed(p) && !claimed(p + 1) && (a & 0xffff) != 0xffff;
		a = 0x1111222233330000ULL;
		__asm__ volatile("inl %w1, %%eax" : "+a"(a) : "d"(p));
		upper += a >> 32 != 0; /* a 32-bit result clears the upper half */
		wrong += !claimed(p) && !claimed(p + 1) && !claimed(p + 2) && !claimed(p + 3) &&
			 (uint32_t)a != 0xffffffff;
	}
	is(wrong, 0, "ports: nothing there reads all ones");
	is(upper, 0, "ports: IN changes as much of RAX as it reads");
}

static void rep_out(const void *p, uint64_t n)
{
	__asm__ volatile("rep outsb" : "+S"(p), "+c"(n) : "d"(SCRATCH) : "memory");
}

static void test_string(void)
{
	char *pages = (char *)fresh_pages(3), *p = pages + PAGE_SIZE - 3;
	uint64_t n, di;
	struct caught c;

	rep_out("abcdefg", 7);
	is(inb(SCRATCH), 'g', "outs: REP OUTSB");
	/* "QEMU" over and over: the device gives zeros behind it. */
	outw(FW_SEL, 0);
	di = (uint64_t)p;
	n = 6;
	__asm__ volatile("rep insb" : "+D"(di), "+c"(n) : "d"(FW_DATA) : "memory");
	ok(!memcmp(p, "QEMU\0\0", 6), "ins: across a page that has no frame");
	is(n, 0, "ins: RCX is 0");
	is(di, (uint64_t)p + 6, "ins: RDI moved");
	outw(FW_SEL, 0);
	di = (uint64_t)p + 3;
	n = 4;
	__asm__ volatile("std\n rep insb\n cld" : "+D"(di), "+c"(n) : "d"(FW_DATA) : "memory");
	ok(!memcmp(p, "UMEQ", 4), "ins: backwards");
	n = 0;
	di = (uint64_t)p;
	__asm__ volatile("rep insb" : "+D"(di), "+c"(n) : "d"(FW_DATA) : "memory");
	is(di, (uint64_t)p, "ins: a count of 0 does nothing");
	__asm__ volatile("mov %0, %%rsi\n outsl" : : "r"(p), "d"(0x80) : "rsi", "memory");
	ok(true, "outs: a dword to a port that nobody has");
	/* Into a page that the guest itself has not mapped: #PF, and nothing read. */
	map_page((uint64_t)pages + 2 * PAGE_SIZE, 0, 0);
	outw(FW_SEL, 0);
	di = (uint64_t)pages + 2 * PAGE_SIZE - 2;
	n = 4;
	CATCH(c, "rep insb", : "+D"(di), "+c"(n) : "d"(FW_DATA) : "r15", "memory");
	ok(c.any && c.vector == VEC_PF && c.error == 2 &&
	   c.cr2 == (uint64_t)pages + 2 * PAGE_SIZE, "ins: #PF in the middle");
	is(n, 2, "ins: RCX says how much is left");
	is(inb(FW_DATA), 'M', "ins: the faulting element was not read");
	map_page((uint64_t)pages + 2 * PAGE_SIZE, (uint64_t)pages + 2 * PAGE_SIZE, 7);
}

/* 32-bit address size, segment override, and a large transfer. */
static void test_forms(void)
{
	char *buf = fresh_pages(2);
	uint64_t n = 5000, di = (uint64_t)buf;

	outw(FW_SEL, 0);
	__asm__ volatile("addr32 rep insb" : "+D"(di), "+c"(n) : "d"(FW_DATA) : "memory");
	ok(!memcmp(buf, "QEMU", 4) && !buf[4999] && n == 0, "ins: 5000 bytes, 32-bit addresses");
	buf[0] = 'x';
	wrmsr(0xc0000100, (uint64_t)buf);
	__asm__ volatile("xor %%esi, %%esi\n fs outsb" : : "d"(SCRATCH) : "rsi");
	is(inb(SCRATCH), 'x', "outs: FS override");
	wrmsr(0xc0000100, 0);
}

static void test_fw_cfg(void)
{
	outw(FW_SEL, 5);
	is(inb(FW_DATA), cpu_count(), "fw_cfg: CPU count");
	is(inb(FW_DATA), 0, "fw_cfg: upper byte");
	outw(FW_SEL, 0x7777);
	is(inb(FW_DATA), 0, "fw_cfg: unknown key");
}

void test_ports(void)
{
	test_sweep();
	test_string();
	test_forms();
	test_fw_cfg();
}
