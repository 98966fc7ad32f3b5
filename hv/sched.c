/* SPDX-License-Identifier: BSD-2-Clause */
/* sched: whose turn it is on each host CPU. */
#include "hv/sched.h"

#include "drivers/apic.h"
#include "hv/console.h"
#include "hv/guest_mem.h"
#include "hv/log.h"
#include "hv/lowmem.h"
#include "hv/machine.h"
#include "hv/monitor/monitor.h"
#include "hv/panic.h"
#include "hv/time.h"
#include "hv/vm.h"

#define POLL_BUSY_NS 1000000ULL
#define POLL_IDLE_NS 5000000ULL

/* All vCPUs whose home the CPU is. */
struct queue {
	struct lock lock; /* of the list; the CPU itself, and who adds or removes */
	uint32_t placed;  /* on the list, or about to be */
	struct vcpu *first;
	uint64_t virtual_ns; /* of the vCPU that ran last */
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

void sched_unplace(struct cpu *home)
{
	queues[home->id].placed--;
}

void sched_add(struct vcpu *v)
{
	struct queue *q = &queues[v->home->id];

	lock(&q->lock);
	v->sched.next = q->first;
	v->sched.virtual_ns = q->virtual_ns;
	q->first = v;
	unlock(&q->lock);
}

void sched_remove(struct vcpu *v)
{
	struct queue *q = &queues[v->home->id];
	struct vcpu **at = &q->first;

	lock(&q->lock);
	while (*at != v)
		at = &(*at)->sched.next;
	*at = v->sched.next;
	unlock(&q->lock);
	/* Its last turn, in which it parked, may not be over. */
	while (__atomic_load_n(&v->home->running, __ATOMIC_ACQUIRE) == v)
		cpu_relax();
}

void sched_start(void)
{
	__atomic_store_n(&started, true, __ATOMIC_RELEASE);
}

/* ---- whose turn it is ---------------------------------------------------------------- */

/* What is left of the VM's cap in this period; forgets the last one. */
static uint64_t allowance(struct vcpu *v, uint64_t now)
{
	uint64_t cap = READ_ONCE(v->vm->config.cap), all = SCHED_PERIOD_NS / 100 * cap;

	if (!cap)
		return SCHED_PERIOD_NS;
	if (now - v->sched.period_start >= SCHED_PERIOD_NS) {
		v->sched.period_start = now;
		v->sched.period_used = 0;
	}
	return v->sched.period_used < all ? all - v->sched.period_used : 0;
}

/* Who is to park does so at once.  No other request counts: guests send those to each other. */
static bool is_to_park(const struct vcpu *v)
{
	return READ_ONCE(v->requests) & VCPU_REQ_STOP;
}

/*
 * Who slept gets no more than a slice in advance.  Who has had a slice waits for no
 * more than that is worth: it may have run by another weight.
 */
static void keep_near(struct vcpu *v, uint64_t virtual_ns)
{
	uint64_t least = virtual_ns > SCHED_SLICE_NS ? virtual_ns - SCHED_SLICE_NS : 0;
	uint64_t most = virtual_ns + SCHED_SLICE_NS * SCHED_WEIGHT / READ_ONCE(v->vm->config.weight);

	v->sched.virtual_ns = min_u64(max_u64(v->sched.virtual_ns, least), most);
}

/* The one that has had least for its weight. */
static struct vcpu *pick(struct queue *q, uint64_t now)
{
	struct vcpu *best = NULL;

	lock(&q->lock);
	for (struct vcpu *v = q->first; v; v = v->sched.next) {
		if (!vcpu_runnable(v))
			continue;
		if (is_to_park(v)) {
			best = v;
			break;
		}
		if (!allowance(v, now))
			continue;
		keep_near(v, q->virtual_ns);
		if (!best || v->sched.virtual_ns < best->sched.virtual_ns)
			best = v;
	}
	/* From here on sched_remove() waits for it. */
	if (best)
		__atomic_store_n(&this_cpu()->running, best, __ATOMIC_RELAXED);
	unlock(&q->lock);
	return best;
}

static void take_turn(struct queue *q, struct vcpu *v, uint64_t now)
{
	uint64_t left = allowance(v, now), used;
	uint32_t weight = READ_ONCE(v->vm->config.weight);

	if (!is_to_park(v))
		q->virtual_ns = v->sched.virtual_ns;
	vcpu_run(v, now + min_u64(left ? left : SCHED_SLICE_NS, SCHED_SLICE_NS));
	used = time_now_ns() - now;
	v->sched.virtual_ns += used * SCHED_WEIGHT / weight;
	v->sched.period_used += used;
	v->sched.run_ns += used;
	__atomic_store_n(&this_cpu()->running, NULL, __ATOMIC_RELEASE);
}

static uint64_t next_deadline(struct queue *q)
{
	uint64_t d = DEV_NO_DEADLINE, now = time_now_ns();

	lock(&q->lock);
	for (struct vcpu *v = q->first; v; v = v->sched.next)
		if (!vcpu_runnable(v))
			d = min_u64(d, vcpu_next_deadline(v));
		else if (is_to_park(v) || allowance(v, now))
			d = now; /* it has become runnable since we looked */
		else
			d = min_u64(d, v->sched.period_start + SCHED_PERIOD_NS);
	unlock(&q->lock);
	return d;
}

static bool deliver_input(unsigned index, uint8_t c)
{
	struct vm *vm = vms[index];

	/* One that is paused reads it when it goes on. */
	return !vm || vm->state == VM_STOPPED || platform_console_input(vm, c);
}

/* The boot CPU serves console and monitor between turns. */
static uint64_t serve_console(struct cpu *c)
{
	if (c->id)
		return DEV_NO_DEADLINE;
	console_poll(deliver_input);
	monitor_poll();
	lowmem_poll();
	return time_now_ns() + (console_busy() || monitor_busy() ? POLL_BUSY_NS : POLL_IDLE_NS);
}

static void idle(struct cpu *c, uint64_t deadline)
{
	uint64_t began = time_now_ns();

	apic_timer_arm(deadline == DEV_NO_DEADLINE ? 0 : time_ns_to_tsc(deadline));
	while (!READ_ONCE(c->need_resched) && frame_cache_clean_ahead(&c->frames, guest_mem_clear_frame))
		irq_window();
	if (!READ_ONCE(c->need_resched))
		irq_enable_and_halt();
	c->idle_ns += time_now_ns() - began;
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
	while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) {
		/* Loading a VM may need what we hold. */
		lowmem_serve();
		cpu_relax();
	}
	for (;;) {
		uint64_t poll, now;
		struct vcpu *v;

		irq_window();
		WRITE_ONCE(c->need_resched, false);
		WRITE_ONCE(c->yield, false);
		lowmem_serve();
		if (machine_stopping())
			machine_stop_this_cpu();
		poll = serve_console(c);
		now = time_now_ns();
		v = pick(q, now);
		if (v)
			take_turn(q, v, now);
		else
			idle(c, min_u64(poll, next_deadline(q)));
	}
}
