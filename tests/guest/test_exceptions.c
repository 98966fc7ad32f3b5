/* SPDX-License-Identifier: BSD-2-Clause */
/* test_exceptions: exceptions reach the guest as on bare hardware, also nested ones. */
#include "tests/guest/guest.h"

static void test_simple(void)
{
	struct caught c;
	uint64_t here;

	CATCH(c, "xor %%edx, %%edx\n xor %%ecx, %%ecx\n div %%ecx", : : "a"(1) : "r15", "rcx", "rdx");
	is(c.vector, VEC_DE, "#DE");
	CATCH(c, "ud2", : : : "r15");
	ok(c.any && c.vector == VEC_UD, "#UD");
	CATCH(c, "lea 1f(%%rip), %0\n int3\n1:", : "=&r"(here) : : "r15");
	ok(c.any && c.vector == VEC_BP && c.rip == here, "#BP: RIP is behind INT3");
	CATCH(c, "mov %0, %%ds", : : "r"(0x1003) : "r15");
	ok(c.any && c.vector == VEC_GP && c.error == 0x1000, "#GP with a selector");
	CATCH(c, "mov (%0), %%rax", : : "r"(0x8000000000000000ULL) : "r15", "rax");
	ok(c.any && c.vector == VEC_GP && !c.error, "#GP: not canonical");
	CATCH(c, "int $0x40", : : : "r15");
	ok(!c.any, "INT n returns");
	ok(irq_count[0x40] >= 1, "INT n arrives");
}

/* QEMU 7.2 leaves P clear in the error code of a reserved bit. */
#define PF_P_QUIRK 1u

static void test_page_fault(void)
{
	uint64_t page = (uint64_t)fresh_pages(1);
	struct caught c;

	map_page(page, page, 0);
	CATCH(c, "mov (%0), %%rax", : : "r"(page + 8) : "r15", "rax");
	ok(c.any && c.vector == VEC_PF && c.error == 0 && c.cr2 == page + 8, "#PF: not present");
	map_page(page, page, 1);
	CATCH(c, "mov %%rax, (%0)", : : "r"(page + 16) : "r15", "memory");
	ok(c.any && c.vector == VEC_PF && c.error == 3 && c.cr2 == page + 16, "#PF: read-only");
	map_page(page, page, 3 | BIT64(63));
	CATCH(c, "jmp *%0", : : "r"(page) : "r15", "memory");
	is(c.error, 0x11, "#PF: no-execute");
	is(c.cr2, page, "#PF: no-execute: CR2");
	map_page(page, page, 3 | BIT64(51));
	CATCH(c, "mov (%0), %%rax", : : "r"(page) : "r15", "rax");
	is(c.error & ~PF_P_QUIRK, 8, "#PF: reserved bit");
	map_page(page, page, 7);
}

static volatile uint32_t steps;
static uint64_t step_rip;

static void on_step(struct frame *f)
{
	steps++;
	step_rip = f->rip;
	f->rflags &= ~RFLAGS_TF;
}

/* Single step over an instruction that exits: the trap comes right after it. */
static void test_single_step(void)
{
	uint64_t after;

	irq_handler(VEC_DB, on_step);
	steps = 0;
	__asm__ volatile("pushf\n orl $0x100, (%%rsp)\n popf\n nop" : : : "cc", "memory");
	is(steps, 1, "#DB: one step over NOP");
	steps = 0;
	__asm__ volatile("xor %%eax, %%eax\n pushf\n orl $0x100, (%%rsp)\n popf\n"
			 "cpuid\n"
			 "lea (%%rip), %0\n" : "=r"(after)
			 : : "rax", "rbx", "rcx", "rdx", "cc", "memory");
	ok(steps == 1 && step_rip + 7 == after, "#DB: one step over CPUID, and the trap comes behind it");
	steps = 0;
	__asm__ volatile("pushf\n orl $0x100, (%%rsp)\n popf\n"
			 "movl %1, %%eax\n"
			 "lea (%%rip), %0\n" : "=r"(after)
			 : "m"(*(volatile uint32_t *)0xfee00030) : "rax", "cc", "memory");
	ok(steps == 1 && step_rip + 7 == after, "#DB: one step over an emulated MOV");
	irq_handler(VEC_DB, NULL);
}

/* A fault while #PF is being delivered is a double fault, on its own stack (IST 1). */
static void test_double_fault(void)
{
	struct gate saved = idt[VEC_PF];
	uint64_t page = (uint64_t)fresh_pages(1);
	struct caught c;

	map_page(page, page, 0);
	idt[VEC_PF].type = 0; /* no gate: #GP while delivering #PF */
	CATCH(c, "mov (%0), %%rax", : : "r"(page) : "r15", "rax");
	ok(c.any && c.vector == VEC_DF && c.error == 0, "#PF and #GP: #DF(0)");
	idt[VEC_PF] = saved;
	saved = idt[VEC_GP];
	idt[VEC_GP].type = 0;
	CATCH(c, "mov (%0), %%rax", : : "r"(0x8000000000000000ULL) : "r15", "rax");
	ok(c.any && c.vector == VEC_DF, "#GP and #GP: #DF");
	/* #UD is benign: the second exception is delivered alone. */
	idt[VEC_GP] = saved;
	saved = idt[VEC_UD];
	idt[VEC_UD].type = 0;
	CATCH(c, "ud2", : : : "r15");
	ok(caught_gate(&c, VEC_UD, true), "#UD and #GP: #GP");
	idt[VEC_UD] = saved;
	map_page(page, page, 7);
}

static volatile uint32_t shadow_irqs;
static uint64_t shadow_rip;

static void on_shadow(struct frame *f)
{
	shadow_irqs++;
	shadow_rip = f->rip;
	apic_eoi();
}

/*
 * An interrupt that waits arrives only after the instruction behind STI.  Under
 * QEMU's TCG the hypervisor cannot keep the shadow when a host interrupt falls
 * into it, so one good try of a few is asked for, and no interrupt lost.
 */
#define TRIES 20

static void sti_and_lea(uint64_t *after)
{
	apic_icr(0, 0x44060); /* self */
	__asm__ volatile("sti\n lea 1f(%%rip), %0\n1: cli" : "=r"(*after) : : "memory");
}

/* CPUID exits; the shadow must end with it, not before, not later. */
static void sti_and_cpuid(uint64_t *after)
{
	apic_icr(0, 0x44060);
	__asm__ volatile("sti\n cpuid\n1: lea 1b(%%rip), %0\n cli"
			 : "=r"(*after) : "a"(0) : "rbx", "rcx", "rdx", "memory");
}

static void try_shadow(void (*fn)(uint64_t *), const char *name)
{
	unsigned good = 0;
	uint64_t after;

	irq_handler(0x60, on_shadow);
	shadow_irqs = 0;
	for (int i = 0; i < TRIES; i++) {
		fn(&after);
		good += shadow_rip == after;
	}
	is(shadow_irqs, TRIES, "%s: the interrupt arrives", name);
	ok(good, "%s: after one more instruction", name);
	irq_handler(0x60, NULL);
}

static void test_sti_shadow(void)
{
	try_shadow(sti_and_lea, "STI");
	try_shadow(sti_and_cpuid, "STI and CPUID");
}

static volatile uint32_t nmis, nested_at;

static void on_nmi(struct frame *f)
{
	(void)f;
	if (++nmis == 1) {
		apic_icr(0, 0x44400 & ~0xc0000u); /* NMI to APIC ID 0: must wait for our IRET */
		delay_us(200);
		nested_at = nmis;
	}
}

static void test_nmi(void)
{
	nmi_handler(on_nmi);
	nmis = nested_at = 0;
	apic_icr(0, 0x4400);
	ok(wait_for(&nmis, 2, 2000), "NMI: a second one arrives after IRET");
	is(nested_at, 1, "NMI: blocked while the first is served");
	delay_us(200);
	is(nmis, 2, "NMI: no more");
	nmi_handler(NULL);
}

/*
 * CPUID in the last two bytes below 4 GiB, in 32-bit code: EIP goes on at 0,
 * where a jump leads back to 64-bit mode.
 */
static void test_eip_wraps(void)
{
	extern char wrap_back[];
	uint8_t *top = fresh_pages(1), jump[7] = { 0xea, 0, 0, 0, 0, 0x08, 0 };
	uint32_t back = (uint32_t)(uint64_t)wrap_back;
	uint64_t a = 0x40000100;

	map_page(0xfffff000, (uint64_t)top, 7);
	top[0xffe] = 0x0f;
	top[0xfff] = 0xa2;
	memcpy(jump + 1, &back, 4);
	for (unsigned i = 0; i < sizeof(jump); i++)
		*(volatile uint8_t *)(uint64_t)(0x3000 + i) = jump[i];
	map_page(0, 0x3000, 7);
	__asm__ volatile("mov $0xfffffffe, %%edx\n pushq $0x40\n push %%rdx\n lretq\n"
			 ".globl wrap_back\nwrap_back:"
			 : "+a"(a) : "c"(0) : "rbx", "rdx", "r8", "r9", "r10", "r11", "memory");
	is((uint32_t)a, 0x40000100, "CPUID where EIP wraps");
	map_page(0, 0, 7);
}

void test_exceptions(void)
{
	test_eip_wraps();
	test_simple();
	test_page_fault();
	test_single_step();
	test_double_fault();
	test_sti_shadow();
	test_nmi();
}
