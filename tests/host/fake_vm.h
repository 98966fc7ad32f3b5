/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_vm: nested tables with a flush protocol around them: one vCPU, which is
 * out, and frames that are only counted as they are retired.
 */
#pragma once

#include "tests/host/fake_npt.h"

#include "mm/dirty.h"
#include "mm/flush.h"

#define FAKE_RETIRED 8192

static struct fake_vm {
	struct npt n;
	struct npt_fmt fmt;
	struct flush f;
	unsigned waiting[2]; /* tables on the lists */
	hpa_t table[2][64];
	unsigned frames; /* retired so far, in pages */
	unsigned runs;	 /* by so many calls */
	uint64_t frame_sum; /* of their numbers */
	unsigned released;
	unsigned on_list[2];
	/* Called once, while a flush is waited for: needs the vCPU to be in the guest. */
	void (*in_flush)(void);
} vm;

static inline void fake_vm_kick(void *ctx, uint32_t slot)
{
	void (*in_flush)(void) = vm.in_flush;

	(void)ctx;
	vm.in_flush = NULL;
	if (in_flush)
		in_flush();
	flush_leave(&vm.f, slot, FLUSH_OUT);
}

static inline void fake_vm_retire(void *ctx, unsigned list, enum flush_kind kind, hpa_t hpa,
				  uint64_t pages)
{
	(void)ctx;
	if (kind == FLUSH_TABLE) {
		assert_true(vm.waiting[list] < 64);
		vm.table[list][vm.waiting[list]++] = hpa;
		return;
	}
	vm.runs++;
	vm.frames += (unsigned)pages;
	for (uint64_t i = 0; i < pages; i++)
		vm.frame_sum += (hpa.v >> PAGE_SHIFT) + i;
	vm.on_list[list] += (unsigned)pages;
}

static inline void fake_vm_release(void *ctx, unsigned list)
{
	(void)ctx;
	while (vm.waiting[list])
		fake_npt_release(vm.table[list][--vm.waiting[list]]);
	vm.released += vm.on_list[list];
	vm.on_list[list] = 0;
}

static const struct flush_env fake_vm_env = {NULL, fake_vm_kick, fake_vm_retire, fake_vm_release};

static inline void fake_vm_count(void *arg, const struct npt_leaf *l)
{
	*(uint64_t *)arg += BIT64(l->shift - PAGE_SHIFT);
}

static inline void fake_vm_create(const struct npt_fmt *fmt)
{
	memset(&vm, 0, sizeof(vm));
	vm.fmt = *fmt;
	fake_npt_init();
	flush_init(&vm.f, 1, &fake_vm_env);
	assert_int_equal(npt_create(&vm.n, &vm.fmt, &fake_npt.env), HV_OK);
	vm.n.audit = &vm.f.audit;
}

/* Everything comes back; @pages were still mapped. */
static inline void fake_vm_destroy(uint64_t pages)
{
	uint64_t count = 0;

	flush_reclaim(&vm.f);
	assert_true(flush_reclaim(&vm.f));
	npt_destroy(&vm.n, fake_vm_count, &count);
	assert_int_equal(count, pages);
	assert_int_equal(vm.released, vm.frames);
	assert_int_equal(fake_npt.in_use, 0);
}

static inline void fake_vm_map(uint64_t gpa, uint64_t hpa, unsigned shift, unsigned perms)
{
	assert_int_equal(npt_map(&vm.n, GPA(gpa), shift,
				 npte_leaf(&vm.fmt, HPA(hpa), shift, perms, true)), HV_OK);
}

static inline uint64_t *fake_vm_entry(uint64_t gpa)
{
	unsigned shift;
	uint64_t v;

	return npt_find(&vm.n, GPA(gpa), &shift, &v);
}

static inline enum npte_state fake_vm_state(uint64_t gpa, unsigned want_shift)
{
	unsigned shift;
	uint64_t v;

	npt_find(&vm.n, GPA(gpa), &shift, &v);
	assert_int_equal(shift, want_shift);
	return npte_state(&vm.fmt, v, shift);
}

static inline bool fake_vm_maps(uint64_t gpa, uint64_t hpa)
{
	struct npt_leaf l;

	return npt_lookup(&vm.n, GPA(gpa), &l) && l.hpa.v + (gpa & (BIT64(l.shift) - 1)) == hpa;
}
