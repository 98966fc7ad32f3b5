/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_vm: the life of VMs, from the monitor. */
#include "hv/config_live.h"
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/log.h"
#include "hv/monitor/settings.h"
#include "hv/monitor/session.h"
#include "hv/time.h"
#include "hv/vm_load.h"

#define PATIENCE_NS 30000000000ULL /* for a guest that shuts down; vCPUs park in microseconds */

static uint64_t mib(const struct config_vm *c)
{
	return (c->ram_low + c->ram_high) / MIB;
}

static void list(struct session *s)
{
	static const struct out_column columns[] = {
		{ "name", 20 }, { "state", 16 }, { "vcpus", -5 }, { "memory_mib", -10 },
		{ "resident_kib", -12 }, { "resets", -6 }, { "crash", 5 },
	};

	out_table(&s->out, "vms", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		const struct vm *vm = vms[i];

		if (!vm)
			continue;
		out_row(&s->out);
		out_str(&s->out, "name", "%s", vm->config.name);
		out_str(&s->out, "state", "%s", vm_state_name(vm->state));
		out_u64(&s->out, "vcpus", vm->vcpu_count);
		out_u64(&s->out, "memory_mib", mib(&vm->config));
		out_u64(&s->out, "resident_kib", vm->stats.resident / KIB);
		out_u64(&s->out, "resets", vm->stats.resets);
		out_bool(&s->out, "crash", vm->crash.unread);
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

static const char *vcpu_state_name(enum vcpu_state st)
{
	static const char *const names[] = { "parked", "waits for SIPI", "running", "halted" };

	return names[st];
}

static void show(struct session *s)
{
	static const struct out_column columns[] = {
		{ "vcpu", -4 }, { "state", 16 }, { "cpu", -3 }, { "run_ms", -10 }, { "exits", -12 },
	};
	struct vm *vm = s->vm;
	const struct config_vm *c;

	c = &vm->config;
	out_str(&s->out, "name", "%s", c->name);
	out_str(&s->out, "state", "%s", vm_state_name(vm->state));
	if (vm->state != VM_RUNNING)
		out_str(&s->out, "reason", "%s", vm->reason.text);
	settings_show(&s->out, c);
	out_u64(&s->out, "resident_kib", vm->stats.resident / KIB);
	out_u64(&s->out, "resets", vm->stats.resets);
	out_bool(&s->out, "crash", vm->crash.unread);
	out_table(&s->out, "vcpu", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < vm->vcpu_count; i++) {
		const struct vcpu *v = vm->vcpu[i];
		uint64_t exits = 0;

		for (unsigned k = 0; k < EXIT_CLASS_COUNT; k++)
			exits += v->stats.exits[k];
		out_row(&s->out);
		out_u64(&s->out, "vcpu", i);
		out_str(&s->out, "state", "%s", vcpu_state_name(READ_ONCE(v->state)));
		out_u64(&s->out, "cpu", v->home->id);
		out_u64(&s->out, "run_ms", v->sched.run_ns / 1000000);
		out_u64(&s->out, "exits", exits);
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

/* ---- states ------------------------------------------------------------------------- */

/* It was paused as asked for, and somebody else has let it go on since. */
static bool goes_on_again(const struct vm *vm)
{
	return READ_ONCE(vm->state) == VM_RUNNING &&
	       __atomic_load_n(&vm->request, __ATOMIC_ACQUIRE) == VM_REQ_NONE &&
	       READ_ONCE(vm->parked) != vm->vcpu_count;
}

static bool wait_for_state(struct session *s)
{
	const struct vm *vm = session_vm(s);

	if (vm && vm->state == s->want && (vm->request == VM_REQ_NONE || s->want == VM_STOPPED)) {
		out_done(&s->out, "vm '%s': %s", s->vm_name, s->done);
		return true;
	}
	if (vm && s->want == VM_PAUSED && goes_on_again(vm)) {
		out_refuse(&s->out, "vm '%s' was paused and has been resumed by another", s->vm_name);
		return true;
	}
	if (vm && time_now_ns() < s->wait_until && (vm->state != VM_STOPPED || s->want == VM_STOPPED))
		return false;
	out_refuse(&s->out, "vm '%s' is %s: it has not become %s; vm stop NAME --force ends it",
		   s->vm_name, vm ? vm_state_name(vm->state) : "gone", vm_state_name(s->want));
	return true;
}

static void wait_for(struct session *s, enum vm_state want, const char *done)
{
	s->want = want;
	s->done = done;
	s->wait_until = time_now_ns() + PATIENCE_NS;
	s->wait = wait_for_state;
}

static bool is_in(struct session *s, const struct vm *vm, unsigned states)
{
	if (BIT(vm->state) & states)
		return true;
	out_refuse(&s->out, "vm '%s' is %s", vm->config.name, vm_state_name(vm->state));
	return false;
}

#define PAUSED (BIT(VM_PAUSED) | BIT(VM_STARVED))
#define LIVE   (BIT(VM_RUNNING) | PAUSED)

static void order(struct session *s, struct vm *vm, enum vm_request r, enum vm_state want,
		  const char *done)
{
	if (vm_order(vm, r, "by the monitor"))
		wait_for(s, want, done);
	else
		out_refuse(&s->out, "vm '%s' is busy with another request: try again", vm->config.name);
}

static void start(struct session *s)
{
	struct vm *vm = s->vm;
	struct hv_error err;

	if (!is_in(s, vm, BIT(VM_STOPPED)))
		return;
	if (vm_start(vm, &err))
		out_refuse(&s->out, "vm '%s' does not start: %s", vm->config.name, err.text);
	else
		out_done(&s->out, "vm '%s': started", vm->config.name);
}

static void pause(struct session *s)
{
	struct vm *vm = s->vm;

	if (is_in(s, vm, BIT(VM_RUNNING)))
		order(s, vm, VM_REQ_PAUSE, VM_PAUSED, "paused");
}

static void resume(struct session *s)
{
	struct vm *vm = s->vm;

	if (!is_in(s, vm, PAUSED))
		return;
	vm_resume(vm, vm->state);
	out_done(&s->out, "vm '%s': goes on", vm->config.name);
}

static void reset(struct session *s)
{
	struct vm *vm = s->vm;

	if (is_in(s, vm, LIVE))
		order(s, vm, VM_REQ_RESET, VM_RUNNING, "reset");
}

static void stop(struct session *s)
{
	struct vm *vm = s->vm;
	bool force = s->argc > 1 && !strcmp(s->argv[1], "--force");

	if (!is_in(s, vm, LIVE))
		return;
	if (s->argc > 1 && !force) {
		out_refuse(&s->out, "'%s': only --force is allowed here", s->argv[1]);
		return;
	}
	if (force || vm->state != VM_RUNNING) {
		order(s, vm, VM_REQ_STOP, VM_STOPPED, "stopped");
		return;
	}
	platform_power_button(vm);
	wait_for(s, VM_STOPPED, "stopped");
}

static void destroy(struct session *s)
{
	struct vm *vm = s->vm;
	char name[CONFIG_NAME_LEN];
	unsigned index;

	if (!is_in(s, vm, BIT(VM_STOPPED)))
		return;
	index = vm->index;
	memcpy(name, vm->config.name, sizeof(name));
	config_live_destroyed(vm->config.name);
	vm_destroy(vm);
	console_forget(index);
	out_done(&s->out, "vm '%s': destroyed", name);
}

/* ---- settings ------------------------------------------------------------------------ */

static void create(struct session *s)
{
	struct hv_error err = { "" };
	struct config_vm c;
	struct vm *vm;

	if (!s->argc || vm_find(s->argv[0])) {
		out_refuse(&s->out, s->argc ? "there is a VM '%s' already" : "a name is needed%s",
			   s->argc ? s->argv[0] : "");
		return;
	}
	if (!settings_begin(&c, s->argv[0], &err) ||
	    !settings_apply(&c, s->argc - 1, s->argv + 1, SETTINGS_ALL, &err) || !settings_check(&c, &err)) {
		out_refuse(&s->out, "%s", err.text);
		return;
	}
	if (vm_create(&c, &vm, &err))
		out_refuse(&s->out, "vm '%s' is not created: %s", c.name, err.text);
	else
		out_done(&s->out, "vm '%s': created, stopped", c.name);
}

static bool wait_and_place(struct session *s)
{
	struct vm *vm = session_vm(s);

	if (vm && vm->state == VM_RUNNING && time_now_ns() < s->wait_until) {
		/* If another request is faster, this one is made again when that is over. */
		if (goes_on_again(vm) && !vm_order(vm, VM_REQ_PAUSE, "to move its vCPUs"))
			log_debug("vm '%s': busy, its vCPUs are moved later", s->vm_name);
		return false;
	}
	if (!vm || vm->state == VM_RUNNING) {
		out_refuse(&s->out, "vm '%s' could not be paused", s->vm_name);
		return true;
	}
	/* It has been tried with a CPU of the mask before. */
	if (vm_place(vm, vm->config.cpu_mask))
		out_refuse(&s->out, "vm '%s': none of these CPUs is there", s->vm_name);
	else
		out_done(&s->out, "vm '%s': set, vCPUs moved", s->vm_name);
	if (vm->state == VM_PAUSED)
		vm_resume(vm, VM_PAUSED);
	return true;
}

static void set(struct session *s)
{
	struct vm *vm = s->vm;
	struct hv_error err = { "" };
	struct config_vm c;

	if (s->argc < 2) {
		out_refuse(&s->out, "what? SETTING=VALUE ..., vm show NAME shows the settings");
		return;
	}
	c = vm->config;
	if (!settings_apply(&c, s->argc - 1, s->argv + 1, SETTINGS_LIVE, &err) || !settings_check(&c, &err)) {
		out_refuse(&s->out, "%s", err.text);
		return;
	}
	if (c.cpu_mask == vm->config.cpu_mask || vm->state != VM_RUNNING) {
		if (c.cpu_mask != vm->config.cpu_mask && vm_place(vm, c.cpu_mask)) {
			out_refuse(&s->out, "none of these CPUs is there: 0 to %u are", cpu_count - 1);
			return;
		}
		vm->config = c;
		out_done(&s->out, "vm '%s': set", c.name);
		return;
	}
	if (!settings_has_cpu(&c)) {
		out_refuse(&s->out, "none of these CPUs is there: 0 to %u are", cpu_count - 1);
		return;
	}
	if (!vm_order(vm, VM_REQ_PAUSE, "to move its vCPUs")) {
		out_refuse(&s->out, "vm '%s' is busy with another request: try again", c.name);
		return;
	}
	vm->config = c;
	wait_for(s, VM_PAUSED, "");
	s->wait = wait_and_place;
	s->no_cancel = true;
}

static void nmi(struct session *s)
{
	struct vm *vm = s->vm;
	uint64_t index = 0;

	if (!is_in(s, vm, BIT(VM_RUNNING)))
		return;
	if (s->argc > 1 && words_number(s->argv[1], 0, vm->vcpu_count - 1, &index)) {
		out_refuse(&s->out, "'%s': vCPUs 0 to %u are there", s->argv[1], vm->vcpu_count - 1);
		return;
	}
	vcpu_kick(vm->vcpu[index], VCPU_REQ_NMI);
	out_done(&s->out, "vm '%s': an NMI is sent to vCPU %u", vm->config.name, (unsigned)index);
}

static void crash(struct session *s)
{
	struct vm *vm = s->vm;
	uint32_t at = 0;

	if (!vm->crash.len) {
		out_refuse(&s->out, "vm '%s' has not failed", vm->config.name);
		return;
	}
	vm->crash.unread = false;
	out_milli(&s->out, "at_s", vm->crash.ns / 1000000);
	out_lines(&s->out, "record");
	while (at < vm->crash.len) {
		uint32_t n = 0;

		while (at + n < vm->crash.len && vm->crash.text[at + n] != '\n')
			n++;
		out_line(&s->out, "%.*s", (int)n, vm->crash.text + at);
		at += n + 1;
	}
	out_lines_end(&s->out);
}

const struct command vm_commands[] = {
	{ "vm list", "", "all VMs with their state", "vm list", list, NO_VM, 0 },
	{ "vm show", "NAME", "settings, state and vCPUs of a VM", "vm show web", show, OF_VM, 1 },
	{ "vm create", "NAME [like=OTHER] [SETTING=VALUE]...", "makes a VM, stopped",
	  "vm create web2 like=web memory-mib=128", create, NO_VM, WORDS_MAX },
	{ "vm start", "NAME", "loads the images and lets it run", "vm start web", start, OF_VM, 1 },
	{ "vm pause", "NAME", "holds its vCPUs", "vm pause web", pause, OF_VM, 1 },
	{ "vm resume", "NAME", "lets a paused VM go on", "vm resume web", resume, OF_VM, 1 },
	{ "vm reset", "NAME", "as its reset button", "vm reset web", reset, OF_VM, 1 },
	{ "vm stop", "NAME [--force]", "presses its power button, or ends it at once",
	  "vm stop web", stop, OF_VM, 2 },
	{ "vm destroy", "NAME", "removes a stopped VM; its memory is free", "vm destroy web", destroy, OF_VM, 1 },
	{ "vm set", "NAME SETTING=VALUE...", "changes settings now, or for its next start",
	  "vm set web weight=200 cap=50", set, OF_VM, WORDS_MAX },
	{ "vm nmi", "NAME [VCPU]", "sends an NMI, as a debug button would", "vm nmi web", nmi, OF_VM, 2 },
	{ "vm crash", "NAME", "the record of its last failure", "vm crash web", crash, OF_VM, 1 },
	{ 0 },
};
