/* SPDX-License-Identifier: BSD-2-Clause */
/* firmware: calls of UEFI's run-time services. */
#include "hv/firmware.h"

#include "hv/cpu.h"
#include "hv/lock.h"
#include "hv/log.h"
#include "hv/saved.h"
#include "mm/paging.h"

#define EFI_ERROR_BIT	     BIT64(63)
#define EFI_UNSUPPORTED	     (EFI_ERROR_BIT | 3)
#define EFI_WRITE_PROTECTED  (EFI_ERROR_BIT | 8)
#define EFI_OUT_OF_RESOURCES (EFI_ERROR_BIT | 9)
#define EFI_NOT_FOUND	     (EFI_ERROR_BIT | 14)

#define NON_VOLATILE_BOOT_RUNTIME 7 /* UEFI 8.2 */

/* hv/trap_entry.S: calls @fn on tables @cr3; a fault's value if it comes back by firmware_fault. */
uint64_t firmware_call(uint64_t fn, const uint64_t arg[5], uint64_t cr3);
extern char firmware_fault[];
extern uint64_t firmware_stack;

static uint64_t reset_system, set_variable __attribute__((section(".data.ro_after_init")));
static struct lock call_lock;
static struct cpu *calling;
static bool broken; /* it has faulted, and may have left anything behind */

void firmware_init(const struct handoff *h)
{
	if (h->runtime_cut || paging_init_firmware(h)) {
		log_warn("firmware: no memory for its run-time services: nothing can be saved");
		return;
	}
	reset_system = h->reset_system;
	set_variable = h->set_variable;
}

static uint64_t call(uint64_t fn, const uint64_t arg[5])
{
	uint64_t r = EFI_UNSUPPORTED;

	lock(&call_lock);
	if (fn && !broken) {
		WRITE_ONCE(calling, this_cpu());
		r = firmware_call(fn, arg, paging_firmware_cr3());
		WRITE_ONCE(calling, NULL);
	}
	unlock(&call_lock);
	return r;
}

bool firmware_faulted(struct trap_frame *f)
{
	if (READ_ONCE(calling) != this_cpu())
		return false;
	log_err("firmware: exception %llu at %llx in its run-time services: not called again",
		(unsigned long long)f->vector, (unsigned long long)f->rip);
	broken = true;
	f->rip = (uint64_t)firmware_fault;
	f->rsp = firmware_stack;
	return true;
}

enum hv_status firmware_set_variable(const uint16_t *name, const void *data, size_t len)
{
	static const uint8_t vendor[16] = SAVED_VENDOR;
	uint64_t r = call(set_variable, (uint64_t[5]){ (uint64_t)name, (uint64_t)vendor,
						       NON_VOLATILE_BOOT_RUNTIME, len, (uint64_t)data });

	switch (r) {
	case 0:
		return HV_OK;
	case EFI_UNSUPPORTED:
	case EFI_WRITE_PROTECTED:
		return HV_NOTSUP;
	case EFI_OUT_OF_RESOURCES:
		return HV_NOMEM;
	case EFI_NOT_FOUND:
		return HV_NOENT;
	default:
		return HV_IO;
	}
}

void firmware_reset(enum firmware_reset how)
{
	if (reset_system && !paging_widen_firmware())
		call(reset_system, (uint64_t[5]){ how });
}
