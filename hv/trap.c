/* SPDX-License-Identifier: BSD-2-Clause */
/* trap: exceptions and interrupts that hit the hypervisor itself. */
#include "hv/trap.h"

#include "drivers/apic.h"
#include "hv/console.h"
#include "hv/monitor/monitor.h"
#include "hv/cpu.h"
#include "hv/firmware.h"
#include "hv/panic.h"
#include "hv/state.h"

struct idt_gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
};
_Static_assert(sizeof(struct idt_gate) == 16, "SDM 3A 6.14.1");

#define GATE_INTERRUPT 0x8e
#define STUB_SIZE      16

extern char trap_stubs[];
extern char trap_try_rdmsr_insn[], trap_try_wrmsr_insn[], trap_try_failed[];

static struct idt_gate idt[256] __attribute__((section(".data.ro_after_init"), aligned(16)));

static uint8_t ist_of(unsigned vector)
{
	switch (vector) {
	case VEC_NMI:
		return TRAP_IST_NMI;
	case VEC_DF:
		return TRAP_IST_DF;
	case VEC_MC:
		return TRAP_IST_MC;
	default:
		return 0;
	}
}

void trap_init(void)
{
	for (unsigned v = 0; v < 256; v++) {
		uint64_t a = (uint64_t)(trap_stubs + v * STUB_SIZE);

		idt[v] = (struct idt_gate){
			.offset_low = (uint16_t)a,
			.selector = SEL_CODE,
			.ist = ist_of(v),
			.type = GATE_INTERRUPT,
			.offset_mid = (uint16_t)(a >> 16),
			.offset_high = (uint32_t)(a >> 32),
		};
	}
}

void trap_load_idt(void)
{
	struct dtable_reg r = { sizeof(idt) - 1, (uint64_t)idt };

	__asm__ volatile("lidt %0" : : "m"(r));
}

static bool guarded(struct trap_frame *f)
{
	if (f->vector != VEC_GP)
		return false;
	if (f->rip != (uint64_t)trap_try_rdmsr_insn && f->rip != (uint64_t)trap_try_wrmsr_insn)
		return false;
	f->rip = (uint64_t)trap_try_failed;
	return true;
}

void trap_dispatch(struct trap_frame *f)
{
	struct cpu *c = this_cpu();

	if (f->vector == VEC_NMI) {
		c->nmi_count++;
		if (panic_in_progress())
			cpu_park();
		return;
	}
	if (f->vector < 32) {
		if (!guarded(f) && !firmware_faulted(f))
			panic_trap(f);
		return;
	}
	c->irqs[f->vector - CPU_IRQ_FIRST]++;
	if (f->vector == HOST_VEC_SPURIOUS)
		return;
	if (f->vector == HOST_VEC_SERIAL) {
		console_rx_interrupt();
		monitor_rx_interrupt();
	}
	if (f->vector == HOST_VEC_TIMER)
		c->tick_count++;
	WRITE_ONCE(c->need_resched, true);
	apic_eoi();
}
