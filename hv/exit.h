/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit: why a guest left, in vendor-neutral form.
 *
 * Filled by vmx/vmx_exit_decode.c and svm/svm_exit_decode.c, consumed by
 * hv/exit_dispatch.c, which has one handler per class.  Pure data.
 */
#pragma once

#include "hv/base.h"
#include "hv/state.h"
#include "mm/addr.h"

#define HV_EXIT_CLASSES(X)                                                   \
	X(INTR, "interrupt")	   /* a host interrupt; taken on return */    \
	X(HOST_NMI, "nmi")	   /* a host NMI; already taken */            \
	X(TIMER, "timer")	   /* the deadline given to run() has passed */ \
	X(NPF, "npf")		   /* nested page fault */                    \
	X(IO, "io")                                                           \
	X(CPUID, "cpuid")                                                     \
	X(HLT, "hlt")                                                         \
	X(RDMSR, "rdmsr")                                                     \
	X(WRMSR, "wrmsr")                                                     \
	X(CR, "cr")		   /* CR access, CLTS, LMSW: decode the bytes */ \
	X(XSETBV, "xsetbv")                                                   \
	X(INVD, "invd")		   /* INVD and WBINVD */                      \
	X(HYPERCALL, "hypercall")                                             \
	X(UNDEFINED, "undefined")  /* an instruction that guests do not have */ \
	X(GENERAL, "general")	   /* one that guests may not use so: #GP(0) */ \
	X(EXCEPTION, "exception")  /* an intercepted guest exception */       \
	X(IRQ_WINDOW, "irq-window")                                           \
	X(NMI_WINDOW, "nmi-window")                                           \
	X(TRIPLE_FAULT, "triple-fault")                                       \
	X(LOG_FULL, "log-full")	   /* of written pages; emptied already */    \
	X(MISCONFIG, "misconfig")  /* our nested entry is wrong */            \
	X(ENTRY_FAILED, "entry-failed")                                       \
	X(UNKNOWN, "unknown")

enum hv_exit_class {
#define X(name, text) EXIT_##name,
	HV_EXIT_CLASSES(X)
#undef X
	EXIT_CLASS_COUNT
};

const char *hv_exit_class_name(unsigned class);

struct hv_exit {
	enum hv_exit_class class;
	uint8_t insn_len;	 /* 0: the CPU does not tell, decode the bytes */
	struct hv_event vectoring; /* the delivery that this exit interrupted */
	uint32_t reason;	 /* the vendor's code and its operands, for dumps */
	uint64_t info1, info2;
	union {
		struct {
			gpa_t gpa;
			uint8_t access;	  /* NPT_READ, ...; a read-modify-write has two */
			bool walk;	  /* the guest's own page walk did it, not the access */
		} npf;
		struct {
			uint16_t port;
			uint8_t size;
			bool in, string, rep;
			uint64_t next_rip; /* 0: use insn_len */
		} io;
		struct hv_event exception;
	};
};
