/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_io: port access, single and string. */
#include "hv/exit_dispatch.h"
#include "hv/guest_virt.h"
#include "hv/insn_string.h"
#include "hv/vm.h"

#define STRING_MAX 1024 /* elements per exit, so that other work gets its turn */

static void single(struct vcpu *v, const struct hv_exit *e)
{
	uint64_t *rax = &v->regs.gpr[GPR_RAX];

	if (e->io.in) {
		uint64_t val = platform_io_read(v->vm, e->io.port, e->io.size);

		insn_gpr_set(&v->regs, GPR_RAX, e->io.size, val);
	} else {
		platform_io_write(v->vm, e->io.port, e->io.size, *rax & mask_bytes(e->io.size));
	}
	if (e->io.next_rip)
		vcpu_skip(v, (unsigned)(e->io.next_rip - v->regs.rip));
	else
		vcpu_skip(v, e->insn_len);
}

static enum insn_result one_element(struct guest_virt *g, const struct insn *in, uint16_t port,
				    struct insn_fault *f)
{
	struct hv_regs *r = &g->v->regs;
	enum insn_result res;
	uint64_t linear, val;

	res = insn_string_linear(in, r, &g->sregs,
				 in->op == INSN_INS ? INSN_STRING_DST : INSN_STRING_SRC, &linear, f);
	if (res)
		return res;
	if (in->op == INSN_OUTS) {
		res = g->env.read(g, linear, in->opsize, INSN_READ, &val, f);
		if (!res)
			platform_io_write(g->v->vm, port, in->opsize, val);
	} else {
		res = insn_touch(&g->env, linear, in->opsize, INSN_MODIFY, f);
		if (!res)
			res = g->env.write(g, linear, in->opsize,
					   platform_io_read(g->v->vm, port, in->opsize), f);
	}
	if (!res)
		insn_string_advance(in, r, 1);
	return res;
}

static void string(struct vcpu *v, const struct hv_exit *e)
{
	enum insn_result res = INSN_DONE;
	struct insn_fault f = { 0 };
	struct guest_virt g;
	enum hv_status st;
	struct insn in;

	guest_virt_init(&g, v);
	st = guest_virt_fetch(&g, &in);
	if (st == HV_RETRY)
		return;
	if (st || (in.op != INSN_INS && in.op != INSN_OUTS)) {
		vm_fail(v, "string I/O at port %x cannot be decoded: %s", e->io.port,
			hv_status_name(st));
		return;
	}
	for (unsigned i = 0; i < STRING_MAX && !res && insn_string_count(&in, &v->regs); i++) {
		res = one_element(&g, &in, e->io.port, &f);
		if (!insn_repeats(&in))
			break;
	}
	if (!res && insn_repeats(&in) && insn_string_count(&in, &v->regs))
		res = INSN_AGAIN;
	if (!res)
		insn_finish(&in, &v->regs);
	guest_virt_conclude(v, res, &f);
}

void exit_io(struct vcpu *v, const struct hv_exit *e)
{
	if (e->io.string)
		string(v, e);
	else
		single(v, e);
}
