/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_dispatch: from an exit's class to its handler. */
#include "hv/exit_dispatch.h"

#include "hv/guest_virt.h"

static void (*const handlers[])(struct vcpu *v, const struct hv_exit *e) = {
	[EXIT_INTR] = exit_interrupted,
	[EXIT_HOST_NMI] = exit_nothing,
	[EXIT_TIMER] = exit_interrupted,
	[EXIT_NPF] = exit_npf,
	[EXIT_IO] = exit_io,
	[EXIT_CPUID] = exit_cpuid,
	[EXIT_HLT] = exit_hlt,
	[EXIT_RDMSR] = exit_rdmsr,
	[EXIT_WRMSR] = exit_wrmsr,
	[EXIT_CR] = exit_cr,
	[EXIT_XSETBV] = exit_xsetbv,
	[EXIT_INVD] = exit_invd,
	[EXIT_HYPERCALL] = exit_hypercall,
	[EXIT_UNDEFINED] = exit_undefined,
	[EXIT_GENERAL] = exit_general,
	[EXIT_EXCEPTION] = exit_exception,
	[EXIT_IRQ_WINDOW] = exit_nothing,
	[EXIT_NMI_WINDOW] = exit_nothing,
	[EXIT_TRIPLE_FAULT] = exit_triple_fault,
	[EXIT_LOG_FULL] = exit_nothing,
	[EXIT_MISCONFIG] = exit_misconfig,
	[EXIT_ENTRY_FAILED] = exit_entry_failed,
	[EXIT_UNKNOWN] = exit_unknown,
};
_Static_assert(ARRAY_SIZE(handlers) == EXIT_CLASS_COUNT, "every class has a handler");

void exit_dispatch(struct vcpu *v, const struct hv_exit *e)
{
	handlers[e->class](v, e);
}

static __attribute__((noinline)) unsigned decode_len(struct vcpu *v)
{
	struct guest_virt g;

	guest_virt_init(&g, v);
	return guest_virt_insn_len(&g);
}

unsigned exit_insn_len(struct vcpu *v, const struct hv_exit *e)
{
	return e->insn_len ? e->insn_len : decode_len(v);
}

/*
 * QEMU's TCG forgets at VMRUN that the guest is in the shadow of an STI.  Then
 * an interrupt that waits would be delivered before the HLT behind the STI, and
 * the guest would sleep through what its handler just made it ready for.  So the
 * HLT is carried out here; on other CPUs that is merely one exit less.
 */
void exit_interrupted(struct vcpu *v, const struct hv_exit *e)
{
	struct guest_virt g;
	struct insn in;

	(void)e;
	if (!(virt->get_blocking(v) & BLOCK_IRQ_SHADOW))
		return;
	guest_virt_init(&g, v);
	if (guest_virt_fetch(&g, &in) || in.op != INSN_HLT)
		return;
	vcpu_halt(v, in.len);
}

/* What only brought us here, or whose work the run loop does anyway. */
void exit_nothing(struct vcpu *v, const struct hv_exit *e)
{
	(void)v;
	(void)e;
}
