/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_run: a VM's way between stopped, running and paused. */
#include "hv/console.h"
#include "hv/log.h"
#include "hv/lowmem.h"
#include "hv/machine.h"
#include "hv/monitor/monitor.h"
#include "hv/time.h"
#include "hv/vm.h"
#include "hv/vm_load.h"
#include "hv/vm_memory.h"
#include "mm/frame.h"

#define EARLY_NS	 100000000ULL
#define EARLY_RESETS_MAX 10

const char *vm_state_name(enum vm_state s)
{
	static const char *const names[] = { "stopped", "running", "paused", "waiting for memory" };

	return names[s];
}

/* ---- starting --------------------------------------------------------------------- */

/* All vCPUs are parked: from power-up to the kernel's first instruction. */
static enum hv_status boot(struct vm *vm, struct hv_error *err)
{
	enum hv_status st;

	platform_reset(vm);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_power_up(vm->vcpu[i]);
	st = vm_load(vm, err);
	if (st) {
		if (!err->text[0])
			hv_error_set(err, "%s", hv_status_name(st));
		vm_memory_release(vm);
		return st;
	}
	vm->parked = 0;
	__atomic_store_n(&vm->request, VM_REQ_NONE, __ATOMIC_RELEASE);
	vm->boot_ns = time_now_ns();
	WRITE_ONCE(vm->state, VM_RUNNING);
	return HV_OK;
}

/* After boot(): lets the vCPUs' homes see them. */
static void let_run(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		struct vcpu *v = vm->vcpu[i];

		__atomic_store_n(&v->state, i ? VCPU_WAIT_SIPI : VCPU_RUNNING, __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], 0);
}

enum hv_status vm_start(struct vm *vm, struct hv_error *err)
{
	enum hv_status st;

	*err = (struct hv_error){ "" };
	st = boot(vm, err);
	if (st)
		return st;
	vm->stats.early_resets = 0;
	console_attach(vm->index, vm->config.name);
	log_info("vm '%s': %u vCPUs, %llu MiB, %s", vm->config.name, vm->vcpu_count,
		 (unsigned long long)((vm->config.ram_low + vm->config.ram_high) / MIB),
		 vm->config.kernel);
	monitor_event("vm-started", vm->config.name, "");
	let_run(vm);
	return HV_OK;
}

static enum vm_request request_of(enum config_policy p)
{
	return p == POLICY_STOP ? VM_REQ_STOP : p == POLICY_PAUSE ? VM_REQ_PAUSE : VM_REQ_RESET;
}

enum vm_request vm_on_reboot(const struct vm *vm)
{
	return request_of(vm->config.on_reboot);
}

enum vm_request vm_on_crash(const struct vm *vm)
{
	enum config_policy p = vm->config.on_crash;

	return request_of(p == POLICY_AS_REBOOT ? vm->config.on_reboot : p);
}

/* ---- requests --------------------------------------------------------------------- */

static bool claim(struct vm *vm, enum vm_request r)
{
	uint32_t none = VM_REQ_NONE;

	return __atomic_compare_exchange_n(&vm->request, &none, (uint32_t)r, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static void park_all(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], VCPU_REQ_STOP);
}

void vm_request(struct vm *vm, enum vm_request r, const char *f, ...)
{
	va_list ap;

	if (!claim(vm, r))
		return;
	va_start(ap, f);
	hv_vsnprintf(vm->reason.text, sizeof(vm->reason.text), f, ap);
	va_end(ap);
	park_all(vm);
}

bool vm_hold(struct vm *vm)
{
	enum vm_state starved = VM_STARVED;

	return __atomic_compare_exchange_n(&vm->state, &starved, VM_PAUSED, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

void vm_let_go(struct vm *vm, bool held)
{
	if (held)
		__atomic_store_n(&vm->state, VM_STARVED, __ATOMIC_SEQ_CST);
}

bool vm_order(struct vm *vm, enum vm_request r, const char *why)
{
	if (!claim(vm, r))
		return false;
	hv_error_set(&vm->reason, "%s", why);
	/* A person who resets is not a guest that does so in circles. */
	vm->stats.early_resets = 0;
	/* All parked, and yet it runs: who parked last, or lets it go on, is about to say so. */
	while (READ_ONCE(vm->state) == VM_RUNNING && READ_ONCE(vm->parked) == vm->vcpu_count)
		cpu_relax();
	vm_hold(vm);
	if (READ_ONCE(vm->state) == VM_PAUSED)
		vm_all_parked(vm);
	else
		park_all(vm);
	return true;
}

uint32_t vm_running_count(void)
{
	uint32_t n = 0;

	vm_lock_all();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		n += vms[i] && READ_ONCE(vms[i]->state) == VM_RUNNING;
	vm_unlock_all();
	return n;
}

static bool all_are(enum vm_state a, enum vm_state b)
{
	bool all = true;

	vm_lock_all();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i])
			all &= READ_ONCE(vms[i]->state) == a || READ_ONCE(vms[i]->state) == b;
	vm_unlock_all();
	return all;
}

/* A VM has left off running, and nobody at the console has paused one. */
static void one_less(void)
{
	if (!all_are(VM_STOPPED, VM_STARVED))
		return;
	log_info("vm: no VM is running");
	if (vm_when_idle == WHEN_IDLE_POWEROFF)
		machine_poweroff();
}

static void stop(struct vm *vm)
{
	console_detach(vm->index);
	log_info("vm '%s': stopped: %s", vm->config.name, vm->reason.text);
	monitor_event("vm-stopped", vm->config.name, vm->reason.text);
	/* Last: whoever sees it may destroy the VM. */
	WRITE_ONCE(vm->state, VM_STOPPED);
	lowmem_over();
	one_less();
}

static void pause_vm(struct vm *vm)
{
	bool starved = vm->request == VM_REQ_STARVE;

	log_warn("vm '%s': paused: %s", vm->config.name, vm->reason.text);
	monitor_event("vm-paused", vm->config.name, vm->reason.text);
	__atomic_store_n(&vm->request, VM_REQ_NONE, __ATOMIC_RELEASE);
	__atomic_store_n(&vm->state, starved ? VM_STARVED : VM_PAUSED, __ATOMIC_SEQ_CST);
	if (!starved)
		return;
	/* What came back while the vCPUs parked found nobody to wake. */
	if (guest_frames_freed() != vm->starved_freed)
		vm_resume(vm, VM_STARVED);
	else
		one_less();
}

bool vm_resume(struct vm *vm, enum vm_state from)
{
	if (!__atomic_compare_exchange_n(&vm->state, &from, VM_RUNNING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	WRITE_ONCE(vm->parked, 0);
	log_info("vm '%s': goes on", vm->config.name);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		__atomic_store_n(&vm->vcpu[i]->state, vm->vcpu[i]->parked_from, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], 0);
	return true;
}

/* A guest that resets as soon as it starts would fill the log and a CPU for ever. */
static bool resets_in_circles(struct vm *vm)
{
	vm->stats.early_resets = time_now_ns() - vm->boot_ns < EARLY_NS ? vm->stats.early_resets + 1 : 0;
	return vm->stats.early_resets >= EARLY_RESETS_MAX;
}

static void reset(struct vm *vm)
{
	struct hv_error err = { "" };

	if (resets_in_circles(vm)) {
		log_err("vm '%s': reset %u times in a row at once after its start: given up",
			vm->config.name, EARLY_RESETS_MAX);
		stop(vm);
		return;
	}
	vm->stats.resets++;
	log_info("vm '%s': reset %u: %s, %llu KiB free", vm->config.name, vm->stats.resets,
		 vm->reason.text, (unsigned long long)(lowmem_free() / KIB));
	monitor_event("vm-reset", vm->config.name, vm->reason.text);
	if (!boot(vm, &err)) {
		let_run(vm);
		return;
	}
	hv_error_set(&vm->reason, "cannot reset: %s", err.text);
	stop(vm);
}

void vm_all_parked(struct vm *vm)
{
	if (vm->request == VM_REQ_PAUSE || vm->request == VM_REQ_STARVE) {
		pause_vm(vm);
		return;
	}
	vm_memory_release(vm);
	if (vm->request == VM_REQ_RESET) {
		lowmem_over();
		reset(vm);
	} else {
		stop(vm);
	}
}
