/* SPDX-License-Identifier: BSD-2-Clause */
/* exit_insn: instructions whose handling is a line or two. */
#include "hv/event.h"
#include "hv/exit_dispatch.h"
#include "hv/vm.h"

void exit_hlt(struct vcpu *v, const struct hv_exit *e)
{
	unsigned len = exit_insn_len(v, e);

	if (!len)
		return;
	vcpu_halt(v, len);
}

/* Caches are coherent and guests have no devices that do DMA behind them. */
void exit_invd(struct vcpu *v, const struct hv_exit *e)
{
	vcpu_skip(v, exit_insn_len(v, e));
}

void exit_undefined(struct vcpu *v, const struct hv_exit *e)
{
	(void)e;
	vcpu_raise(v, VEC_UD);
}

void exit_general(struct vcpu *v, const struct hv_exit *e)
{
	(void)e;
	vcpu_raise_error(v, VEC_GP, 0);
}

/* We intercept none but for our own purposes, so it is the guest's. */
void exit_exception(struct vcpu *v, const struct hv_exit *e)
{
	if (e->exception.vector == VEC_MC) {
		vm_fail(v, "machine check while the guest ran");
		return;
	}
	if (event_has_error(e->exception.vector))
		vcpu_raise_error(v, e->exception.vector, e->exception.error);
	else
		vcpu_raise(v, e->exception.vector);
}
