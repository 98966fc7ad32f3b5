/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_memory: a VM's guest-physical memory. */
#include "hv/vm_memory.h"

#include "mm/frame.h"
#include "hv/guest_mem.h"

static uint64_t *alloc_table(void *ctx)
{
	(void)ctx;
	return hv_pages_alloc(0);
}

static void free_table(void *ctx, uint64_t *t)
{
	(void)ctx;
	hv_pages_free(t, 0);
}

static const struct npt_env npt_env = {
	.alloc_table = alloc_table,
	.free_table = free_table,
	.to_hpa = ptr_to_hpa,
	.to_ptr = hpa_to_ptr,
};

static hpa_t alloc_frames(void *ctx, unsigned order)
{
	(void)ctx;
	return guest_frames_alloc(order);
}

static void free_frames(void *ctx, hpa_t hpa, unsigned order)
{
	(void)ctx;
	guest_frames_free(hpa, order);
}

static void clear_frames(void *ctx, hpa_t hpa, unsigned order)
{
	(void)ctx;
	guest_mem_clear_frame(hpa, order);
}

static void account(void *ctx, uint64_t bytes)
{
	struct vm *vm = ctx;

	__atomic_add_fetch(&vm->stats.demand_faults, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&vm->stats.resident, bytes, __ATOMIC_RELAXED);
}

static void kick(void *ctx, uint32_t slot)
{
	struct vm *vm = ctx;

	vcpu_kick(vm->vcpu[slot], 0);
}

static enum hv_status add_regions(struct vm *vm)
{
	const struct config_vm *c = vm->config;
	enum hv_status st = region_add(&vm->regions, 0, c->ram_low, REGION_RAM);

	if (!st && c->ram_high)
		st = region_add(&vm->regions, 4 * GIB, c->ram_high, REGION_RAM);
	return st;
}

enum hv_status vm_memory_create(struct vm *vm, uint32_t vcpus)
{
	enum hv_status st = add_regions(vm);

	flush_init(&vm->flush, vcpus, vm, kick, free_frames);
	return st ? st : npt_create(&vm->npt, vm->npt.fmt, &npt_env);
}

enum fault_result vm_memory_fault(struct vm *vm, gpa_t gpa)
{
	const struct fault_env env = {
		.ctx = vm,
		.alloc_frames = alloc_frames,
		.free_frames = free_frames,
		.clear_frames = clear_frames,
		.account = account,
	};

	return fault_resolve(&vm->npt, &vm->regions, gpa, vm->config->max_leaf_shift, &env);
}

struct removal {
	struct vm *vm;
	uint64_t gen;
};

static void retire(void *arg, const struct npt_leaf *leaf)
{
	struct removal *r = arg;

	r->vm->stats.resident -= BIT64(leaf->shift);
	flush_retire(&r->vm->flush, leaf->hpa, leaf->shift - PAGE_SHIFT, r->gen);
}

void vm_memory_release(struct vm *vm)
{
	struct removal r = { vm, 0 };

	lock(&vm->mutation);
	/* Frames retired below are those whose entries were frozen before gen + 1. */
	r.gen = vm->flush.gen + 1;
	npt_freeze(&vm->npt, GPA(0), BIT64(NPT_GPA_BITS), retire, &r);
	flush_wait(&vm->flush, flush_begin(&vm->flush));
	npt_thaw(&vm->npt, GPA(0), BIT64(NPT_GPA_BITS));
	flush_reclaim(&vm->flush);
	unlock(&vm->mutation);
}

static void free_leaf(void *arg, const struct npt_leaf *leaf)
{
	(void)arg;
	guest_frames_free(leaf->hpa, leaf->shift - PAGE_SHIFT);
}

void vm_memory_destroy(struct vm *vm)
{
	vm_memory_release(vm);
	npt_destroy(&vm->npt, free_leaf, NULL);
	vm->regions.count = 0;
}
