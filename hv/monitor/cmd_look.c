/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_look: exits, registers, tables and screens, from the monitor. */
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/monitor/session.h"
#include "hv/trace.h"
#include "hv/vm_mutate.h"
#include "mm/frame.h"

/* ---- exits ------------------------------------------------------------------------ */

static void trace(struct session *s)
{
	static const struct out_column columns[] = {
		{ "cpu", -3 }, { "vm", 16 }, { "vcpu", -4 }, { "exit", 12 }, { "rip", 18 }, { "info", 18 },
	};
	const struct vm *only = s->vm;

	out_table(&s->out, "exits", columns, ARRAY_SIZE(columns));
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		struct trace_ring r = cpus[cpu]->trace;

		for (uint32_t i = r.next > TRACE_ENTRIES ? r.next - TRACE_ENTRIES : 0; i < r.next; i++) {
			const struct trace_entry *e = &r.e[i % TRACE_ENTRIES];
			uint32_t index = e->id >> 16;
			const struct vm *vm = index < CONFIG_MAX_VMS ? vms[index] : NULL;

			if (only && vm != only)
				continue;
			out_row(&s->out);
			out_u64(&s->out, "cpu", cpu);
			out_str(&s->out, "vm", "%s", vm ? vm->config.name : "-");
			out_u64(&s->out, "vcpu", e->id & 0xffff);
			out_str(&s->out, "exit", "%s", hv_exit_class_name(e->class));
			out_hex(&s->out, "rip", e->rip);
			out_hex(&s->out, "info", e->info);
			out_row_end(&s->out);
		}
	}
	out_table_end(&s->out);
}

static void exits(struct session *s)
{
	static const struct out_column columns[] = { { "exit", 16 }, { "count", -14 } };
	const struct vm *vm = s->vm;

	out_table(&s->out, "exits", columns, ARRAY_SIZE(columns));
	for (unsigned k = 0; k < EXIT_CLASS_COUNT; k++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < vm->vcpu_count; i++)
			sum += vm->vcpu[i]->stats.exits[k];
		if (!sum)
			continue;
		out_row(&s->out);
		out_str(&s->out, "exit", "%s", hv_exit_class_name(k));
		out_u64(&s->out, "count", sum);
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

/* ---- registers ---------------------------------------------------------------------- */

static void registers(struct out *o, struct vcpu *v)
{
	static const char *const gpr[GPR_COUNT] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
						    "rsi", "rdi", "r8",	 "r9",	"r10", "r11",
						    "r12", "r13", "r14", "r15" };
	struct hv_sregs r;

	/* A parked vCPU is loaded nowhere: for a moment it is here. */
	vcpu_unload_current();
	virt->vcpu_load(v);
	virt->get_sregs(v, &r);
	virt->vcpu_put(v);
	out_hex(o, "rip", v->regs.rip);
	out_hex(o, "rflags", v->regs.rflags);
	for (unsigned i = 0; i < GPR_COUNT; i++)
		out_hex(o, gpr[i], v->regs.gpr[i]);
	out_hex(o, "cr0", r.cr0);
	out_hex(o, "cr2", r.cr2);
	out_hex(o, "cr3", r.cr3);
	out_hex(o, "cr4", r.cr4);
	out_hex(o, "efer", r.efer);
	out_hex(o, "cs_base", r.seg[SEG_CS].base);
	out_hex(o, "cs", r.seg[SEG_CS].selector);
	out_u64(o, "cpl", r.cpl);
}

static void dump(struct session *s)
{
	struct vm *vm = s->vm;
	uint64_t index = 0;
	bool held;

	if (s->argc > 1 && words_number(s->argv[1], 0, vm->vcpu_count - 1, &index)) {
		out_refuse(&s->out, "'%s': vCPUs 0 to %u are there", s->argv[1], vm->vcpu_count - 1);
		return;
	}
	held = vm_hold(vm);
	if (vm->state == VM_RUNNING)
		out_refuse(&s->out, "vm '%s' runs: vm pause first", vm->config.name);
	else
		registers(&s->out, vm->vcpu[index]);
	vm_let_go(vm, held);
}

static void walk(struct session *s)
{
	struct vm *vm = s->vm;
	struct npt_leaf leaf;
	uint64_t gpa;

	if (s->argc != 2 || words_number(s->argv[1], 0, BIT64(NPT_GPA_BITS) - 1, &gpa)) {
		out_refuse(&s->out, "NAME ADDRESS are needed; the address is below 2^48");
		return;
	}
	out_hex(&s->out, "gpa", gpa);
	if (!vm_lookup(vm, GPA(gpa), &leaf)) {
		out_str(&s->out, "state", "not mapped");
		return;
	}
	out_hex(&s->out, "hpa", leaf.hpa.v + (gpa & (BIT64(leaf.shift) - 1)));
	out_u64(&s->out, "leaf_kib", BIT64(leaf.shift) / KIB);
	out_str(&s->out, "rights", "%s%s%s", leaf.perms & NPT_READ ? "r" : "-",
		leaf.perms & NPT_WRITE ? "w" : "-", leaf.perms & NPT_EXEC ? "x" : "-");
}

/* ---- screens -------------------------------------------------------------------------- */

static void lines_of(struct session *s, unsigned screen, uint64_t at)
{
	char line[200], part[256];
	size_t len = 0, n;

	out_lines(&s->out, "lines");
	while ((n = console_copy(screen, &at, part, sizeof(part))))
		for (size_t i = 0; i < n; i++) {
			if (part[i] == '\n' || len == sizeof(line)) {
				out_line(&s->out, "%.*s", (int)len, line);
				len = 0;
			}
			if (part[i] && part[i] != '\n' && part[i] != '\r')
				line[len++] = part[i];
		}
	if (len)
		out_line(&s->out, "%.*s", (int)len, line);
	out_lines_end(&s->out);
}

static void log_lines(struct session *s)
{
	lines_of(s, CONSOLE_LOG, 0);
}

static void console_dump(struct session *s)
{
	struct vm *vm = s->vm;

	if (vm)
		lines_of(s, vm->index, 0);
}

/* Shows nothing, and would end the string. */
static size_t without_zeros(char *t, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (t[i])
			t[n++] = t[i];
	return n;
}

static void console_read(struct session *s)
{
	struct vm *vm = s->vm;
	char text[1024];
	uint64_t at = 0;
	size_t n;

	if (s->argc > 1 && words_number(s->argv[1], 0, ~0ULL, &at)) {
		out_refuse(&s->out, "'%s': a place in the output is needed, as console read tells it",
			   s->argv[1]);
		return;
	}
	n = without_zeros(text, console_copy(vm->index, &at, text, sizeof(text)));
	out_u64(&s->out, "next", at);
	out_str(&s->out, "text", "%.*s", (int)n, text);
}

/* \n, \r, \t, \\ and \xNN in place. */
static size_t unescape(char *t)
{
	char *to = t;

	for (const char *from = t; *from; from++) {
		uint64_t v;

		if (*from != '\\' || !from[1]) {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from == 'x' && from[1] && from[2]) {
			char digits[] = { '0', 'x', from[1], from[2], 0 };

			if (!words_number(digits, 0, 255, &v)) {
				*to++ = (char)v;
				from += 2;
				continue;
			}
		}
		*to++ = *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from == 't' ? '\t' : *from;
	}
	return (size_t)(to - t);
}

static void console_write(struct session *s)
{
	struct vm *vm = s->vm;

	if (s->argc != 2) {
		out_refuse(&s->out, "NAME TEXT are needed; '\\n' in TEXT is Enter");
		return;
	}
	out_u64(&s->out, "taken", console_type(vm->index, s->argv[1], unescape(s->argv[1])));
}

static void console_show(struct session *s)
{
	struct vm *vm = s->vm;

	out_done(&s->out, "the line shows vm '%s'", vm->config.name);
	console_focus(vm->index);
}

const struct command look_commands[] = {
	{ "console dump", "NAME", "the last 64 KiB that a VM wrote", "console dump web", console_dump, OF_VM, 1 },
	{ "console read", "NAME [FROM]", "a piece of it, for programs",
	  "console read web 0", console_read, OF_VM, 2 },
	{ "console write", "NAME TEXT", "types to a VM", "console write web 'ls\\n'", console_write, OF_VM, 2 },
	{ "console show", "NAME", "moves the line to a VM", "console show web", console_show, OF_VM, 1 },
	{ "log", "", "what the hypervisor has said", "log", log_lines, NO_VM, 0 },
	{ "trace", "[NAME]", "the last exits of each CPU", "trace web", trace, OF_VM_IF_NAMED, 1 },
	{ "exits", "NAME", "exits by class", "exits web", exits, OF_VM, 1 },
	{ "dump", "NAME [VCPU]", "registers of a paused VM", "dump web 0", dump, OF_VM, 2 },
	{ "walk", "NAME ADDRESS", "where a guest address lies", "walk web 0x100000", walk, OF_VM, 2 },
	{ 0 },
};
