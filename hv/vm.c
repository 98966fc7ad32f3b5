/* SPDX-License-Identifier: BSD-2-Clause */
/* vm: a virtual machine from configuration to its end. */
#include "hv/vm.h"

#include "hv/console.h"
#include "hv/log.h"
#include "hv/lowmem.h"
#include "hv/machine.h"
#include "hv/sched.h"
#include "hv/time.h"
#include "hv/trace.h"
#include "hv/vcpu_live.h"
#include "hv/vm_load.h"
#include "hv/vm_memory.h"
#include "mm/frame.h"

#define EARLY_NS	 100000000ULL
#define EARLY_RESETS_MAX 10

struct vm *vms[CONFIG_MAX_VMS];
static enum config_when_idle when_idle;

uint64_t vm_now_ns(const struct vm *vm)
{
	return time_now_ns() - vm->start_ns;
}

uint32_t vm_running_count(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		n += vms[i] && READ_ONCE(vms[i]->state) == VM_RUNNING;
	return n;
}

/* ---- creation ------------------------------------------------------------------- */

static void destroy(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		vcpu_destroy(vm->vcpu[i]);
		hv_pages_free(vm->vcpu[i], frame_order(sizeof(struct vcpu)));
	}
	vm->vcpu_count = 0;
	if (vm->npt.root)
		vm_memory_destroy(vm);
	hv_pages_free(vm, frame_order(sizeof(*vm)));
}

static enum hv_status create_vcpu(struct vm *vm, unsigned index)
{
	unsigned order = frame_order(sizeof(struct vcpu));
	struct cpu *home = sched_place(vm->config->cpu_mask);
	struct vcpu *v = home ? hv_pages_alloc(order) : NULL;
	enum hv_status st;

	if (!v)
		return home ? HV_NOMEM : HV_NOENT;
	st = vcpu_create(v, vm, index, home);
	if (st) {
		hv_pages_free(v, order);
		return st;
	}
	vm->vcpu[index] = v;
	vm->vcpu_count = index + 1;
	return HV_OK;
}

/* Everything but its place on the CPUs. */
static enum hv_status create(unsigned index, const struct config_vm *c, uint64_t epoch,
			     struct vm **out)
{
	struct vm *vm = hv_pages_alloc(frame_order(sizeof(*vm)));
	enum hv_status st;

	if (!vm)
		return HV_NOMEM;
	vm->index = index;
	vm->config = c;
	vm->fmt = *virt_npt_fmt;
	if (c->no_access_bits) {
		vm->fmt.accessed = vm->fmt.dirty = 0;
		vm->fmt.pml = false;
	}
	vm->npt.fmt = &vm->fmt;
	vm->start_ns = time_now_ns();
	vm->tsc_offset = 0 - time_ns_to_tsc(vm->start_ns);
	st = platform_create(vm, epoch);
	if (!st)
		st = vm_memory_create(vm, c->vcpus);
	for (unsigned i = 0; i < c->vcpus && !st; i++)
		st = create_vcpu(vm, i);
	if (st) {
		destroy(vm);
		return st;
	}
	*out = vm;
	return HV_OK;
}

/* All vCPUs are parked: from power-up to the kernel's first instruction. */
static enum hv_status boot(struct vm *vm, struct hv_error *err)
{
	enum hv_status st;

	platform_reset(vm);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_power_up(vm->vcpu[i]);
	st = vm_load(vm, err);
	if (st)
		return st;
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

static void start(unsigned index, const struct config_vm *c, uint64_t epoch)
{
	struct hv_error err = { "" };
	enum hv_status st;
	struct vm *vm;

	if (c->refused) {
		log_err("vm '%s': not started: %s", c->name, c->why.text);
		return;
	}
	st = create(index, c, epoch, &vm);
	if (st == HV_NOENT) {
		log_err("vm '%s': not started: cpus = mask %llx: this machine has CPUs 0 to %u", c->name,
			(unsigned long long)c->cpu_mask, cpu_count - 1);
		return;
	}
	if (st) {
		log_err("vm '%s': not started: %s while creating it", c->name, hv_status_name(st));
		return;
	}
	st = boot(vm, &err);
	if (st) {
		log_err("vm '%s': not started: %s", c->name, err.text[0] ? err.text : hv_status_name(st));
		destroy(vm);
		return;
	}
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		sched_add(vm->vcpu[i]);
	vms[index] = vm;
	console_attach(index, c->name);
	log_info("vm '%s': %u vCPUs, %llu MiB, %s", c->name, vm->vcpu_count,
		 (unsigned long long)((c->ram_low + c->ram_high) / MIB), c->kernel);
	let_run(vm);
}

void vm_init(const struct handoff *h)
{
	uint64_t epoch = h->epoch + time_now_ns() / 1000000000;

	when_idle = h->config.when_idle;
	vm_load_init(h);
	if (!h->config.vm_count)
		log_warn("vm: none is configured (%s)", h->config_path);
	if (!virt)
		return;
	for (uint32_t i = 0; i < h->config.vm_count; i++)
		start(i, &h->config.vm[i], epoch);
	if (!vm_running_count())
		log_warn("vm: no VM is running");
}

/* ---- changes of a running VM --------------------------------------------------- */

void vm_request(struct vm *vm, enum vm_request r, const char *f, ...)
{
	uint32_t none = VM_REQ_NONE;
	va_list ap;

	if (!__atomic_compare_exchange_n(&vm->request, &none, (uint32_t)r, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	va_start(ap, f);
	hv_vsnprintf(vm->reason.text, sizeof(vm->reason.text), f, ap);
	va_end(ap);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], VCPU_REQ_STOP);
}

/* A VM has left off running, for now or for good. */
static void one_less(void)
{
	if (vm_running_count())
		return;
	log_info("vm: no VM is running");
	if (when_idle == WHEN_IDLE_POWEROFF)
		machine_poweroff();
}

static void stop(struct vm *vm)
{
	WRITE_ONCE(vm->state, VM_STOPPED);
	console_detach(vm->index);
	log_info("vm '%s': stopped: %s", vm->config->name, vm->reason.text);
	lowmem_over();
	one_less();
}

static void pause_vm(struct vm *vm)
{
	log_warn("vm '%s': paused: %s", vm->config->name, vm->reason.text);
	__atomic_store_n(&vm->request, VM_REQ_NONE, __ATOMIC_RELEASE);
	__atomic_store_n(&vm->state, VM_PAUSED, __ATOMIC_RELEASE);
	one_less();
}

void vm_resume(struct vm *vm)
{
	enum vm_state paused = VM_PAUSED;

	if (!__atomic_compare_exchange_n(&vm->state, &paused, VM_RUNNING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	log_info("vm '%s': goes on", vm->config->name);
	vm->parked = 0;
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		__atomic_store_n(&vm->vcpu[i]->state, vm->vcpu[i]->parked_from, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], 0);
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
	enum hv_status st;

	if (resets_in_circles(vm)) {
		log_err("vm '%s': reset %u times in a row at once after its start: given up",
			vm->config->name, EARLY_RESETS_MAX);
		stop(vm);
		return;
	}
	vm->stats.resets++;
	log_info("vm '%s': reset %u: %s, %llu KiB free", vm->config->name, vm->stats.resets,
		 vm->reason.text, (unsigned long long)(lowmem_free() / KIB));
	st = boot(vm, &err);
	if (!st) {
		let_run(vm);
		return;
	}
	hv_error_set(&vm->reason, "cannot reset: %s", err.text[0] ? err.text : hv_status_name(st));
	vm_memory_release(vm);
	stop(vm);
}

void vm_all_parked(struct vm *vm)
{
	if (vm->request == VM_REQ_PAUSE) {
		pause_vm(vm);
		return;
	}
	vm_memory_release(vm);
	if (vm->request == VM_REQ_RESET)
		reset(vm);
	else
		stop(vm);
}

/* ---- failure -------------------------------------------------------------------- */

static void say(const char *f, ...) __printf(1, 2);
static void say(const char *f, ...)
{
	char line[240];
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	console_log_write(line, n < sizeof(line) ? n : sizeof(line) - 1, true);
}

static void dump_registers(struct vcpu *v)
{
	static const char *const gpr[GPR_COUNT] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi",
						    "rdi", "r8 ", "r9 ", "r10", "r11", "r12", "r13",
						    "r14", "r15" };
	static const char *const seg[SEG_COUNT] = { "es", "cs", "ss", "ds", "fs", "gs", "ldtr", "tr" };
	struct hv_sregs s;

	virt->get_sregs(v, &s);
	say("  rip %016llx rflags %08llx cpl %u\n", (unsigned long long)v->regs.rip,
	    (unsigned long long)v->regs.rflags, s.cpl);
	for (unsigned i = 0; i < GPR_COUNT; i += 4)
		say("  %s %016llx %s %016llx %s %016llx %s %016llx\n", gpr[i],
		    (unsigned long long)v->regs.gpr[i], gpr[i + 1],
		    (unsigned long long)v->regs.gpr[i + 1], gpr[i + 2],
		    (unsigned long long)v->regs.gpr[i + 2], gpr[i + 3],
		    (unsigned long long)v->regs.gpr[i + 3]);
	say("  cr0 %llx cr2 %llx cr3 %llx cr4 %llx efer %llx\n", (unsigned long long)s.cr0,
	    (unsigned long long)s.cr2, (unsigned long long)s.cr3, (unsigned long long)s.cr4,
	    (unsigned long long)s.efer);
	for (unsigned i = 0; i < SEG_COUNT; i++)
		say("  %-4s %04x base %llx limit %x attr %x\n", seg[i], s.seg[i].selector,
		    (unsigned long long)s.seg[i].base, s.seg[i].limit, s.seg[i].attr);
	say("  gdtr %llx/%x idtr %llx/%x\n", (unsigned long long)s.gdtr.base, s.gdtr.limit,
	    (unsigned long long)s.idtr.base, s.idtr.limit);
}

void vm_dump(struct vcpu *v, const char *why)
{
	say("vm '%s' vcpu %u: %s\n", v->vm->config->name, v->index, why);
	dump_registers(v);
	virt->dump(v, say);
	trace_print_last(v->home->id, say);
}

void vm_fail(struct vcpu *v, const char *f, ...)
{
	struct hv_error why;
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(why.text, sizeof(why.text), f, ap);
	va_end(ap);
	vm_dump(v, why.text);
	vm_request(v->vm, VM_REQ_STOP, "vcpu %u %s", v->index, why.text);
}
