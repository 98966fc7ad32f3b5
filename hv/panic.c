/* SPDX-License-Identifier: BSD-2-Clause */
/* panic: the one way for the hypervisor to die. */
#include "hv/panic.h"

#include "drivers/apic.h"
#include "hv/assert.h"
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/fmt.h"
#include "hv/trace.h"
#include "hv/trap.h"

static bool panicking;

bool panic_in_progress(void)
{
	return __atomic_load_n(&panicking, __ATOMIC_ACQUIRE);
}

static void say(const char *f, ...) __printf(1, 2);
static void say(const char *f, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	console_panic_write(line);
}

static void begin(void)
{
	irq_disable();
	if (__atomic_exchange_n(&panicking, true, __ATOMIC_ACQ_REL))
		cpu_park();
	apic_nmi_others();
}

static _Noreturn void finish(void)
{
	for (uint32_t i = 0; i < cpu_count; i++)
		if (cpus[i])
			trace_print_last(cpus[i]->id, say);
	say("panic: the machine is stopped; reset it\n");
	cpu_park();
}

void hv_panic(const char *f, ...)
{
	char text[200];
	va_list ap;

	begin();
	va_start(ap, f);
	hv_vsnprintf(text, sizeof(text), f, ap);
	va_end(ap);
	say("\npanic: cpu %u: %s\n", this_cpu()->id, text);
	say("  at %p\n", __builtin_return_address(0));
	finish();
}

void panic_trap(const struct trap_frame *f)
{
	extern char ImageBase[];

	begin();
	say("\npanic: cpu %u: exception %llu error %llx in the hypervisor\n", this_cpu()->id,
	    (unsigned long long)f->vector, (unsigned long long)f->error);
	say("  rip %016llx (image+%llx) rsp %016llx rflags %08llx cr2 %016llx\n",
	    (unsigned long long)f->rip, (unsigned long long)(f->rip - (uint64_t)ImageBase),
	    (unsigned long long)f->rsp, (unsigned long long)f->rflags,
	    (unsigned long long)read_cr2());
	say("  rax %016llx rbx %016llx rcx %016llx rdx %016llx\n", (unsigned long long)f->rax,
	    (unsigned long long)f->rbx, (unsigned long long)f->rcx, (unsigned long long)f->rdx);
	say("  rsi %016llx rdi %016llx rbp %016llx r8  %016llx\n", (unsigned long long)f->rsi,
	    (unsigned long long)f->rdi, (unsigned long long)f->rbp, (unsigned long long)f->r8);
	say("  r9  %016llx r10 %016llx r11 %016llx r12 %016llx\n", (unsigned long long)f->r9,
	    (unsigned long long)f->r10, (unsigned long long)f->r11, (unsigned long long)f->r12);
	say("  r13 %016llx r14 %016llx r15 %016llx\n", (unsigned long long)f->r13,
	    (unsigned long long)f->r14, (unsigned long long)f->r15);
	finish();
}

void hv_assert_fail(const char *expr, const char *file, int line)
{
	hv_panic("%s:%d: assertion failed: %s", file, line, expr);
}

void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	hv_panic("stack overwritten");
}
