/* SPDX-License-Identifier: BSD-2-Clause */
/* svm_exit_decode: a raw #VMEXIT turned into struct hv_exit.  Pure. */
#include "svm/svm_exit_decode.h"

/* EXITINFO1 of IOIO (APM 2 15.10.2) */
#define IOIO_IN	 BIT64(0)
#define IOIO_STR BIT64(2)
#define IOIO_REP BIT64(3)

static enum hv_exit_class class_of(uint32_t code, uint64_t info1)
{
	switch (code) {
	case SVM_EXIT_INTR:
	case SVM_EXIT_SMI:
	case SVM_EXIT_INIT:
		return EXIT_INTR;
	case SVM_EXIT_NMI:
		return EXIT_HOST_NMI;
	case SVM_EXIT_VINTR:
		return EXIT_IRQ_WINDOW;
	case SVM_EXIT_IRET:
		return EXIT_NMI_WINDOW;
	case SVM_EXIT_CPUID:
		return EXIT_CPUID;
	case SVM_EXIT_INVD:
	case SVM_EXIT_WBINVD:
		return EXIT_INVD;
	case SVM_EXIT_HLT:
		return EXIT_HLT;
	case SVM_EXIT_IOIO:
		return EXIT_IO;
	case SVM_EXIT_MSR:
		return info1 & 1 ? EXIT_WRMSR : EXIT_RDMSR;
	case SVM_EXIT_SHUTDOWN:
		return EXIT_TRIPLE_FAULT;
	case SVM_EXIT_VMMCALL:
		return EXIT_HYPERCALL;
	case SVM_EXIT_XSETBV:
		return EXIT_XSETBV;
	case SVM_EXIT_RDPMC:
		return EXIT_GENERAL;
	case SVM_EXIT_INVLPGA:
		return EXIT_UNDEFINED;
	case SVM_EXIT_NPF:
		return EXIT_NPF;
	case SVM_EXIT_INVALID:
		return EXIT_ENTRY_FAILED;
	}
	if (code <= SVM_EXIT_CR_LAST || code == SVM_EXIT_CR0_SEL_WRITE)
		return EXIT_CR;
	if (code >= SVM_EXIT_EXCEPTION && code <= SVM_EXIT_EXCEPTION_LAST)
		return EXIT_EXCEPTION;
	if ((code >= SVM_EXIT_VMLOAD && code <= SVM_EXIT_SKINIT) || code == SVM_EXIT_VMRUN ||
	    (code >= SVM_EXIT_MONITOR && code <= SVM_EXIT_MWAIT_COND))
		return EXIT_UNDEFINED;
	return EXIT_UNKNOWN;
}

/*
 * What was being delivered.  INT n, INT3 and INTO are not repeated as events:
 * RIP still points to the instruction, which simply executes again.
 */
static void decode_vectoring(uint64_t info, struct hv_event *v)
{
	*v = (struct hv_event){
		.valid = info & SVM_EVENT_VALID,
		.vector = (uint8_t)info,
		.type = info >> 8 & 7,
		.has_error = info & SVM_EVENT_ERROR_VALID,
		.error = (uint32_t)(info >> 32),
	};
	/* QEMU's TCG calls an interrupt so, and VMRUN would refuse it. */
	if (v->type == EVENT_EXCEPTION && v->vector >= 32)
		v->type = EVENT_EXTINT;
	if (v->type == EVENT_SOFT_INT ||
	    (v->type == EVENT_EXCEPTION && (v->vector == VEC_BP || v->vector == VEC_OF)))
		v->valid = false;
}

static void decode_io(const struct vmcb_control *c, struct hv_exit *e)
{
	e->io.port = (uint16_t)(c->exitinfo1 >> 16);
	e->io.size = c->exitinfo1 >> 4 & 7; /* one bit each for 1, 2 and 4 bytes */
	e->io.in = c->exitinfo1 & IOIO_IN;
	e->io.string = c->exitinfo1 & IOIO_STR;
	e->io.rep = c->exitinfo1 & IOIO_REP;
	e->io.next_rip = c->exitinfo2;
}

void svm_exit_decode(const struct vmcb *vmcb, bool nrip_save, struct hv_exit *e)
{
	const struct vmcb_control *c = &vmcb->control;
	uint32_t code = (uint32_t)c->exitcode;

	e->reason = code;
	e->info1 = c->exitinfo1;
	e->info2 = c->exitinfo2;
	e->insn_len = 0;
	e->vectoring.valid = false;
	e->class = class_of(code, c->exitinfo1);
	if (nrip_save && c->nrip > vmcb->save.rip && c->nrip - vmcb->save.rip <= 15)
		e->insn_len = (uint8_t)(c->nrip - vmcb->save.rip);
	switch (e->class) {
	case EXIT_NPF:
		svm_exit_decode_npf(c, e);
		break;
	case EXIT_IO:
		decode_io(c, e);
		break;
	case EXIT_EXCEPTION:
		e->exception = (struct hv_event){
			.valid = true,
			.type = EVENT_EXCEPTION,
			.vector = (uint8_t)(code - SVM_EXIT_EXCEPTION),
			.error = (uint32_t)c->exitinfo1,
		};
		break;
	default:
		break;
	}
	if (c->exitintinfo & SVM_EVENT_VALID)
		decode_vectoring(c->exitintinfo, &e->vectoring);
}
