/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_pml: page-modification logging: the CPU lists the pages whose D bit it sets.
 *
 * Each vCPU has a page of 512 entries, filled downwards.  What an exit finds in
 * it is in the VM's log before the vCPU counts as out of the guest, so whoever
 * has waited for the vCPUs has it all (mm/dirty.c).
 * Spec: SDM 3C 25.6.15, 29.3.6.
 */
#include "hv/vm.h"
#include "vmx/vmx.h"

#define PML_ENTRIES 512

enum hv_status vmx_pml_create(struct vmx_vcpu *s)
{
	if (!vmx_caps.pml)
		return HV_OK;
	s->pml = hv_pages_alloc(0);
	return s->pml ? HV_OK : HV_NOMEM;
}

void vmx_pml_destroy(struct vmx_vcpu *s)
{
	if (s->pml)
		hv_pages_free(s->pml, 0);
}

void vmx_pml_init(const struct vmx_vcpu *s)
{
	if (!s->pml)
		return;
	vmwrite64(VMCS64_PML_ADDRESS, ptr_to_hpa(s->pml).v);
	vmwrite16(VMCS16_PML_INDEX, PML_ENTRIES - 1);
}

void vmx_pml_set(struct vmx_vcpu *s, bool on)
{
	vmwrite32(VMCS32_SECONDARY_PROCESSOR_BASED_CONTROLS, vmx_caps.cpu2 | (on ? CPU2_PML : 0));
	s->pml_on = on;
}

void vmx_pml_drain(struct vcpu *v)
{
	struct dirty_log *log = dirty_log_of(&v->vm->npt);
	uint16_t index = vmread16(VMCS16_PML_INDEX);
	const uint64_t *pml = vmx_of(v)->pml;

	if (index == PML_ENTRIES - 1)
		return;
	/* Below entry 0 the index wraps.  A log that has ended wants nothing any more. */
	for (uint16_t i = (uint16_t)(index + 1); log && i < PML_ENTRIES; i++)
		dirty_mark(log, GPA(pml[i]));
	vmwrite16(VMCS16_PML_INDEX, PML_ENTRIES - 1);
}
