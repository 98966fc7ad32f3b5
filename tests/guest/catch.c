/* SPDX-License-Identifier: BSD-2-Clause */
/* catch: the test guest's IDT, caught exceptions and interrupt handlers. */
#include "tests/guest/guest.h"

void guest_interrupt(struct frame *f);
void guest_set_ist3(uint64_t top);

struct __packed tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint8_t rest[12];
};

extern char guest_stubs[];
extern uint64_t boot_gdt[];
extern char boot_stack_top[];

struct gate idt[256];
uint64_t catch_resume;
volatile uint32_t irq_count[256];

static irq_fn handlers[256];
static struct caught *catching;
static struct tss tss;
static char ist_stack[3][4096] __aligned(16);

static void set_gate(unsigned v, uint8_t type, uint8_t ist)
{
	uint64_t a = (uint64_t)(guest_stubs + v * 16);

	idt[v] = (struct gate){ (uint16_t)a, 0x08, ist, type, (uint16_t)(a >> 16),
				(uint32_t)(a >> 32), 0 };
}

void load_idt(void *base, uint16_t limit)
{
	struct dtable_reg r = { limit, (uint64_t)base };

	__asm__ volatile("lidt %0" : : "m"(r));
}

/* IST 1 is the double fault's, 2 the NMI's; 3 is for the tests. */
void load_default_idt(void)
{
	for (unsigned v = 0; v < 256; v++)
		set_gate(v, v == VEC_BP || v == VEC_OF ? 0xee : 0x8e,
			 v == VEC_DF ? 1 : v == VEC_NMI ? 2 : 0);
	load_idt(idt, sizeof(idt) - 1);
	if (tss.ist[0])
		return;
	/*
	 * Touched once: under QEMU 7.2 a #DF whose own delivery faults is reported
	 * as the exception before it, which no hypervisor can put right.
	 */
	memset(ist_stack, 0, sizeof(ist_stack));
	for (unsigned i = 0; i < 3; i++)
		tss.ist[i] = (uint64_t)ist_stack[i] + sizeof(ist_stack[i]);
	tss.rsp[0] = (uint64_t)boot_stack_top;
	boot_gdt[6] = (sizeof(tss) - 1) | ((uint64_t)&tss & 0xffffff) << 16 | 0x89ULL << 40 |
		      ((uint64_t)&tss >> 24 & 0xff) << 56;
	boot_gdt[7] = (uint64_t)&tss >> 32;
	__asm__ volatile("ltr %w0" : : "r"(0x30));
}

void guest_set_ist3(uint64_t top)
{
	tss.ist[2] = top;
}

void catch_begin(struct caught *c)
{
	*c = (struct caught){ 0 };
	catching = c;
}

void catch_end(struct caught *c)
{
	(void)c;
	catching = NULL;
}

void irq_handler(uint8_t vector, irq_fn fn)
{
	handlers[vector] = fn;
}

void nmi_handler(irq_fn fn)
{
	handlers[VEC_NMI] = fn;
}

void guest_interrupt(struct frame *f)
{
	__atomic_add_fetch(&irq_count[f->vector], 1, __ATOMIC_SEQ_CST);
	if (handlers[f->vector]) {
		handlers[f->vector](f);
		return;
	}
	if (f->vector >= 32) {
		apic_eoi();
		return;
	}
	if (!catching) {
		guest_printf("# exception %llu error %llx rip %llx cr2 %llx rsp %llx\n",
			     (unsigned long long)f->vector, (unsigned long long)f->error,
			     (unsigned long long)f->rip, (unsigned long long)read_cr2(),
			     (unsigned long long)f->rsp);
		bail_out("an exception that no test expects");
	}
	*catching = (struct caught){ true, (uint8_t)f->vector, (uint32_t)f->error, f->rip,
				     read_cr2(), f->rflags };
	f->rip = catch_resume;
	f->cs = 0x08;
	f->ss = 0x10;
	f->rflags &= ~RFLAGS_TF;
}
