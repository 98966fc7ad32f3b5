/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest: what the small test guests share: serial output, TAP, exception
 * catching, fresh memory, the local APIC, other CPUs.
 *
 * One guest, written once, runs on both back ends and prints the same TAP.
 */
#pragma once

#include "hv/base.h"
#include "hv/io.h"
#include "hv/state.h"

/* ---- output --------------------------------------------------------------- */

void guest_printf(const char *f, ...) __printf(1, 2);

/* One TAP line; @name must not depend on the machine. */
void ok(bool good, const char *name, ...) __printf(2, 3);
/* The same, with what was seen and what was wanted as a comment when they differ. */
void is(uint64_t seen, uint64_t want, const char *name, ...) __printf(3, 4);
/* A test that this CPU cannot do: counted as passed, with the reason. */
void skip(const char *name, const char *why);

/* What follows @word on the command line, in multiboot's information at @info, or NULL. */
const char *guest_asked_for(uint32_t info, const char *word);

/* Prints the plan and ends the VM: by the exit port, else by ACPI power-off. */
_Noreturn void guest_end(void);
/* Ends it as failed. */
_Noreturn void bail_out(const char *why);

/* ---- exceptions ------------------------------------------------------------ */

struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

struct caught {
	bool any;
	uint8_t vector;
	uint32_t error;
	uint64_t rip, cr2, rflags;
};

/*
 * Runs an instruction (an asm string with operands, as in __asm__) and tells
 * which exception it raised, if any; execution goes on behind it.
 */
#define CATCH(c, insn, ...)                                                         \
	do {                                                                        \
		catch_begin(&(c));                                                  \
		__asm__ volatile("lea 77f(%%rip), %%r15\n"                          \
				 "mov %%r15, catch_resume(%%rip)\n" insn "\n77:\n"  \
				 __VA_ARGS__);                                      \
		catch_end(&(c));                                                    \
	} while (0)

/*
 * Was it a #GP for the gate of @vector (SDM 3A 6.13: IDT bit, and EXT when an
 * exception or interrupt was being delivered)?  QEMU 7.2 computes the index of
 * a 64-bit gate wrongly and never sets EXT; that is taken too.
 */
static inline bool caught_gate(const struct caught *c, unsigned vector, bool ext)
{
	return c->any && c->vector == VEC_GP &&
	       (c->error == vector * 8 + 2 + ext || c->error == vector * 16 + 2);
}

void catch_begin(struct caught *c);
void catch_end(struct caught *c);
extern uint64_t catch_resume;

/* Called for every interrupt vector from 32 on; @f may be changed. */
typedef void (*irq_fn)(struct frame *f);
void irq_handler(uint8_t vector, irq_fn fn);
void nmi_handler(irq_fn fn);
/* How often each vector arrived, on all CPUs. */
extern volatile uint32_t irq_count[256];

/* The IDT in use, and loading another one. */
struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
};
extern struct gate idt[256];
void load_idt(void *base, uint16_t limit);
void load_default_idt(void);

/* ---- memory ---------------------------------------------------------------- */

/* Pages that nobody has touched yet, so the hypervisor has no frame for them. */
void *fresh_pages(unsigned n);
/* The boot page tables: makes the 4 KiB page at @va map @pa with @flags (splits 2 MiB). */
void map_page(uint64_t va, uint64_t pa, uint64_t flags);

/* ---- local APIC, in whichever mode it is ------------------------------------ */

uint32_t apic_read(uint32_t offset);
void apic_write(uint32_t offset, uint32_t val);
void apic_icr(uint32_t dest, uint32_t command);
void apic_enable(void);
void apic_use_x2apic(void);
bool apic_in_x2apic(void);
void apic_eoi(void);

/* ---- the other CPUs ---------------------------------------------------------- */

unsigned cpu_count(void);
/* Starts them all; they wait for work. */
void smp_start(void);
/* Runs fn(cpu) on one other CPU (1 to count - 1), or waits until it is done. */
void smp_run(unsigned cpu, void (*fn)(unsigned cpu));
void smp_wait(unsigned cpu);
unsigned smp_started(void);

/* Spins until *@v reaches @want; false after @ms by the PM timer. */
bool wait_for(volatile uint32_t *v, uint32_t want, unsigned ms);
uint64_t now_us(void);
void delay_us(uint64_t us);

/* ---- the tests, in the order they run ---------------------------------------- */

void test_exits(void);
void test_exceptions(void);
void test_demand(void);
void test_msr(void);
void test_ports(void);
void test_mmio(void);
void test_timers(void);
void test_legacy_irq(void);
void test_smp(void);
void test_fpu(void);
void test_clock(void);
/* Not a test: a VM whose second CPU interrupts its first one for ever. */
_Noreturn void make_noise(void);
/* Instead of all others: memory under a hypervisor that works on it, for @seconds. */
_Noreturn void test_memory(unsigned seconds);
/* Last: takes a CPU away for good. */
void test_init(void);
