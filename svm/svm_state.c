/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svm_state: the VMCB's save area to and from struct hv_sregs.
 * Spec: APM 2 15.5.1, appendix B.
 */
#include "svm/svm.h"

static void get_seg(const struct vmcb_seg *s, struct hv_segment *o)
{
	o->selector = s->selector;
	o->attr = svm_seg_attr(s);
	o->limit = s->limit;
	o->base = s->base;
}

static void set_seg(const struct hv_segment *s, struct vmcb_seg *o)
{
	uint32_t attr = s->attr & SEG_ATTR_UNUSABLE ? s->attr & ~SEG_ATTR_P : s->attr;

	*o = (struct vmcb_seg){
		.selector = s->selector,
		.attrib = (uint16_t)((attr & 0xff) | (attr >> 4 & 0xf00)),
		.limit = s->limit,
		.base = s->base,
	};
}

static struct vmcb_seg *seg_of(struct vmcb_save *s, unsigned i)
{
	struct vmcb_seg *const map[SEG_COUNT] = {
		[SEG_ES] = &s->es, [SEG_CS] = &s->cs, [SEG_SS] = &s->ss, [SEG_DS] = &s->ds,
		[SEG_FS] = &s->fs, [SEG_GS] = &s->gs, [SEG_LDTR] = &s->ldtr, [SEG_TR] = &s->tr,
	};

	return map[i];
}

void svm_get_sregs(struct vcpu *v, struct hv_sregs *o)
{
	struct vmcb_save *s = &svm_of(v)->vmcb->save;

	for (unsigned i = 0; i < SEG_COUNT; i++)
		get_seg(seg_of(s, i), &o->seg[i]);
	o->gdtr = (struct hv_dtable){ s->gdtr.base, (uint16_t)s->gdtr.limit };
	o->idtr = (struct hv_dtable){ s->idtr.base, (uint16_t)s->idtr.limit };
	o->cr0 = s->cr0;
	o->cr2 = s->cr2;
	o->cr3 = s->cr3;
	o->cr4 = s->cr4;
	o->efer = s->efer & ~EFER_SVME;
	o->dr6 = s->dr6;
	o->dr7 = s->dr7;
	o->pending_debug = 0;
	o->cpl = s->cpl;
}

void svm_set_sregs(struct vcpu *v, const struct hv_sregs *o)
{
	struct vmcb_save *s = &svm_of(v)->vmcb->save;

	/* A change of paging leaves translations behind that only a flush removes. */
	if (s->cr0 != o->cr0 || s->cr3 != o->cr3 || s->cr4 != o->cr4 || s->efer != (o->efer | EFER_SVME))
		svm_of(v)->paging_changed = true;
	for (unsigned i = 0; i < SEG_COUNT; i++)
		set_seg(&o->seg[i], seg_of(s, i));
	s->gdtr = (struct vmcb_seg){ .limit = o->gdtr.limit, .base = o->gdtr.base };
	s->idtr = (struct vmcb_seg){ .limit = o->idtr.limit, .base = o->idtr.base };
	s->cr0 = o->cr0;
	s->cr2 = o->cr2;
	s->cr3 = o->cr3;
	s->cr4 = o->cr4;
	s->efer = o->efer | EFER_SVME;
	s->dr6 = o->dr6;
	s->dr7 = o->dr7;
	s->cpl = o->cpl;
}
