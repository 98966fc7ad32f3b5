/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_inject: event injection, windows and blocking.
 * Spec: SDM 3C 25.4.2, 25.8.3, 26.3.1.5, 27.6, 28.2.3, 28.2.4.
 */
#include "vmx/vmx.h"

static uint32_t interruptibility(struct vmx_vcpu *s)
{
	if (!s->interruptibility_known) {
		s->interruptibility = vmread32(VMCS32_GUEST_INTERRUPTIBILITY_STATE);
		s->interruptibility_known = true;
	}
	return s->interruptibility;
}

static void set_interruptibility(struct vmx_vcpu *s, uint32_t value)
{
	if (interruptibility(s) == value)
		return;
	vmwrite32(VMCS32_GUEST_INTERRUPTIBILITY_STATE, value);
	s->interruptibility = value;
}

void vmx_inject(struct vcpu *v, const struct hv_event *e)
{
	struct vmx_vcpu *s = vmx_of(v);

	if (!e->valid) {
		if (s->injecting)
			vmwrite32(VMCS32_VM_ENTRY_INTERRUPTION_INFORMATION, 0);
		s->injecting = false;
		return;
	}
	/* An NMI whose delivery an exit interrupted blocks NMIs already, and entry objects. */
	if (e->type == EVENT_NMI)
		set_interruptibility(s, interruptibility(s) & ~INTERRUPTIBILITY_NMI);
	vmwrite32(VMCS32_VM_ENTRY_INTERRUPTION_INFORMATION,
		  VMX_EVENT_VALID | (uint32_t)(e->type & 7) << 8 | e->vector |
			  (e->has_error ? VMX_EVENT_ERROR_VALID : 0));
	if (e->has_error)
		vmwrite32(VMCS32_VM_ENTRY_EXCEPTION_ERROR_CODE, e->error);
	if (e->type >= EVENT_SOFT_INT)
		vmwrite32(VMCS32_VM_ENTRY_INSTRUCTION_LENGTH, e->insn_len);
	s->injecting = true;
}

void vmx_want_window(struct vcpu *v, bool irq, bool nmi)
{
	struct vmx_vcpu *s = vmx_of(v);
	uint32_t c = vmx_caps.cpu | (irq ? CPU_INTERRUPT_WINDOW : 0) | (nmi ? CPU_NMI_WINDOW : 0);

	if (c == s->cpu_controls)
		return;
	vmwrite32(VMCS32_PRIMARY_PROCESSOR_BASED_CONTROLS, c);
	s->cpu_controls = c;
}

uint32_t vmx_get_blocking(struct vcpu *v)
{
	uint32_t i = interruptibility(vmx_of(v));

	return (i & (INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS) ? BLOCK_IRQ_SHADOW : 0) |
	       (i & INTERRUPTIBILITY_NMI ? BLOCK_NMI : 0);
}

void vmx_set_blocking(struct vcpu *v, uint32_t block)
{
	const uint32_t shadows = INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS;
	struct vmx_vcpu *s = vmx_of(v);
	uint32_t i = interruptibility(s) & ~INTERRUPTIBILITY_NMI;

	if (!(block & BLOCK_IRQ_SHADOW))
		i &= ~shadows;
	else if (!(i & shadows))
		/* With IF clear, entry takes only the shadow of MOV SS. */
		i |= v->regs.rflags & RFLAGS_IF ? INTERRUPTIBILITY_STI : INTERRUPTIBILITY_MOV_SS;
	if (block & BLOCK_NMI)
		i |= INTERRUPTIBILITY_NMI;
	set_interruptibility(s, i);
}

void vmx_inject_after_exit(struct vcpu *v)
{
	struct vmx_vcpu *s = vmx_of(v);

	s->injecting = false; /* every exit clears the valid bit */
	s->interruptibility_known = false;
	if (vmx_exit_iret_unblocked_nmi(&s->raw))
		set_interruptibility(s, interruptibility(s) | INTERRUPTIBILITY_NMI);
}
