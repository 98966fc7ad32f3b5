/* SPDX-License-Identifier: BSD-2-Clause */
/* vm: which VMs there are; their making and their end. */
#include "hv/vm.h"

#include "hv/log.h"
#include "hv/sched.h"
#include "hv/time.h"
#include "hv/vcpu_live.h"
#include "hv/vm_load.h"
#include "hv/vm_memory.h"
#include "mm/frame.h"

struct vm *vms[CONFIG_MAX_VMS];
enum config_when_idle vm_when_idle;
static uint64_t epoch_at_zero; /* seconds since 1970 when our clock began */

/* For who goes through all VMs while one of them may be destroyed. */
static struct lock vms_lock;

void vm_lock_all(void)
{
	lock(&vms_lock);
}

void vm_unlock_all(void)
{
	unlock(&vms_lock);
}

uint64_t vm_now_ns(const struct vm *vm)
{
	return time_now_ns() - vm->start_ns;
}

struct vm *vm_find(const char *name)
{
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i] && !strcmp(vms[i]->config.name, name))
			return vms[i];
	return NULL;
}

/* ---- making ----------------------------------------------------------------------- */

static void free_vm(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		sched_unplace(vm->vcpu[i]->home);
		vcpu_destroy(vm->vcpu[i]);
		hv_pages_free(vm->vcpu[i], frame_order(sizeof(struct vcpu)));
	}
	vm_memory_destroy(vm);
	hv_pages_free(vm, frame_order(sizeof(*vm)));
}

static enum hv_status create_vcpu(struct vm *vm, unsigned index)
{
	unsigned order = frame_order(sizeof(struct vcpu));
	struct cpu *home = sched_place(vm->config.cpu_mask);
	enum hv_status st = HV_NOMEM;
	struct vcpu *v;

	if (!home)
		return HV_NOENT;
	v = hv_pages_alloc(order);
	if (v)
		st = vcpu_create(v, vm, index, home);
	if (st) {
		sched_unplace(home);
		if (v)
			hv_pages_free(v, order);
		return st;
	}
	vm->vcpu[index] = v;
	vm->vcpu_count = index + 1;
	return HV_OK;
}

/* Everything but its place on the CPUs. */
static enum hv_status build(struct vm *vm, unsigned index, const struct config_vm *c)
{
	enum hv_status st;

	vm->index = index;
	vm->config = *c;
	vm->fmt = *virt_npt_fmt;
	if (c->no_access_bits) {
		vm->fmt.accessed = vm->fmt.dirty = 0;
		vm->fmt.pml = false;
	}
	vm->npt.fmt = &vm->fmt;
	vm->start_ns = time_now_ns();
	vm->tsc_offset = 0 - time_ns_to_tsc(vm->start_ns);
	vm->request = VM_REQ_STOP;
	st = platform_create(vm, epoch_at_zero + vm->start_ns / 1000000000);
	if (!st)
		st = vm_memory_create(vm, c->vcpus);
	for (unsigned i = 0; i < c->vcpus && !st; i++)
		st = create_vcpu(vm, i);
	return st;
}

static bool free_slot(unsigned *index)
{
	for (*index = 0; *index < CONFIG_MAX_VMS; ++*index)
		if (!vms[*index])
			return true;
	return false;
}

enum hv_status vm_create(const struct config_vm *c, struct vm **out, struct hv_error *err)
{
	enum hv_status st;
	unsigned index;
	struct vm *vm;

	if (!virt) {
		hv_error_set(err, "this machine cannot run VMs");
		return HV_NOTSUP;
	}
	if (!free_slot(&index)) {
		hv_error_set(err, "there are %u VMs already", CONFIG_MAX_VMS);
		return HV_NOMEM;
	}
	vcpu_unload_current();
	vm = hv_pages_alloc(frame_order(sizeof(*vm)));
	st = vm ? build(vm, index, c) : HV_NOMEM;
	if (!st) {
		for (uint32_t i = 0; i < vm->vcpu_count; i++)
			sched_add(vm->vcpu[i]);
		vms[index] = *out = vm;
		return HV_OK;
	}
	if (st == HV_NOENT)
		hv_error_set(err, "cpus = mask %llx: this machine has CPUs 0 to %u",
			     (unsigned long long)c->cpu_mask, cpu_count - 1);
	else
		hv_error_set(err, "%s while creating it", hv_status_name(st));
	if (vm)
		free_vm(vm);
	return st;
}

void vm_destroy(struct vm *vm)
{
	vm_lock_all();
	vms[vm->index] = NULL;
	vm_unlock_all();
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		sched_remove(vm->vcpu[i]);
	/* Another VM may come to lie where this one is, and must not pass for it. */
	for (uint32_t i = 0; i < cpu_count; i++)
		if (READ_ONCE(cpus[i]->last_vm) == vm)
			WRITE_ONCE(cpus[i]->last_vm, NULL);
	free_vm(vm);
}

enum hv_status vm_place(struct vm *vm, uint64_t mask)
{
	struct cpu *home = sched_place(mask);
	bool held;

	if (!home)
		return HV_NOENT;
	sched_unplace(home);
	held = vm_hold(vm);
	vm->config.cpu_mask = mask;
	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		struct vcpu *v = vm->vcpu[i];

		sched_remove(v);
		sched_unplace(v->home);
		v->home = sched_place(mask);
		sched_add(v);
	}
	vm_let_go(vm, held);
	return HV_OK;
}

/* ---- at boot -------------------------------------------------------------------------- */

static void create_and_start(const struct config_vm *c)
{
	struct hv_error err = { "" };
	struct vm *vm = NULL;
	enum hv_status st;

	if (c->refused) {
		log_err("vm '%s': not started: %s", c->name, c->why.text);
		return;
	}
	st = vm_create(c, &vm, &err);
	if (!st)
		st = vm_start(vm, &err);
	if (!st)
		return;
	log_err("vm '%s': not started: %s", c->name, err.text);
	if (vm)
		vm_destroy(vm);
}

void vm_init(const struct handoff *h)
{
	epoch_at_zero = h->epoch;
	vm_when_idle = h->config.when_idle;
	vm_load_init(h);
	if (!h->config.vm_count)
		log_warn("vm: none is configured (%s)", h->config_path);
	if (!virt)
		return;
	for (uint32_t i = 0; i < h->config.vm_count; i++)
		create_and_start(&h->config.vm[i]);
	if (!vm_running_count())
		log_warn("vm: no VM is running");
}
