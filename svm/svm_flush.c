/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_flush: address-space identifiers.  Each CPU hands out its ASIDs in
 * order; when they are used up a new generation begins with one full flush.
 * Spec: APM 2 15.16.
 */
#include "hv/vm.h"
#include "svm/svm.h"

void svm_flush_cpu_init(struct svm_cpu *c)
{
	c->asid_generation = 1;
	c->next_asid = 1;
}

static void assign(struct svm_cpu *c, struct svm_vcpu *s)
{
	if (c->next_asid == svm_caps.asid_count) {
		c->asid_generation++;
		c->next_asid = 1;
	}
	/* The first user of a generation flushes what earlier ones left. */
	s->vmcb->control.tlb_control = c->next_asid == 1 ? TLB_FLUSH_ALL : TLB_FLUSH_NONE;
	s->vmcb->control.guest_asid = c->next_asid++;
	s->asid_generation = c->asid_generation;
}

void svm_flush_lost(struct vcpu *v)
{
	struct svm_cpu *c = v->home->virt;

	c->next_asid = svm_caps.asid_count;
	svm_of(v)->asid_generation = 0;
}

void svm_flush_now(struct vcpu *v, bool owed)
{
	struct svm_cpu *c = v->home->virt;
	struct svm_vcpu *s = svm_of(v);

	bool fresh = s->asid_generation != c->asid_generation;

	s->vmcb->control.tlb_control = TLB_FLUSH_NONE;
	if (fresh)
		assign(c, s);
	if ((owed || s->paging_changed) && s->vmcb->control.tlb_control == TLB_FLUSH_NONE)
		s->vmcb->control.tlb_control = svm_caps.flush_by_asid ? TLB_FLUSH_ASID :
									TLB_FLUSH_ALL;
	s->paging_changed = false;
	if (s->vmcb->control.tlb_control != TLB_FLUSH_NONE || fresh)
		audit_flushed(&v->vm->flush.audit, v->index);
}
