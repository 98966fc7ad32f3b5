/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_mutate: what changes, or looks through, the memory of a VM that runs. */
#include "hv/vm_mutate.h"

#include "hv/assert.h"
#include "hv/cpu.h"
#include "hv/guest_mem.h"
#include "hv/vm_memory.h"
#include "mm/age.h"
#include "mm/frame.h"
#include "mm/npt_remove.h"
#include "mm/npt_split.h"

static void begin(struct vm *vm)
{
	/* A vCPU that changes its own VM holds no pointer across this. */
	vm_memory_step_out();
	lock(&vm->mutation);
	this_cpu()->frames.may_fill = true;
}

static void end(struct vm *vm)
{
	this_cpu()->frames.may_fill = false;
	flush_reclaim(&vm->flush);
	unlock(&vm->mutation);
	vm_memory_step_in();
}

/* One past the highest page of RAM that the configuration allows. */
static uint64_t top(const struct vm *vm)
{
	return vm->config.ram_high ? 4 * GIB + vm->config.ram_high : vm->config.ram_low;
}

static enum hv_status check(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	if ((gpa.v | len) & (PAGE_SIZE - 1) || !len)
		return HV_INVAL;
	return gpa.v > top(vm) || len > top(vm) - gpa.v ? HV_RANGE : HV_OK;
}

/* ---- the log ------------------------------------------------------------------- */

enum dirty_mode vm_log_best_mode(const struct vm *vm)
{
	if (!vm->npt.fmt->dirty)
		return DIRTY_PROTECT;
	return vm->npt.fmt->pml ? DIRTY_PML : DIRTY_DBIT;
}

static enum hv_status log_enable(struct vm *vm, enum dirty_mode mode, bool eager)
{
	uint64_t pages = align_up(top(vm) >> PAGE_SHIFT, 64);
	enum hv_status st;

	if (vm->npt.log)
		return HV_EXIST;
	vm->dirty = (struct dirty_log){ mode, pages, hv_pages_alloc(frame_order(dirty_bytes(pages))) };
	if (!vm->dirty.bits)
		return HV_NOMEM;
	st = dirty_enable(&vm->npt, &vm->flush, &vm->dirty, eager);
	return st == HV_NOMEM ? HV_OK : st; /* the first write splits what is still large */
}

enum hv_status vm_log_enable(struct vm *vm, enum dirty_mode mode, bool eager)
{
	enum hv_status st;

	if ((mode != DIRTY_PROTECT && !vm->npt.fmt->dirty) || (mode == DIRTY_PML && !vm->npt.fmt->pml))
		return HV_NOTSUP;
	begin(vm);
	st = log_enable(vm, mode, eager);
	end(vm);
	return st;
}

static bool detach_log(struct vm *vm)
{
	struct dirty_log *log = dirty_disable(&vm->npt, &vm->flush);

	if (log)
		hv_pages_free(log->bits, frame_order(dirty_bytes(log->pages)));
	return log;
}

/* No leaf becomes larger than the VM's may be. */
static uint64_t promote(struct vm *vm, gpa_t gpa, uint64_t len)
{
	if (vm->config.max_leaf_shift < NPT_SHIFT_2M)
		return 0;
	return npt_promote(&vm->npt, &vm->flush, gpa, len);
}

enum hv_status vm_log_disable(struct vm *vm)
{
	bool was_on;

	begin(vm);
	was_on = detach_log(vm);
	if (was_on)
		promote(vm, GPA(0), top(vm));
	end(vm);
	return was_on ? HV_OK : HV_NOENT;
}

void vm_log_drop(struct vm *vm)
{
	begin(vm);
	detach_log(vm);
	end(vm);
}

enum hv_status vm_log_harvest(struct vm *vm, gpa_t gpa, uint64_t len, unsigned flags,
			      uint64_t *bitmap, uint64_t *count)
{
	enum hv_status st;

	if (len > VM_HARVEST_MAX)
		return HV_RANGE;
	begin(vm);
	st = dirty_harvest(&vm->npt, &vm->flush, gpa, len, flags, bitmap, count);
	end(vm);
	return st;
}

/* ---- use ------------------------------------------------------------------------- */

enum hv_status vm_age(struct vm *vm, gpa_t gpa, uint64_t len, uint16_t *used, uint64_t *pages)
{
	enum hv_status st = check(vm, gpa, len);

	if (st)
		return st;
	begin(vm);
	*pages = age_range(&vm->npt, &vm->flush, gpa, len, used);
	end(vm);
	return HV_OK;
}

/* ---- removal ----------------------------------------------------------------------- */

static enum hv_status remove_pages(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count)
{
	enum hv_status st = npt_remove(&vm->npt, &vm->flush, gpa, len, count);

	if (!st)
		__atomic_sub_fetch(&vm->stats.resident, *count * PAGE_SIZE, __ATOMIC_RELAXED);
	return st;
}

enum hv_status vm_discard(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count)
{
	bool everything = !gpa.v && len == BIT64(NPT_GPA_BITS);
	enum hv_status st = everything ? HV_OK : check(vm, gpa, len);

	if (st)
		return st;
	begin(vm);
	st = remove_pages(vm, gpa, len, count);
	end(vm);
	return st;
}

static hpa_t frame_for_move(void *ctx)
{
	struct frame_cache *c = &this_cpu()->frames;
	bool is_clear;
	hpa_t hpa;

	(void)ctx;
	if (!frame_cache_take(c, 0, &hpa, &is_clear))
		return hpa;
	return frame_cache_fill(c) && !frame_cache_take(c, 0, &hpa, &is_clear) ? hpa : HPA_NONE;
}

static void copy_frame(void *ctx, hpa_t to, hpa_t from)
{
	(void)ctx;
	guest_mem_copy_frame(to, from);
}

enum hv_status vm_move(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count)
{
	const struct npt_move_env env = { vm, frame_for_move, copy_frame };
	enum hv_status st = check(vm, gpa, len);

	if (st)
		return st;
	begin(vm);
	st = npt_move(&vm->npt, &vm->flush, gpa, len, &env, count);
	end(vm);
	return st;
}

enum hv_status vm_promote(struct vm *vm, gpa_t gpa, uint64_t len, uint64_t *count)
{
	enum hv_status st = check(vm, gpa, len);

	if (st)
		return st;
	*count = 0;
	begin(vm);
	if (vm->npt.log)
		st = HV_EXIST; /* its writes have to be told apart by page */
	else
		*count = promote(vm, gpa, len);
	end(vm);
	return st;
}

void vm_reclaim(struct vm *vm)
{
	lock(&vm->mutation);
	flush_reclaim_all(&vm->flush);
	unlock(&vm->mutation);
}

/* ---- regions ------------------------------------------------------------------------- */

/* Publishes @map and waits until no fault goes by the old one, which it returns. */
static struct region_map *exchange(struct vm *vm, struct region_map *map)
{
	struct region_map *old = vm->regions;

	__atomic_store_n(&vm->regions, map, __ATOMIC_RELEASE);
	flush_wait_for_root(&vm->flush, flush_begin(&vm->flush));
	return old;
}

/* No table that is looked at goes away meanwhile. */
bool vm_lookup(struct vm *vm, gpa_t gpa, struct npt_leaf *leaf)
{
	bool found;

	begin(vm);
	found = npt_lookup(&vm->npt, gpa, leaf);
	end(vm);
	return found;
}

void vm_copy_regions(struct vm *vm, struct region_map *to)
{
	begin(vm);
	*to = *vm->regions;
	end(vm);
}

static enum hv_status set_region(struct vm *vm, struct region_map *map, gpa_t gpa, uint64_t len,
				 bool ram)
{
	enum hv_status st;
	uint64_t count;

	*map = *vm->regions;
	st = ram ? region_add(map, gpa.v, len, REGION_RAM) : region_remove(map, gpa.v, len);
	if (!st && !ram) {
		/* A leaf across an end is cut first, while everything can still be left as it is. */
		st = npt_split_at(&vm->npt, gpa);
		if (!st)
			st = npt_split_at(&vm->npt, GPA(gpa.v + len));
	}
	if (st)
		return st;
	hv_pages_free(exchange(vm, map), 0);
	/* No fault fills the range any more. */
	if (!ram)
		st = remove_pages(vm, gpa, len, &count);
	HV_ASSERT(!st);
	return HV_OK;
}

enum hv_status vm_set_region(struct vm *vm, gpa_t gpa, uint64_t len, bool ram)
{
	enum hv_status st = check(vm, gpa, len);
	struct region_map *map;

	if (st)
		return st;
	map = hv_pages_alloc(0);
	if (!map)
		return HV_NOMEM;
	begin(vm);
	st = set_region(vm, map, gpa, len, ram);
	end(vm);
	if (st)
		hv_pages_free(map, 0);
	return st;
}
