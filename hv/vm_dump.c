/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_dump: what is kept and shown of a VM that has failed. */
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/time.h"
#include "hv/trace.h"
#include "hv/vm.h"

static struct lock say_lock;
static struct vm_crash *record; /* of the VM that is being dumped */

static void say(const char *f, ...) __printf(1, 2);
static void say(const char *f, ...)
{
	char line[240];
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	n = min_u64(n, sizeof(line) - 1);
	console_log_write(line, n, true);
	n = min_u64(n, sizeof(record->text) - record->len);
	memcpy(record->text + record->len, line, n);
	record->len += (uint32_t)n;
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
	lock(&say_lock);
	record = &v->vm->crash;
	*record = (struct vm_crash){ .unread = true, .ns = time_now_ns() };
	say("vm '%s' vcpu %u: %s\n", v->vm->config.name, v->index, why);
	dump_registers(v);
	virt->dump(v, say);
	trace_print_last(v->home->id, say);
	unlock(&say_lock);
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
