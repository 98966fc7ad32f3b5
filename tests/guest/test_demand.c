/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_demand: everything that the CPU reads or writes by itself while it
 * delivers an event lies in memory that has no frame yet: the event must not
 * be lost, repeated or delivered with other data.
 */
#include "tests/guest/guest.h"

void guest_set_ist3(uint64_t top);
extern uint64_t boot_gdt[], boot_pml4[], boot_pdpt[];

static volatile uint32_t taken;
static volatile uint64_t taken_error;

static void on_irq(struct frame *f)
{
	taken++;
	taken_error = f->error;
	apic_eoi();
}

static void send_self(uint8_t vector)
{
	apic_icr(0, 0x44000u | vector);
}

/* Runs @insn with the stack at the top of a fresh page. */
#define ON_STACK(top, insn, ...)                                             \
	__asm__ volatile("mov %%rsp, %%r14\n mov %0, %%rsp\n" insn           \
			 "\n mov %%r14, %%rsp" : : "r"(top), ##__VA_ARGS__ : "r14", "memory", "cc")

static void test_stack(void)
{
	char *page = fresh_pages(2);

	irq_handler(0x61, on_irq);
	taken = 0;
	send_self(0x61);
	ON_STACK(page + PAGE_SIZE, "sti\n nop\n nop\n cli");
	is(taken, 1, "stack: external interrupt");
	taken = 0;
	ON_STACK(page + 2 * PAGE_SIZE, "int $0x62");
	is(irq_count[0x62], 1, "stack: INT n");
	page = fresh_pages(1);
	ON_STACK(page + 24, "int $0x63"); /* the frame crosses into the page below */
	is(irq_count[0x63], 1, "stack: a frame across two pages");
	irq_handler(0x61, NULL);
}

/* IST 3 points to a fresh page. */
static void test_ist(void)
{
	char *page = fresh_pages(1);
	struct gate saved = idt[VEC_UD];
	struct caught c;

	guest_set_ist3((uint64_t)page + PAGE_SIZE);
	idt[VEC_UD].ist = 3;
	CATCH(c, "ud2", : : : "r15");
	ok(c.any && c.vector == VEC_UD, "IST: exception");
	idt[VEC_UD] = saved;
}

/*
 * The gates from vector 32 on lie in a fresh, thus zero, page: no valid gate, so
 * the delivery that found no frame first must end as #GP that names it.
 */
static void test_idt(void)
{
	char *pages = fresh_pages(2);
	char *base = pages + PAGE_SIZE - 32 * sizeof(struct gate);
	struct caught c;

	memcpy(base, idt, 32 * sizeof(struct gate));
	load_idt(base, 256 * sizeof(struct gate) - 1);
	CATCH(c, "int $0x64", : : : "r15");
	ok(caught_gate(&c, 0x64, false), "IDT: INT n");
	load_default_idt();
	pages = fresh_pages(2);
	base = pages + PAGE_SIZE - 32 * sizeof(struct gate);
	memcpy(base, idt, 32 * sizeof(struct gate));
	send_self(0x65);
	load_idt(base, 256 * sizeof(struct gate) - 1);
	CATCH(c, "sti\n nop\n nop", : : : "r15");
	__asm__ volatile("cli");
	load_default_idt();
	ok(caught_gate(&c, 0x65, true), "IDT: external interrupt");
	apic_eoi();
}

/* The gate's code selector lies in a fresh page of the GDT: an empty descriptor. */
static void test_gdt(void)
{
	char *pages = fresh_pages(2);
	char *base = pages + PAGE_SIZE - 80;
	struct dtable_reg old, new = { 80 + 0xfff, (uint64_t)base };
	struct gate saved = idt[0x66];
	struct caught c;

	memcpy(base, boot_gdt, 80);
	__asm__ volatile("sgdt %0" : "=m"(old));
	__asm__ volatile("lgdt %0" : : "m"(new));
	CATCH(c, "mov %0, %%fs", : : "r"(0x60) : "r15");
	ok(c.any && c.vector == VEC_GP && c.error == 0x60, "GDT: segment load");
	idt[0x66].selector = 0x80;
	CATCH(c, "int $0x66", : : : "r15");
	ok(c.any && c.vector == VEC_GP && c.error == 0x80, "GDT: gate's selector");
	idt[0x66] = saved;
	__asm__ volatile("lgdt %0" : : "m"(old));
}

/* A table of the guest's own paging that has no frame yet reads as empty. */
static void test_page_tables(void)
{
	uint64_t table = (uint64_t)fresh_pages(1), *leaf;
	struct caught c;

	boot_pml4[5] = table | 7;
	CATCH(c, "mov (%0), %%rax", : : "r"(5ULL << 39) : "r15", "rax");
	ok(c.any && c.vector == VEC_PF && c.error == 0 && c.cr2 == 5ULL << 39, "tables: PDPT");
	table = (uint64_t)fresh_pages(1);
	boot_pdpt[7] = table | 7;
	CATCH(c, "mov %%rax, (%0)", : : "r"(7ULL << 30) : "r15", "memory");
	ok(c.any && c.vector == VEC_PF && c.error == 2, "tables: PD");
	leaf = (uint64_t *)table;
	leaf[0] = (uint64_t)fresh_pages(1) | 7;
	CATCH(c, "mov (%0), %%rax", : : "r"(7ULL << 30) : "r15", "rax");
	ok(c.any && c.vector == VEC_PF, "tables: PT");
	boot_pml4[5] = boot_pdpt[7] = 0;
	write_cr3(read_cr3());
}

static void test_data(void)
{
	uint64_t *p = fresh_pages(4), sum = 0, count;
	uint8_t *end;

	for (unsigned i = 0; i < 4 * 512; i++)
		sum |= p[i];
	is(sum, 0, "data: fresh memory is zero");
	p = fresh_pages(2);
	*(volatile uint64_t *)((char *)p + PAGE_SIZE - 4) = 0x1122334455667788ULL;
	is(*(uint64_t *)((char *)p + PAGE_SIZE - 4), 0x1122334455667788ULL, "data: a write across pages");
	p = fresh_pages(1);
	__asm__ volatile("lock incq (%0)" : : "r"(p) : "memory");
	is(*p, 1, "data: locked add");
	p = fresh_pages(3);
	end = (uint8_t *)p;
	count = 3 * PAGE_SIZE;
	__asm__ volatile("rep stosb" : "+D"(end), "+c"(count) : "a"(0x5a) : "memory");
	is(end[-1], 0x5a, "data: REP STOS over pages");
}

/* Code that begins at the end of one fresh page and ends in another. */
static void test_code(void)
{
	static const uint8_t code[] = { 0xb8, 1, 0, 0, 0, /* mov eax, 1 */
					0x31, 0xc9,	  /* xor ecx, ecx */
					0x53, 0x0f, 0xa2, 0x5b, /* push rbx; cpuid; pop rbx */
					0xc3 };
	uint64_t a = 0;

	for (unsigned cut = 1; cut < sizeof(code); cut++) {
		char *p = (char *)fresh_pages(2) + PAGE_SIZE - cut;

		memcpy(p, code, sizeof(code));
		__asm__ volatile("call *%1" : "=a"(a) : "r"(p) : "rcx", "rdx", "memory");
		if (a != cpuid(1, 0).eax)
			break;
	}
	is(a, cpuid(1, 0).eax, "code: CPUID across pages, at every byte");
}

void test_demand(void)
{
	test_stack();
	test_ist();
	test_idt();
	test_gdt();
	test_page_tables();
	test_data();
	test_code();
}
