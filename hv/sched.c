/* SPDX-License-Identifier: BSD-2-Clause */
/* sched: preemptive round-robin over the vCPUs of each host CPU. */
#include "hv/sched.h"

#include "drivers/apic.h"
#include "hv/console.h"
#include "hv/guest_mem.h"
#include "hv/log.h"
#include "hv/lowmem.h"
#include "hv/machine.h"
#include "hv/panic.h"
#include "hv/time.h"
#include "hv/vm.h"

#define POLL_BUSY_NS 1000000ULL
#define POLL_IDLE_NS 5000000ULL

/* A ring of all vCPUs whose home the CPU is; grows during bring-up only. */
struct queue {
	uint32_t placed; /* in the ring or about to be */
	uint32_t count;
	struct vcpu *next; /* whose turn it is */
};

static struct queue queues[CPU_MAX];
static bool started;

struct cpu *sched_place(uint64_t mask)
{
	struct cpu *best = NULL;

	for (uint32_t i = 0; i < cpu_count; i++) {
		if (mask && !(mask >> i & 1))
			continue;
		if (!best || queues[i].placed < queues[best->id].placed)
			best = cpus[i];
	}
	if (best)
		queues[best->id].placed++;
	return best;
}

void sched_add(struct vcpu *v)
{
	struct queue *q = &queues[v->home->id];

	if (q->next) {
		v->sched_next = q->next->sched_next;
		q->next->sched_next = v;
	} else {
		v->sched_next = v;
		q->next = v;
	}
	q->count++;
}

void sched_start(void)
{
	__atomic_store_n(&started, true, __ATOMIC_RELEASE);
}

static struct vcpu *pick(struct queue *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		struct vcpu *v = q->next;

		q->next = v->sched_next;
		if (vcpu_runnable(v))
			return v;
	}
	return NULL;
}

static uint64_t next_deadline(struct queue *q)
{
	uint64_t d = DEV_NO_DEADLINE;

	for (uint32_t i = 0; i < q->count; i++, q->next = q->next->sched_next)
		d = min_u64(d, vcpu_next_deadline(q->next));
	return d;
}

static bool deliver_input(unsigned index, uint8_t c)
{
	struct vm *vm = vms[index];

	return !vm || vm->state != VM_RUNNING || platform_console_input(vm, c);
}

/* The boot CPU serves the serial line between slices. */
static uint64_t serve_console(struct cpu *c)
{
	if (c->id)
		return DEV_NO_DEADLINE;
	console_poll(deliver_input);
	return time_now_ns() + (console_busy() ? POLL_BUSY_NS : POLL_IDLE_NS);
}

static void idle(struct cpu *c, uint64_t deadline)
{
	apic_timer_arm(deadline == DEV_NO_DEADLINE ? 0 : time_ns_to_tsc(deadline));
	while (!READ_ONCE(c->need_resched) && frame_cache_clean_ahead(&c->frames, guest_mem_clear_frame))
		irq_window();
	if (!READ_ONCE(c->need_resched))
		irq_enable_and_halt();
}

void sched_run(void *cpu)
{
	struct cpu *c = cpu;
	struct queue *q = &queues[c->id];
	enum hv_status st;

	if (virt) {
		st = virt->cpu_enable(c);
		if (st)
			hv_panic("cpu %u: cannot enable %s: %s", c->id, virt->name,
				 hv_status_name(st));
	}
	while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
		cpu_relax();
	for (;;) {
		uint64_t poll;
		struct vcpu *v;

		irq_window();
		WRITE_ONCE(c->need_resched, false);
		WRITE_ONCE(c->yield, false);
		lowmem_serve();
		if (machine_stopping())
			machine_stop_this_cpu();
		poll = serve_console(c);
		v = pick(q);
		if (v)
			vcpu_run(v, time_now_ns() + SCHED_SLICE_NS);
		else
			idle(c, min_u64(poll, next_deadline(q)));
	}
}
