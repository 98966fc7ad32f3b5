/* SPDX-License-Identifier: BSD-2-Clause */
/* vcpu: one virtual CPU and the only run loop. */
#include "hv/vcpu.h"

#include "drivers/apic.h"
#include "hv/asm_offsets.h"
#include "hv/cpu.h"
#include "hv/event.h"
#include "hv/exit_dispatch.h"
#include "hv/io.h"
#include "hv/log.h"
#include "hv/lowmem.h"
#include "hv/smp.h"
#include "hv/speculation.h"
#include "hv/time.h"
#include "hv/trace.h"
#include "hv/vcpu_live.h"
#include "hv/vm.h"
#include "mm/fault_fast.h"
#include "mm/frame.h"

#define STUCK_MAX  100000
#define RUN_MIN_NS 500000ULL

#define REG_AT(r) (offsetof(struct hv_regs, gpr) + 8 * GPR_##r)
_Static_assert(REG_AT(RAX) == REGS_RAX && REG_AT(RCX) == REGS_RCX && REG_AT(RDX) == REGS_RDX, "enter");
_Static_assert(REG_AT(RBX) == REGS_RBX && REG_AT(RSP) == REGS_RSP && REG_AT(RBP) == REGS_RBP, "enter");
_Static_assert(REG_AT(RSI) == REGS_RSI && REG_AT(RDI) == REGS_RDI && REG_AT(R8) == REGS_R8, "enter");
_Static_assert(REG_AT(R15) == REGS_R15 && offsetof(struct hv_regs, rip) == REGS_RIP, "enter");
_Static_assert(offsetof(struct vcpu, regs) == 0, "enter");

#define PAT_RESET 0x0007040600070406ULL

static uint64_t lapic_now(void *ctx)
{
	return vm_now_ns(((struct vcpu *)ctx)->vm);
}

static uint64_t lapic_tsc(void *ctx)
{
	return vcpu_guest_tsc(ctx);
}

enum hv_status vcpu_create(struct vcpu *v, struct vm *vm, unsigned index, struct cpu *home)
{
	enum hv_status st;

	v->vm = vm;
	v->index = index;
	v->trace_id = vm->index << 16 | index;
	v->home = home;
	v->state = VCPU_PARKED;
	v->lapic_env = (struct lapic_env){ v, lapic_now, lapic_tsc, (uint32_t)time_tsc_khz() };
	lapic_init(&v->lapic, &vm->platform.apic_bus, &v->lapic_env, index, index);
	if (!apic_bus_add(&vm->platform.apic_bus, &v->lapic))
		return HV_NOMEM;
	st = vcpu_live_create(v);
	if (st)
		return st;
	st = virt->vcpu_create(v);
	if (st)
		vcpu_live_destroy(v);
	return st;
}

void vcpu_destroy(struct vcpu *v)
{
	virt->vcpu_destroy(v);
	vcpu_live_destroy(v);
}

/* SDM 3A table 9-1. */
static void reset_state(struct hv_regs *r, struct hv_sregs *s)
{
	const struct hv_segment data = { 0, 0x93, 0xffff, 0 };

	memset(r, 0, sizeof(*r));
	memset(s, 0, sizeof(*s));
	r->rip = 0xfff0;
	r->rflags = RFLAGS_ONE;
	r->gpr[GPR_RDX] = 0x600;
	for (unsigned i = 0; i < SEG_LDTR; i++)
		s->seg[i] = data;
	s->seg[SEG_CS] = (struct hv_segment){ 0xf000, 0x9b, 0xffff, 0xffff0000 };
	s->seg[SEG_LDTR] = (struct hv_segment){ 0, 0x82, 0xffff, 0 };
	s->seg[SEG_TR] = (struct hv_segment){ 0, 0x8b, 0xffff, 0 };
	s->gdtr.limit = s->idtr.limit = 0xffff;
	s->cr0 = CR0_ET | CR0_CD | CR0_NW;
	s->dr6 = 0xffff0ff0;
	s->dr7 = 0x400;
}

static void clear_events(struct vcpu *v)
{
	v->exception.valid = false;
	v->reinject.valid = false;
	v->nmi_pending = false;
	virt->inject(v, &v->exception);
	virt->want_window(v, false, false);
	virt->set_blocking(v, 0);
}

/* What INIT and power-up have in common. */
static void reset_registers(struct vcpu *v)
{
	struct hv_sregs s;

	vcpu_unload_current();
	reset_state(&v->regs, &s);
	memset(&v->msrs, 0, sizeof(v->msrs));
	v->msrs.pat = PAT_RESET;
	vcpu_live_reset(v);
	virt->vcpu_load(v);
	virt->set_sregs(v, &s);
	clear_events(v);
	virt->vcpu_put(v);
}

void vcpu_power_up(struct vcpu *v)
{
	v->requests = 0;
	memset(&v->soft, 0, sizeof(v->soft));
	v->soft.misc_enable = 1;
	mtrr_power_up(&v->soft.mtrr);
	v->tsc_offset = v->vm->tsc_offset;
	lapic_power_up(&v->lapic);
	reset_registers(v);
}

uint64_t vcpu_guest_tsc(const struct vcpu *v)
{
	return rdtsc() + v->tsc_offset;
}

void vcpu_kick(struct vcpu *v, uint32_t request)
{
	if (request)
		__atomic_fetch_or(&v->requests, request, __ATOMIC_SEQ_CST);
	/* What was asleep runs before what only has its slice left. */
	if (v->home->current != v && READ_ONCE(v->state) != VCPU_RUNNING)
		WRITE_ONCE(v->home->yield, true);
	smp_kick(v->home->id);
}

/* ---- wake-up and deadlines --------------------------------------------------- */

static bool irq_waits(struct vcpu *v)
{
	return lapic_pending(&v->lapic) >= 0 ||
	       (lapic_accepts_extint(&v->lapic) && platform_pic_pending(v->vm));
}

/* What ends a HLT. */
static bool wakes(struct vcpu *v)
{
	return v->nmi_pending || ((v->regs.rflags & RFLAGS_IF) && irq_waits(v));
}

bool vcpu_runnable(struct vcpu *v)
{
	if (v->state == VCPU_PARKED)
		return false;
	if (READ_ONCE(v->requests) || v->state == VCPU_RUNNING)
		return true;
	if (v->state == VCPU_WAIT_SIPI)
		return false;
	return wakes(v) || vcpu_next_deadline(v) <= time_now_ns();
}

uint64_t vcpu_next_deadline(struct vcpu *v)
{
	uint64_t d;

	if (v->state == VCPU_PARKED)
		return DEV_NO_DEADLINE;
	d = lapic_next_deadline_ns(&v->lapic);
	/* The VM's devices are served by the first vCPU's home. */
	if (!v->index)
		d = min_u64(d, platform_next_deadline(v->vm));
	/* A guest may ask for the end of time. */
	return d > DEV_NO_DEADLINE - v->vm->start_ns ? DEV_NO_DEADLINE : d + v->vm->start_ns;
}

static void poll_timers(struct vcpu *v)
{
	lapic_timer_poll(&v->lapic);
	if (!v->index)
		platform_poll(v->vm);
}

/* ---- events --------------------------------------------------------------- */

static void raise(struct vcpu *v, struct hv_event *e)
{
	const struct hv_event *first = v->exception.valid ? &v->exception : &v->reinject;

	switch (event_meet(first, e)) {
	case EVENT_SECOND:
		v->exception = *e;
		/* An interrupted exception repeats; an interrupt or NMI must not be lost. */
		if (v->reinject.type == EVENT_EXCEPTION || v->reinject.type >= EVENT_SOFT_INT)
			v->reinject.valid = false;
		break;
	case EVENT_DOUBLE_FAULT:
		v->reinject.valid = false;
		v->exception = (struct hv_event){
			.valid = true, .type = EVENT_EXCEPTION, .vector = VEC_DF, .has_error = true,
		};
		break;
	case EVENT_SHUTDOWN:
		vm_dump(v, "triple fault");
		vm_request(v->vm, vm_on_crash(v->vm), "vcpu %u: triple fault at rip %llx", v->index,
			   (unsigned long long)v->regs.rip);
		break;
	}
}

void vcpu_raise(struct vcpu *v, uint8_t vector)
{
	raise(v, &(struct hv_event){ .valid = true, .type = EVENT_EXCEPTION, .vector = vector });
}

void vcpu_raise_error(struct vcpu *v, uint8_t vector, uint32_t error)
{
	struct hv_sregs s;

	/* Real mode pushes no error codes. */
	virt->get_sregs(v, &s);
	raise(v, &(struct hv_event){ .valid = true, .type = EVENT_EXCEPTION, .vector = vector,
				     .has_error = event_has_error(vector) && (s.cr0 & CR0_PE),
				     .error = error });
}

void vcpu_raise_pf(struct vcpu *v, uint64_t cr2, uint32_t error)
{
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	s.cr2 = cr2;
	virt->set_sregs(v, &s);
	vcpu_raise_error(v, VEC_PF, error);
}

/* Outside 64-bit mode EIP wraps. */
static __attribute__((noinline)) uint64_t carried_rip(struct vcpu *v, uint64_t next)
{
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	if ((s.efer & EFER_LMA) && (s.seg[SEG_CS].attr & SEG_ATTR_L))
		return next;
	return (uint32_t)next;
}

/* The trap that RFLAGS.TF asks for after an instruction that we have carried out. */
static void raise_step(struct vcpu *v)
{
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	s.dr6 |= DR6_BS;
	s.dr7 &= ~DR7_GD;
	virt->set_sregs(v, &s);
	vcpu_raise(v, VEC_DB);
}

void vcpu_skip(struct vcpu *v, unsigned len)
{
	uint32_t block = virt->get_blocking(v);
	uint64_t next = v->regs.rip + len;

	/* Only a carry into the upper half makes it worth to look at the mode. */
	if (unlikely((next ^ v->regs.rip) >> 32))
		next = carried_rip(v, next);
	v->regs.rip = next;
	v->regs.rflags &= ~RFLAGS_RF;
	if (block & BLOCK_IRQ_SHADOW)
		virt->set_blocking(v, block & ~BLOCK_IRQ_SHADOW);
	if (v->regs.rflags & RFLAGS_TF)
		raise_step(v);
}

void vcpu_halt(struct vcpu *v, unsigned len)
{
	vcpu_skip(v, len);
	/* The trap of a single step comes first, and its handler returns behind the HLT. */
	if (!v->exception.valid)
		v->state = VCPU_HALTED;
}

static int next_interrupt(struct vcpu *v)
{
	int vector;

	if (lapic_accepts_extint(&v->lapic) && platform_pic_pending(v->vm)) {
		vector = platform_pic_ack(v->vm);
		if (vector >= 0)
			return vector;
	}
	vector = lapic_pending(&v->lapic);
	if (vector >= 0)
		lapic_ack(&v->lapic, (uint8_t)vector);
	return vector;
}

/* One event per entry, in the order of SDM 3A table 6-2; what waits asks for a window. */
static void deliver_events(struct vcpu *v)
{
	struct hv_event e = { 0 };
	uint32_t block = virt->get_blocking(v);
	bool can_irq = (v->regs.rflags & RFLAGS_IF) && !(block & BLOCK_IRQ_SHADOW);
	int vector;

	if (v->exception.valid) {
		e = v->exception;
		v->exception.valid = false;
	} else if (v->reinject.valid && (v->reinject.type != EVENT_EXTINT || can_irq)) {
		e = v->reinject;
		v->reinject.valid = false;
	} else if (v->nmi_pending && !block) {
		e = (struct hv_event){ .valid = true, .type = EVENT_NMI, .vector = VEC_NMI };
		v->nmi_pending = false;
	} else if (!v->reinject.valid && can_irq && (vector = next_interrupt(v)) >= 0) {
		e = (struct hv_event){ .valid = true, .type = EVENT_EXTINT,
				       .vector = (uint8_t)vector };
	}
	virt->inject(v, &e);
	virt->want_window(v, v->reinject.valid || irq_waits(v), v->nmi_pending);
}

/* ---- requests of other CPUs -------------------------------------------------- */

static void park(struct vcpu *v)
{
	struct vm *vm = v->vm;

	vcpu_unload_current();
	v->parked_from = v->state;
	WRITE_ONCE(v->state, VCPU_PARKED);
	/* Before we count as parked: the VM's frames may be freed from then on. */
	flush_leave(&vm->flush, v->index, FLUSH_OUT);
	if (__atomic_add_fetch(&vm->parked, 1, __ATOMIC_ACQ_REL) == vm->vcpu_count)
		vm_all_parked(vm);
}

static void start_at(struct vcpu *v, uint8_t page)
{
	struct hv_sregs s;

	vcpu_unload_current();
	virt->vcpu_load(v);
	virt->get_sregs(v, &s);
	s.seg[SEG_CS].selector = (uint16_t)(page << 8);
	s.seg[SEG_CS].base = (uint64_t)page << 12;
	virt->set_sregs(v, &s);
	virt->vcpu_put(v);
	v->regs.rip = 0;
	v->state = VCPU_RUNNING;
}

/* False when the vCPU has stopped running. */
static bool handle_requests(struct vcpu *v)
{
	uint32_t r = __atomic_exchange_n(&v->requests, 0, __ATOMIC_SEQ_CST);

	if (r & VCPU_REQ_STOP) {
		/* What other vCPUs want is done when the VM goes on. */
		__atomic_fetch_or(&v->requests, r & ~VCPU_REQ_STOP, __ATOMIC_SEQ_CST);
		park(v);
		return false;
	}
	if (r & VCPU_REQ_INIT) {
		lapic_reset_init(&v->lapic);
		reset_registers(v);
		v->state = v->index ? VCPU_WAIT_SIPI : VCPU_RUNNING;
	}
	if ((r & VCPU_REQ_SIPI) && v->state == VCPU_WAIT_SIPI)
		start_at(v, READ_ONCE(v->sipi_vector));
	if ((r & VCPU_REQ_NMI) && v->state != VCPU_WAIT_SIPI)
		v->nmi_pending = true;
	if (r & VCPU_REQ_UNTIME)
		memset(v->stats.fault_cycles, 0, sizeof(v->stats.fault_cycles));
	return v->state != VCPU_WAIT_SIPI;
}

/* ---- running --------------------------------------------------------------- */

void vcpu_unload_current(void)
{
	struct cpu *c = this_cpu();
	struct vcpu *v = c->current;

	if (!v)
		return;
	vcpu_live_save(v);
	virt->vcpu_put(v);
	c->current = NULL;
}

static void make_current(struct vcpu *v)
{
	struct cpu *c = this_cpu();

	if (c->current == v)
		return;
	vcpu_unload_current();
	if (c->last_vm != v->vm)
		speculation_switch_vm();
	c->last_vm = v->vm;
	virt->vcpu_load(v);
	vcpu_live_restore(v);
	c->current = v;
}

/*
 * An exit after which the guest stands where it stood, the same again and again:
 * nothing moves any more, and nobody would ever know.
 */
static void count_repeats(struct vcpu *v, const struct hv_exit *e)
{
	uint64_t rcx = v->regs.gpr[GPR_RCX], rip = v->regs.rip;

	if (v->exception.valid || v->state != VCPU_RUNNING ||
	    e->class == EXIT_INTR || e->class == EXIT_TIMER || e->class == EXIT_HOST_NMI ||
	    e->class == EXIT_IRQ_WINDOW || e->class == EXIT_NMI_WINDOW)
		return;
	if (v->stuck_rip != rip || v->stuck_rcx != rcx || v->stuck_info != e->info2) {
		v->stuck_rip = rip;
		v->stuck_rcx = rcx;
		v->stuck_info = e->info2;
		v->stuck_repeats = 0;
	}
	if (++v->stuck_repeats == STUCK_MAX)
		vm_fail(v, "makes no progress: the same exit (%s) %u times",
			hv_exit_class_name(e->class), STUCK_MAX);
}

static __inlined void watch_progress(struct vcpu *v, const struct hv_exit *e, uint64_t rip)
{
	if (v->regs.rip == rip && v->last_info == e->info2)
		count_repeats(v, e);
	v->last_info = e->info2;
}

/* Exits that change nothing but registers and nested entries: what was planned holds. */
static bool is_light(const struct hv_exit *e)
{
	return e->class == EXIT_NPF || e->class == EXIT_CPUID || e->class == EXIT_HYPERCALL;
}

/* Straight back into the guest: no event, timer or request has come up since we looked. */
static bool may_reenter(const struct vcpu *v, const struct cpu *c)
{
	return !READ_ONCE(c->need_resched) && !v->touched_device && !v->exception.valid &&
	       !v->reinject.valid && !c->frames.low && v->state == VCPU_RUNNING;
}

static __inlined void note_exit(struct cpu *c, struct vcpu *v, const struct hv_exit *e)
{
	v->stats.exits[e->class]++;
	trace_exit(&c->trace, (struct trace_entry){ v->regs.rip, e->info2 ? e->info2 : e->info1,
						    v->trace_id, e->class });
	if (e->vectoring.valid)
		v->reinject = e->vectoring;
}

/* The shortest way of a fault: one compare-and-swap. */
static __inlined enum fault_fast try_fast(struct vcpu *v, const struct hv_exit *e)
{
	enum fault_fast r = fault_fast(&v->vm->npt, e->npf.gpa, e->npf.access, &v->walk,
				       flush_acked(&v->vm->flush, v->index));

	v->stats.fast_faults[r]++;
	return r;
}

/* @timed is a constant: what it costs is paid by the copy of this that asks for it. */
static __inlined void enter(struct vcpu *v, uint64_t slice_end, const bool timed)
{
	uint64_t end = min_u64(slice_end, vcpu_next_deadline(v)), tsc = time_ns_to_tsc(end), rip, began;
	struct cpu *c = this_cpu();
	enum fault_fast fast;
	struct hv_exit e;

	if (!virt->has_deadline())
		apic_timer_arm(tsc);
	for (;;) {
		speculation_before_entry();
		virt->run(v, tsc, &e);
		began = timed ? rdtsc() : 0;
		note_exit(c, v, &e);
		rip = v->regs.rip;
		if (e.class == EXIT_NPF && (fast = try_fast(v, &e)) != FAST_NONE) {
			/* Others may take the right away again and again: that is progress. */
			if (fast == FAST_SPURIOUS)
				watch_progress(v, &e, rip);
			else
				v->stuck_repeats = 0;
			if (timed)
				histogram_add(&v->stats.fault_cycles[fast], rdtsc() - began);
			if (READ_ONCE(c->need_resched) || v->reinject.valid)
				break;
			continue;
		}
		if (e.class == EXIT_INTR)
			irq_window();
		exit_dispatch(v, &e);
		if (timed && e.class == EXIT_NPF)
			histogram_add(&v->stats.fault_cycles[FAST_NONE], rdtsc() - began);
		watch_progress(v, &e, rip);
		if (!is_light(&e) || !may_reenter(v, c))
			break;
	}
}

static __not_inlined void enter_timed(struct vcpu *v, uint64_t slice_end)
{
	enter(v, slice_end, true);
}

static __not_inlined void enter_plain(struct vcpu *v, uint64_t slice_end)
{
	enter(v, slice_end, false);
}

/* What other CPUs and our own stock of frames want between two rounds of the guest. */
static void serve_cpu(struct cpu *c)
{
	WRITE_ONCE(c->need_resched, false);
	lowmem_serve();
	if (c->frames.low)
		frame_cache_fill(&c->frames);
}

void vcpu_run(struct vcpu *v, uint64_t slice_end)
{
	struct cpu *c = this_cpu();
	uint64_t least = time_now_ns() + RUN_MIN_NS;

	flush_arrive(&v->vm->flush, v->index);
	for (;;) {
		serve_cpu(c);
		if (READ_ONCE(v->requests) && !handle_requests(v))
			break;
		v->touched_device = false;
		poll_timers(v);
		if (v->state == VCPU_HALTED) {
			if (!wakes(v))
				break;
			v->state = VCPU_RUNNING;
		}
		make_current(v);
		deliver_events(v);
		/* Whoever was woken waits a little: or its VM could keep this one from running. */
		if (READ_ONCE(c->yield))
			slice_end = min_u64(slice_end, least);
		if (READ_ONCE(v->time_faults))
			enter_timed(v, slice_end);
		else
			enter_plain(v, slice_end);
		if (time_now_ns() >= (READ_ONCE(c->yield) ? min_u64(slice_end, least) : slice_end))
			break;
	}
	flush_leave(&v->vm->flush, v->index, FLUSH_OUT);
}
