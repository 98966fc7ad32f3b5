/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_stop: exits after which the VM cannot go on as it was. */
#include "hv/exit_dispatch.h"
#include "hv/vm.h"

void exit_triple_fault(struct vcpu *v, const struct hv_exit *e)
{
	(void)e;
	/* A PC resets; what led to it is worth a record. */
	vm_dump(v, "triple fault");
	vm_request(v->vm, vm_on_crash(v->vm), "triple fault on vcpu %u", v->index);
}

void exit_misconfig(struct vcpu *v, const struct hv_exit *e)
{
	vm_fail(v, "nested entry for %llx is misconfigured", (unsigned long long)e->npf.gpa.v);
}

void exit_entry_failed(struct vcpu *v, const struct hv_exit *e)
{
	vm_fail(v, "the CPU refuses to enter the guest (reason %x)", e->reason);
}

void exit_unknown(struct vcpu *v, const struct hv_exit *e)
{
	vm_fail(v, "unhandled exit %x info %llx %llx", e->reason, (unsigned long long)e->info1,
		(unsigned long long)e->info2);
}
