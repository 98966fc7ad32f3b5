/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_inject: event injection, windows and NMI blocking.
 *
 * The VMCB does not tell whether NMIs are blocked, so we remember the injection
 * and intercept IRET.  The intercept comes before the IRET executes: if another
 * NMI waits, the IRET is single-stepped, so that the NMI arrives after it.
 * Spec: APM 2 15.20, 15.21.
 */
#include "svm/svm.h"

void svm_inject(struct vcpu *v, const struct hv_event *e)
{
	struct svm_vcpu *s = svm_of(v);

	s->vmcb->control.eventinj = 0;
	if (!e->valid)
		return;
	s->vmcb->control.eventinj = SVM_EVENT_VALID | (uint64_t)(e->type & 7) << 8 | e->vector |
				    (e->has_error ? SVM_EVENT_ERROR_VALID : 0) |
				    (uint64_t)e->error << 32;
	if (e->type == EVENT_NMI) {
		s->nmi_blocked = true;
		s->iret_seen = false;
		s->vmcb->control.intercept_misc1 |= SVM_INTERCEPT_IRET;
	}
}

static void want_irq_window(struct vmcb_control *c, bool want)
{
	if (want) {
		c->intercept_misc1 |= SVM_INTERCEPT_VINTR;
		c->vintr |= VINTR_V_IRQ | VINTR_V_IGN_TPR | VINTR_PRIO_MAX;
	} else {
		c->intercept_misc1 &= ~SVM_INTERCEPT_VINTR;
		c->vintr &= ~(VINTR_V_IRQ | VINTR_V_IGN_TPR | VINTR_PRIO_MAX);
	}
}

static void start_stepping(struct vcpu *v)
{
	struct svm_vcpu *s = svm_of(v);

	if (s->stepping)
		return;
	s->stepping = true;
	s->guest_tf = v->regs.rflags & RFLAGS_TF;
	v->regs.rflags |= RFLAGS_TF;
	s->vmcb->control.intercept_exceptions |= BIT(VEC_DB);
}

static void stop_stepping(struct vcpu *v)
{
	struct svm_vcpu *s = svm_of(v);

	s->stepping = false;
	s->vmcb->control.intercept_exceptions &= ~BIT(VEC_DB);
	/* After the IRET, TF is what it popped; before it, give the guest's back. */
	if (v->regs.rip == s->iret_rip && !s->guest_tf)
		v->regs.rflags &= ~RFLAGS_TF;
}

void svm_want_window(struct vcpu *v, bool irq, bool nmi)
{
	struct svm_vcpu *s = svm_of(v);

	want_irq_window(&s->vmcb->control, irq);
	if (nmi && s->nmi_blocked && s->iret_seen)
		start_stepping(v);
	else if (nmi && !s->nmi_blocked)
		/* Held off by an interrupt shadow only: that ends after one instruction. */
		want_irq_window(&s->vmcb->control, true);
}

uint32_t svm_get_blocking(struct vcpu *v)
{
	struct svm_vcpu *s = svm_of(v);

	return (s->vmcb->control.interrupt_shadow & 1 ? BLOCK_IRQ_SHADOW : 0) |
	       (s->nmi_blocked ? BLOCK_NMI : 0);
}

void svm_set_blocking(struct vcpu *v, uint32_t block)
{
	struct svm_vcpu *s = svm_of(v);

	s->vmcb->control.interrupt_shadow = block & BLOCK_IRQ_SHADOW ? 1 : 0;
	s->nmi_blocked = block & BLOCK_NMI;
	if (!s->nmi_blocked) {
		s->iret_seen = false;
		s->stepping = false;
		s->vmcb->control.intercept_misc1 &= ~SVM_INTERCEPT_IRET;
		s->vmcb->control.intercept_exceptions &= ~BIT(VEC_DB);
	}
}

static void unblock_nmi(struct vcpu *v)
{
	struct svm_vcpu *s = svm_of(v);

	if (s->stepping)
		stop_stepping(v);
	s->nmi_blocked = false;
	s->iret_seen = false;
}

void svm_inject_after_exit(struct vcpu *v, struct hv_exit *e)
{
	struct svm_vcpu *s = svm_of(v);
	struct vmcb_control *c = &s->vmcb->control;

	c->eventinj = 0;
	if (e->class == EXIT_IRQ_WINDOW)
		want_irq_window(c, false);
	if (e->reason == SVM_EXIT_IRET) {
		c->intercept_misc1 &= ~SVM_INTERCEPT_IRET;
		s->iret_seen = true;
		s->iret_rip = v->regs.rip;
		return;
	}
	if (s->iret_seen && (v->regs.rip != s->iret_rip ||
			     (s->stepping && e->reason == SVM_EXIT_EXCEPTION + VEC_DB))) {
		if (s->stepping && e->reason == SVM_EXIT_EXCEPTION + VEC_DB)
			e->class = EXIT_NMI_WINDOW;
		unblock_nmi(v);
	}
}
