/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_memory: a VM's guest-physical memory. */
#include "hv/vm_memory.h"

#include "hv/assert.h"
#include "hv/cpu.h"
#include "hv/guest_mem.h"
#include "hv/lowmem.h"
#include "hv/vm_mutate.h"
#include "mm/frame.h"
#include "mm/paging.h"

static uint64_t *alloc_table(void *ctx)
{
	(void)ctx;
	return frame_cache_take_table(&this_cpu()->frames);
}

static void free_table(void *ctx, uint64_t *t)
{
	(void)ctx;
	frame_cache_give_table(&this_cpu()->frames, t);
}

static const struct npt_env npt_env = {
	.alloc_table = alloc_table,
	.free_table = free_table,
	.offset = DIRECT_MAP_BASE,
};

static enum hv_status alloc_frames(void *ctx, unsigned order, hpa_t *hpa, bool *is_clear)
{
	(void)ctx;
	return frame_cache_take(&this_cpu()->frames, order, hpa, is_clear);
}

static void free_frames(void *ctx, hpa_t hpa, unsigned order)
{
	(void)ctx;
	frame_cache_give(&this_cpu()->frames, hpa, order);
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

enum fault_result vm_memory_fault(struct vm *vm, gpa_t gpa, unsigned access,
				  const struct npt_walk *w)
{
	const struct fault_env env = {
		.ctx = vm,
		.alloc_frames = alloc_frames,
		.free_frames = free_frames,
		.clear_frames = clear_frames,
		.account = account,
	};
	const struct region_map *regions = __atomic_load_n(&vm->regions, __ATOMIC_ACQUIRE);

	return fault_resolve(&vm->npt, regions, gpa, access, vm->config.max_leaf_shift, &env,
			     w);
}

bool vm_memory_refill(void)
{
	struct frame_cache *c = &this_cpu()->frames;

	if (frame_cache_fill(c))
		return true;
	vm_memory_step_out();
	lowmem_gather();
	vm_memory_step_in();
	return frame_cache_fill(c);
}

/* The vCPU that may hold pointers here; one that is parked holds none, and is out for good. */
static struct vcpu *own_vcpu(void)
{
	struct vcpu *v = this_cpu()->running;

	return v && v->state != VCPU_PARKED ? v : NULL;
}

void vm_memory_step_out(void)
{
	struct vcpu *v = own_vcpu();

	if (v)
		flush_leave(&v->vm->flush, v->index, FLUSH_OUT);
}

void vm_memory_step_in(void)
{
	struct vcpu *v = own_vcpu();

	if (v)
		flush_arrive(&v->vm->flush, v->index);
}

/* ---- creation and end --------------------------------------------------------------- */

static void kick(void *ctx, uint32_t slot)
{
	struct vm *vm = ctx;

	vcpu_kick(vm->vcpu[slot], 0);
}

static void retire(void *ctx, unsigned list, enum flush_kind kind, hpa_t hpa, uint64_t pages)
{
	struct vm *vm = ctx;

	if (kind == FLUSH_TABLE)
		frame_list_add_hv(&vm->retired[list], hpa, pages);
	else
		frame_list_add(&vm->retired[list], hpa, pages);
}

static void release(void *ctx, unsigned list)
{
	struct vm *vm = ctx;

	frame_list_free(&vm->retired[list]);
}

static enum hv_status add_regions(struct vm *vm)
{
	const struct config_vm *c = &vm->config;
	enum hv_status st = region_add(vm->regions, 0, c->ram_low, REGION_RAM);

	if (!st && c->ram_high)
		st = region_add(vm->regions, 4 * GIB, c->ram_high, REGION_RAM);
	return st;
}

enum hv_status vm_memory_create(struct vm *vm, uint32_t vcpus)
{
	enum hv_status st;

	vm->flush_env = (struct flush_env){ vm, kick, retire, release };
	flush_init(&vm->flush, vcpus, &vm->flush_env);
	vm->npt.audit = &vm->flush.audit;
	vm->regions = hv_pages_alloc(0);
	if (!vm->regions)
		return HV_NOMEM;
	st = add_regions(vm);
	if (st)
		return st;
	st = npt_create(&vm->npt, vm->npt.fmt, &npt_env);
	if (st && frame_cache_fill(&this_cpu()->frames))
		st = npt_create(&vm->npt, vm->npt.fmt, &npt_env);
	return st;
}

void vm_memory_release(struct vm *vm)
{
	uint64_t count;
	enum hv_status st;

	vm_log_drop(vm);
	st = vm_discard(vm, GPA(0), BIT64(NPT_GPA_BITS), &count);
	HV_ASSERT(!st); /* there is no end that a leaf could cross */
}

static void free_leaf(void *arg, const struct npt_leaf *leaf)
{
	(void)arg;
	guest_frames_free(leaf->hpa, leaf->shift - PAGE_SHIFT);
}

void vm_memory_destroy(struct vm *vm)
{
	if (vm->npt.root)
		vm_memory_release(vm);
	npt_destroy(&vm->npt, free_leaf, NULL);
	if (vm->regions)
		hv_pages_free(vm->regions, 0);
	vm->regions = NULL;
}
