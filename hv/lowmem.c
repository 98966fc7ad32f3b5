/* SPDX-License-Identifier: BSD-2-Clause */
/* lowmem: what happens when the frame pool is empty. */
#include "hv/lowmem.h"

#include "hv/cpu.h"
#include "hv/smp.h"
#include "hv/vm.h"
#include "hv/vm_mutate.h"
#include "mm/frame.h"

static uint32_t round; /* of draining; each CPU remembers the last one it served */

void lowmem_serve(void)
{
	struct frame_cache *c = &this_cpu()->frames;
	uint32_t now = __atomic_load_n(&round, __ATOMIC_ACQUIRE);

	if (c->drained == now)
		return;
	frame_cache_drain(c);
	__atomic_store_n(&c->drained, now, __ATOMIC_RELEASE);
}

static void drain_others(void)
{
	uint32_t now = __atomic_add_fetch(&round, 1, __ATOMIC_ACQ_REL);

	frame_cache_drain(&this_cpu()->frames);
	__atomic_store_n(&this_cpu()->frames.drained, now, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < cpu_count; i++)
		smp_kick(i);
	for (uint32_t i = 0; i < cpu_count; i++)
		while ((int32_t)(__atomic_load_n(&cpus[i]->frames.drained, __ATOMIC_ACQUIRE) - now) < 0) {
			/* Two of us may wait for each other. */
			lowmem_serve();
			cpu_relax();
		}
}

static void reclaim_all(void)
{
	vm_lock_all();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i])
			vm_reclaim(vms[i]);
	vm_unlock_all();
}

void lowmem_gather(void)
{
	reclaim_all();
	drain_others();
}

void lowmem_poll(void)
{
	bool starved = false;

	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		starved |= vms[i] && READ_ONCE(vms[i]->state) == VM_STARVED;
	if (!starved)
		return;
	/* What another VM has removed since may still be on its list. */
	reclaim_all();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i] && guest_frames_freed() != vms[i]->starved_freed)
			vm_resume(vms[i], VM_STARVED);
}

void lowmem_pause(struct vcpu *v, uint64_t gpa)
{
	v->vm->starved_freed = guest_frames_freed();
	/* What came back since is not lost on us. */
	if (frame_cache_fill(&this_cpu()->frames))
		return;
	vm_request(v->vm, VM_REQ_STARVE,
		   "vcpu %u: no memory left for its page at %llx: it goes on when another VM gives some back",
		   v->index, (unsigned long long)gpa);
}

uint64_t lowmem_free(void)
{
	uint64_t frames = frame_stats().guest_free;

	for (uint32_t i = 0; i < cpu_count; i++)
		frames += frame_cache_guest_frames(&cpus[i]->frames);
	return frames * PAGE_SIZE;
}

void lowmem_over(void)
{
	vm_lock_all();
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i])
			vm_resume(vms[i], VM_STARVED);
	vm_unlock_all();
}
