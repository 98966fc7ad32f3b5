/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu: one struct per host CPU, reached through GS.
 *
 * Owns the CPU's descriptor tables, stacks and identity.  Fields in the first
 * part belong to that CPU alone; those after "shared" may be read by others.
 * GS base is re-established by the enter code after every exit (VMX reloads
 * it, SVM by VMLOAD).
 */
#pragma once

#include "hv/base.h"
#include "hv/io.h"
#include "hv/status.h"
#include "hv/trace.h"
#include "mm/addr.h"
#include "mm/frame_cache.h"

#define CPU_MAX 64

#define SEL_CODE 0x08
#define SEL_DATA 0x10
#define SEL_TSS	 0x18

/* Host interrupt vectors. */
enum { HOST_VEC_SERIAL = 0xd0, HOST_VEC_TIMER = 0xe0, HOST_VEC_KICK = 0xe1, HOST_VEC_SPURIOUS = 0xff };

#define CPU_IRQ_FIRST 32
#define CPU_IRQS      (256 - CPU_IRQ_FIRST)

struct __packed tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t iopb;
};
_Static_assert(sizeof(struct tss) == 104, "SDM 3A 8.7");

struct vcpu;
struct vm;

struct cpu {
	struct cpu *self; /* %gs:0 */
	struct vcpu *current;	 /* the vCPU whose state is loaded, or NULL */
	const struct vm *last_vm; /* whose vCPU had the CPU last; only compared */
	struct frame_cache frames;
	struct trace_ring trace; /* of the last exits */
	void *stack_top;
	void *virt;		 /* the back end's per-CPU page(s) */
	uint64_t gdt[5] __aligned(16);
	struct tss tss;
	uint64_t nmi_count;
	uint64_t tick_count;
	uint64_t idle_ns;
	uint64_t irqs[CPU_IRQS]; /* received, by vector */
	/* shared */
	uint32_t id;
	uint32_t apic_id;
	bool online;
	struct vcpu *running; /* the vCPU whose turn it is (hv/sched.c), or NULL */
	bool need_resched; /* set by an interrupt or another CPU, cleared by the run loop */
	bool yield;	   /* a vCPU that is not the running one was woken here */
};

extern struct cpu *cpus[CPU_MAX];
extern uint32_t cpu_count; /* CPUs found and usable; constant after smp_init() */

static inline struct cpu *this_cpu(void)
{
	struct cpu *c;

	__asm__("mov %%gs:0, %0" : "=r"(c));
	return c;
}

/* A zeroed struct cpu with stacks; HV_NOMEM. */
enum hv_status cpu_create(uint32_t id, uint32_t apic_id) __must_check;

/* Loads GDT, TSS, IDT, GS base on the calling CPU. */
void cpu_load(struct cpu *c);

/* Runs fn(arg) on @stack_top, for good. */
_Noreturn void cpu_switch_stack(void *stack_top, void (*fn)(void *), void *arg);

/* Stops the calling CPU: interrupts off, halted for ever. */
_Noreturn void cpu_park(void);
