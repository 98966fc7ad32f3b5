/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_flush: which translations a vCPU's entries use, and their invalidation.
 *
 * INVEPT drops what was derived from the nested tables, INVVPID what was derived
 * from the guest's own.  The guest's MOV CR3, INVLPG and CR4.PGE need no help;
 * paging changes that we make on its behalf do.
 * Spec: SDM 3C 25.6.11, 29.4.
 */
#include "hv/config.h"
#include "hv/panic.h"
#include "hv/vm.h"
#include "mm/frame.h"
#include "vmx/vmx.h"

#define EPTP_MEMTYPE_WB 6ULL
#define EPTP_WALK_4	(3ULL << 3) /* length minus 1 */
#define EPTP_AD		BIT64(6)

_Static_assert(CONFIG_MAX_VMS *CONFIG_MAX_VCPUS < 0xffff, "a VPID has 16 bits");

uint64_t vmx_eptp(const struct vcpu *v)
{
	return ptr_to_hpa(v->vm->npt.root).v | EPTP_MEMTYPE_WB | EPTP_WALK_4 |
	       (v->vm->fmt.accessed ? EPTP_AD : 0);
}

uint16_t vmx_vpid(const struct vcpu *v)
{
	if (!vmx_caps.vpid)
		return 0;
	return (uint16_t)(v->vm->index * CONFIG_MAX_VCPUS + v->index + 1);
}

static void flush_nested(const struct vcpu *v)
{
	uint64_t type = vmx_caps.invept_single ? INVEPT_SINGLE_CONTEXT : INVEPT_ALL_CONTEXTS;

	if (!invept(type, vmx_eptp(v)))
		hv_panic("vmx: INVEPT %llu of %llx failed", (unsigned long long)type,
			 (unsigned long long)vmx_eptp(v));
}

static void flush_linear(const struct vmx_vcpu *s)
{
	uint64_t type = vmx_caps.invvpid_single ? INVVPID_SINGLE_CONTEXT : INVVPID_ALL_CONTEXTS;

	/* Without a VPID every entry and exit does it. */
	if (s->vpid && !invvpid(type, s->vpid))
		hv_panic("vmx: INVVPID %llu of %u failed", (unsigned long long)type, s->vpid);
}

void vmx_flush_before_entry(struct vcpu *v, bool owed)
{
	struct vmx_vcpu *s = vmx_of(v);

	if (owed || s->flush_all) {
		flush_nested(v);
		audit_flushed(&v->vm->flush.audit, v->index);
	}
	if (s->flush_linear || s->flush_all)
		flush_linear(s);
	s->flush_linear = false;
	s->flush_all = false;
}
