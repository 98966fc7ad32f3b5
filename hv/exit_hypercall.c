/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_hypercall: VMCALL and VMMCALL.  Test guests have calls of their own; others none. */
#include "hv/exit_dispatch.h"
#include "hv/guest_mem.h"
#include "hv/test_call.h"
#include "hv/vm_mutate.h"
#include "mm/frame.h"

#define KVM_ENOSYS 1000
#define SPAN	   (2 * MIB)

/* A status as the guest sees it, or what the call counted. */
static uint64_t result(enum hv_status st, uint64_t count)
{
	return st ? -(uint64_t)st : count;
}

static uint64_t log_enable(struct vm *vm, uint64_t how)
{
	static const enum dirty_mode modes[] = { DIRTY_PROTECT, DIRTY_DBIT, DIRTY_PML };
	uint64_t mode = how & 0xf;

	if (mode > ARRAY_SIZE(modes))
		return result(HV_INVAL, 0);
	return result(vm_log_enable(vm, mode ? modes[mode - 1] : vm_log_best_mode(vm),
				    how & TEST_LOG_EAGER), 0);
}

static enum hv_status harvest_part(struct vm *vm, gpa_t gpa, uint64_t len, gpa_t to, unsigned flags,
				   uint64_t *bitmap, uint64_t *count)
{
	size_t bytes = dirty_bytes(len >> PAGE_SHIFT);
	enum hv_status st = HV_OK;

	if (flags == DIRTY_CLEAR)
		st = guest_mem_read(vm, to, bitmap, bytes);
	if (!st)
		st = vm_log_harvest(vm, gpa, len, flags, bitmap, count);
	if (!st && flags != DIRTY_CLEAR)
		st = guest_mem_write(vm, to, bitmap, bytes);
	return st;
}

static uint64_t harvest(struct vm *vm, uint64_t gpa, uint64_t len, uint64_t to, uint64_t flags)
{
	uint64_t *bitmap, sum = 0, count;
	enum hv_status st = HV_OK;

	if (!len || gpa + len < gpa || flags > (DIRTY_GET | DIRTY_CLEAR))
		return result(HV_INVAL, 0);
	bitmap = hv_pages_alloc(0);
	if (!bitmap)
		return result(HV_NOMEM, 0);
	for (uint64_t n; !st && len; len -= n, gpa += n, to += dirty_bytes(n >> PAGE_SHIFT)) {
		n = min_u64(len, VM_HARVEST_MAX);
		st = harvest_part(vm, GPA(gpa), n, GPA(to), (unsigned)flags, bitmap, &count);
		sum += st ? 0 : count;
	}
	hv_pages_free(bitmap, 0);
	return result(st, sum);
}

static uint64_t age(struct vm *vm, uint64_t gpa, uint64_t len, uint64_t to)
{
	uint16_t *used = to ? hv_pages_alloc(0) : NULL;
	uint64_t pages = 0, spans = (align_up(gpa + len, SPAN) - align_down(gpa, SPAN)) / SPAN;
	enum hv_status st;

	if (to && !used)
		return result(HV_NOMEM, 0);
	st = to && spans > PAGE_SIZE / sizeof(*used) ? HV_RANGE :
						       vm_age(vm, GPA(gpa), len, used, &pages);
	if (!st && to)
		st = guest_mem_write(vm, GPA(to), used, spans * sizeof(*used));
	if (used)
		hv_pages_free(used, 0);
	return result(st, pages);
}

static uint64_t test_call(struct vm *vm, const uint64_t *gpr)
{
	uint64_t a = gpr[GPR_RBX], b = gpr[GPR_RCX], c = gpr[GPR_RDX], count = 0;
	enum hv_status st;

	switch (gpr[GPR_RAX]) {
	case TEST_CALL_LOG_ENABLE:
		return log_enable(vm, a);
	case TEST_CALL_LOG_DISABLE:
		return result(vm_log_disable(vm), 0);
	case TEST_CALL_LOG_HARVEST:
		return harvest(vm, a, b, c, gpr[GPR_RSI]);
	case TEST_CALL_AGE:
		return age(vm, a, b, c);
	case TEST_CALL_DISCARD:
		st = vm_discard(vm, GPA(a), b, &count);
		break;
	case TEST_CALL_MOVE:
		st = vm_move(vm, GPA(a), b, &count);
		break;
	case TEST_CALL_PROMOTE:
		st = vm_promote(vm, GPA(a), b, &count);
		break;
	case TEST_CALL_REGION:
		st = vm_set_region(vm, GPA(a), b, c);
		break;
	default:
		return (uint64_t)-KVM_ENOSYS;
	}
	return result(st, count);
}

/* We offer the KVM interface's CPUID but none of its calls (SDM and APM leave RAX to us). */
void exit_hypercall(struct vcpu *v, const struct hv_exit *e)
{
	unsigned len = exit_insn_len(v, e);

	if (!len)
		return;
	v->regs.gpr[GPR_RAX] = v->vm->config.test_calls ? test_call(v->vm, v->regs.gpr) :
							   (uint64_t)-KVM_ENOSYS;
	vcpu_skip(v, len);
}
