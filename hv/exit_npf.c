/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit_npf: nested page faults.  RAM is filled (mm/fault.c); anything else is an
 * access to a device or to nothing, which is decoded and carried out here.
 */
#include "hv/exit_dispatch.h"
#include "hv/guest_virt.h"
#include "hv/lowmem.h"
#include "hv/vm.h"
#include "hv/vm_memory.h"

#define STRING_BUDGET 4096

static void emulate(struct vcpu *v, const struct hv_exit *e)
{
	unsigned long long gpa = e->npf.gpa.v;
	struct insn_fault f = { 0 };
	struct guest_virt g;
	enum hv_status st;
	char bytes[48];
	struct insn in;

	v->touched_device = true;
	guest_virt_init(&g, v);
	st = guest_virt_fetch(&g, &in);
	if (st == HV_RETRY)
		return;
	if (!st && guest_virt_conclude(v, insn_exec(&in, &v->regs, &g.sregs, &g.env, STRING_BUDGET, &f),
				       &f))
		return;
	guest_virt_bytes(&g, bytes, sizeof(bytes));
	vm_fail(v, "an instruction that accesses %llx is not emulated: %s", gpa, bytes);
}

void exit_npf(struct vcpu *v, const struct hv_exit *e)
{
	unsigned long long gpa = e->npf.gpa.v;

	switch (vm_memory_fault(v->vm, e->npf.gpa, e->npf.access, &v->walk)) {
	case FAULT_RESOLVED:
		break;
	case FAULT_REFILL:
		if (!vm_memory_refill())
			lowmem_pause(v, gpa);
		break;
	case FAULT_DEVICE:
		if (e->npf.access & NPT_EXEC)
			vm_fail(v, "executes at %llx, where it has no memory", gpa);
		else if (e->npf.walk)
			vm_fail(v, "has page tables at %llx, where it has no memory", gpa);
		else if (v->reinject.valid)
			vm_fail(v, "delivers event %u through %llx, where it has no memory",
				v->reinject.vector, gpa);
		else
			emulate(v, e);
		break;
	}
}
