/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu: per-CPU structures, descriptor tables and stacks. */
#include "hv/cpu.h"

#include "hv/trap.h"
#include "mm/frame.h"
#include "mm/paging.h"

#define MSR_GS_BASE 0xc0000101
#define STACK_ORDER 3 /* 8 pages, the lowest a guard */

struct cpu *cpus[CPU_MAX];
uint32_t cpu_count;

static void *alloc_stack(void)
{
	char *s = hv_pages_alloc(STACK_ORDER);

	if (!s)
		return NULL;
	paging_make_guard(s);
	return s + (PAGE_SIZE << STACK_ORDER);
}

static void set_tss_descriptor(struct cpu *c)
{
	uint64_t base = (uint64_t)&c->tss, limit = sizeof(c->tss) - 1;

	c->gdt[SEL_TSS / 8] = limit | (base & 0xffffff) << 16 | 0x89ULL << 40 |
			      (base >> 24 & 0xff) << 56;
	c->gdt[SEL_TSS / 8 + 1] = base >> 32;
}

_Static_assert(sizeof(struct cpu) <= PAGE_SIZE, "one page");

enum hv_status cpu_create(uint32_t id, uint32_t apic_id)
{
	struct cpu *c = hv_pages_alloc(0);

	if (!c)
		return HV_NOMEM;
	c->self = c;
	c->id = id;
	c->apic_id = apic_id;
	frame_cache_init(&c->frames);
	c->gdt[SEL_CODE / 8] = 0x00af9b000000ffff;
	c->gdt[SEL_DATA / 8] = 0x00cf93000000ffff;
	set_tss_descriptor(c);
	c->tss.iopb = sizeof(c->tss);
	c->stack_top = alloc_stack();
	/* NMI, double fault and machine check must not depend on the current stack. */
	for (unsigned i = 0; i < TRAP_IST_COUNT; i++) {
		void *s = alloc_stack();

		if (!s)
			return HV_NOMEM;
		c->tss.ist[i] = (uint64_t)s;
	}
	if (!c->stack_top)
		return HV_NOMEM;
	cpus[id] = c;
	return HV_OK;
}

void cpu_load(struct cpu *c)
{
	struct dtable_reg gdtr = { sizeof(c->gdt) - 1, (uint64_t)c->gdt };

	set_tss_descriptor(c); /* LTR wants it not busy */
	__asm__ volatile("lgdt %0\n"
			 "pushq %1\n"
			 "lea 1f(%%rip), %%rax\n"
			 "push %%rax\n"
			 "lretq\n"
			 "1: mov %2, %%ds\n"
			 "mov %2, %%es\n"
			 "mov %2, %%ss\n"
			 "mov %3, %%fs\n"
			 "mov %3, %%gs\n"
			 "ltr %w4\n"
			 :
			 : "m"(gdtr), "i"(SEL_CODE), "r"(SEL_DATA), "r"(0), "r"(SEL_TSS)
			 : "rax", "memory");
	wrmsr(MSR_GS_BASE, (uint64_t)c);
	trap_load_idt();
}

void cpu_switch_stack(void *stack_top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("mov %0, %%rsp\n"
			 "xor %%ebp, %%ebp\n"
			 "call *%1\n"
			 "ud2"
			 :
			 : "r"(stack_top), "r"(fn), "D"(arg)
			 : "memory");
	__builtin_unreachable();
}

void cpu_park(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}
