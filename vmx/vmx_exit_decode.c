/* SPDX-License-Identifier: BSD-2-Clause */
/* vmx_exit_decode: raw values of a VM exit turned into struct hv_exit.  Pure. */
#include "vmx/vmx_exit_decode.h"

#include "mm/npte.h"

#define BASIC_REASON(r) ((r)&0xffff)

/* Exit qualification of EPT violations (SDM 3C table 28-7); bits above 12 vary by CPU. */
#define EPT_READ	 BIT64(0)
#define EPT_WRITE	 BIT64(1)
#define EPT_FETCH	 BIT64(2)
#define EPT_LINEAR_VALID BIT64(7)
#define EPT_TRANSLATED	 BIT64(8) /* the access itself, not the walk towards it */
#define EPT_IRET	 BIT64(12)

/* Exit qualification of I/O instructions (table 28-5) */
#define IO_SIZE(q) (((q)&7) + 1)
#define IO_IN	   BIT64(3)
#define IO_STRING  BIT64(4)
#define IO_REP	   BIT64(5)
#define IO_PORT(q) ((uint16_t)((q) >> 16))

enum reason {
	REASON_EXCEPTION_OR_NMI = 0,
	REASON_EPT_VIOLATION = 48,
	REASON_LOG_FULL = 62,
	REASON_COUNT = 78,
};

#define QUAL VMX_NEED_QUALIFICATION
#define GPA_ VMX_NEED_GPA
#define INT  VMX_NEED_INTERRUPTION
#define VEC  VMX_NEED_VECTORING
#define LEN  VMX_NEED_LENGTH
#define ALL  (QUAL | GPA_ | INT | VEC | LEN)

/* Reasons that our controls rule out are UNKNOWN: should one come, all is read for the dump. */
#define REASONS(X)                                                                                 \
	X(0, EXCEPTION, INT | VEC, "exception or NMI")                                             \
	X(1, INTR, 0, "external interrupt")                                                        \
	X(2, TRIPLE_FAULT, 0, "triple fault")                                                      \
	X(3, INTR, 0, "INIT signal")                                                               \
	X(4, INTR, 0, "SIPI")                                                                      \
	X(5, UNKNOWN, ALL, "I/O SMI")                                                              \
	X(6, UNKNOWN, ALL, "other SMI")                                                            \
	X(7, IRQ_WINDOW, 0, "interrupt window")                                                    \
	X(8, NMI_WINDOW, 0, "NMI window")                                                          \
	X(9, UNKNOWN, ALL, "task switch")                                                          \
	X(10, CPUID, LEN, "CPUID")                                                                 \
	X(11, UNDEFINED, 0, "GETSEC")                                                              \
	X(12, HLT, LEN, "HLT")                                                                     \
	X(13, INVD, LEN, "INVD")                                                                   \
	X(14, UNKNOWN, ALL, "INVLPG")                                                              \
	X(15, GENERAL, 0, "RDPMC")                                                                 \
	X(16, UNKNOWN, ALL, "RDTSC")                                                               \
	X(17, UNKNOWN, ALL, "RSM")                                                                 \
	X(18, HYPERCALL, LEN, "VMCALL")                                                            \
	X(19, UNDEFINED, 0, "VMCLEAR")                                                             \
	X(20, UNDEFINED, 0, "VMLAUNCH")                                                            \
	X(21, UNDEFINED, 0, "VMPTRLD")                                                             \
	X(22, UNDEFINED, 0, "VMPTRST")                                                             \
	X(23, UNDEFINED, 0, "VMREAD")                                                              \
	X(24, UNDEFINED, 0, "VMRESUME")                                                            \
	X(25, UNDEFINED, 0, "VMWRITE")                                                             \
	X(26, UNDEFINED, 0, "VMXOFF")                                                              \
	X(27, UNDEFINED, 0, "VMXON")                                                               \
	X(28, CR, 0, "control-register access")                                                    \
	X(29, UNKNOWN, ALL, "MOV DR")                                                              \
	X(30, IO, QUAL | LEN, "I/O instruction")                                                   \
	X(31, RDMSR, LEN, "RDMSR")                                                                 \
	X(32, WRMSR, LEN, "WRMSR")                                                                 \
	X(33, UNKNOWN, ALL, "entry failure: invalid guest state")                                  \
	X(34, UNKNOWN, ALL, "entry failure: MSR loading")                                          \
	X(36, UNDEFINED, 0, "MWAIT")                                                               \
	X(37, UNKNOWN, ALL, "monitor trap flag")                                                   \
	X(39, UNDEFINED, 0, "MONITOR")                                                             \
	X(40, UNKNOWN, ALL, "PAUSE")                                                               \
	X(41, UNKNOWN, ALL, "entry failure: machine-check event")                                  \
	X(43, UNKNOWN, ALL, "TPR below threshold")                                                 \
	X(44, UNKNOWN, ALL, "APIC access")                                                         \
	X(45, UNKNOWN, ALL, "virtualized EOI")                                                     \
	X(46, UNKNOWN, ALL, "access to GDTR or IDTR")                                              \
	X(47, UNKNOWN, ALL, "access to LDTR or TR")                                                \
	X(48, NPF, QUAL | GPA_ | VEC, "EPT violation")                                             \
	X(49, MISCONFIG, GPA_ | VEC, "EPT misconfiguration")                                       \
	X(50, UNDEFINED, 0, "INVEPT")                                                              \
	X(51, UNKNOWN, ALL, "RDTSCP")                                                              \
	X(52, TIMER, 0, "VMX-preemption timer")                                                    \
	X(53, UNDEFINED, 0, "INVVPID")                                                             \
	X(54, INVD, LEN, "WBINVD or WBNOINVD")                                                     \
	X(55, XSETBV, LEN, "XSETBV")                                                               \
	X(56, UNKNOWN, ALL, "APIC write")                                                          \
	X(57, UNKNOWN, ALL, "RDRAND")                                                              \
	X(58, UNKNOWN, ALL, "INVPCID")                                                             \
	X(59, UNDEFINED, 0, "VMFUNC")                                                              \
	X(60, UNDEFINED, 0, "ENCLS")                                                               \
	X(61, UNKNOWN, ALL, "RDSEED")                                                              \
	X(62, LOG_FULL, QUAL | VEC, "page-modification log full")                                  \
	X(63, UNKNOWN, ALL, "XSAVES")                                                              \
	X(64, UNKNOWN, ALL, "XRSTORS")                                                             \
	X(66, UNKNOWN, ALL, "SPP-related event")                                                   \
	X(67, UNKNOWN, ALL, "UMWAIT")                                                              \
	X(68, UNKNOWN, ALL, "TPAUSE")                                                              \
	X(69, UNKNOWN, ALL, "LOADIWKEY")                                                           \
	X(76, UNDEFINED, 0, "SEAMCALL")                                                            \
	X(77, UNDEFINED, 0, "TDCALL")

struct reason_info {
	const char *name;
	uint8_t class, needs;
};

static const struct reason_info infos[REASON_COUNT] = {
#define X(number, class, needs, name) [number] = {name, EXIT_##class, needs},
	REASONS(X)
#undef X
};

static const struct reason_info *info_of(uint32_t reason)
{
	static const struct reason_info none = {"?", EXIT_UNKNOWN, ALL};
	uint32_t basic = BASIC_REASON(reason);

	return basic < REASON_COUNT && infos[basic].name ? &infos[basic] : &none;
}

unsigned vmx_exit_needs(uint32_t reason)
{
	if (reason == VMX_REASON_VMFAIL)
		return 0;
	return reason & VMX_REASON_ENTRY_FAILED ? QUAL : info_of(reason)->needs;
}

const char *vmx_exit_reason_name(uint32_t reason)
{
	return reason == VMX_REASON_VMFAIL ? "VMfail" : info_of(reason)->name;
}

static uint8_t type_of(uint32_t event)
{
	return event >> 8 & 7;
}

bool vmx_exit_vectoring_is_soft(uint32_t vectoring)
{
	return (vectoring & VMX_EVENT_VALID) && type_of(vectoring) >= EVENT_SOFT_INT;
}

static struct hv_event decode_event(uint32_t info, uint32_t error)
{
	struct hv_event v = {
		.valid = info & VMX_EVENT_VALID,
		.vector = (uint8_t)info,
		.type = type_of(info),
		.has_error = info & VMX_EVENT_ERROR_VALID,
	};

	if (v.has_error)
		v.error = error;
	return v;
}

static void decode_io(uint64_t q, struct hv_exit *e)
{
	e->io.port = IO_PORT(q);
	e->io.size = IO_SIZE(q);
	e->io.in = q & IO_IN;
	e->io.string = q & IO_STRING;
	e->io.rep = q & IO_REP;
}

static void decode_npf(const struct vmx_raw_exit *raw, struct hv_exit *e)
{
	uint64_t q = raw->qualification;

	e->npf.gpa = GPA(raw->gpa);
	/* A read-modify-write need not set the read bit, and none of the three is a read too. */
	e->npf.access = q & NPT_RWX ? q & NPT_RWX : NPT_READ;
	e->npf.walk = (q & EPT_LINEAR_VALID) && !(q & EPT_TRANSLATED);
}

static bool is_nmi(uint32_t event)
{
	return (event & VMX_EVENT_VALID) && type_of(event) == EVENT_NMI;
}

static enum hv_exit_class class_of(const struct vmx_raw_exit *raw)
{
	if (raw->reason == VMX_REASON_VMFAIL || (raw->reason & VMX_REASON_ENTRY_FAILED))
		return EXIT_ENTRY_FAILED;
	if (BASIC_REASON(raw->reason) == REASON_EXCEPTION_OR_NMI && is_nmi(raw->interruption))
		return EXIT_HOST_NMI;
	return info_of(raw->reason)->class;
}

void vmx_exit_decode(const struct vmx_raw_exit *raw, struct hv_exit *e)
{
	memset(e, 0, sizeof(*e));
	e->class = class_of(raw);
	e->reason = raw->reason;
	e->info1 = raw->qualification;
	e->info2 = raw->gpa;
	e->vectoring = decode_event(raw->vectoring, raw->vectoring_error);
	if (vmx_exit_vectoring_is_soft(raw->vectoring))
		e->vectoring.insn_len = (uint8_t)raw->length;
	else
		e->insn_len = (uint8_t)raw->length;
	switch (e->class) {
	case EXIT_NPF:
		decode_npf(raw, e);
		break;
	case EXIT_MISCONFIG:
		e->npf.gpa = GPA(raw->gpa);
		break;
	case EXIT_IO:
		decode_io(raw->qualification, e);
		break;
	case EXIT_EXCEPTION:
		e->exception = decode_event(raw->interruption, raw->interruption_error);
		break;
	default:
		break;
	}
}

bool vmx_exit_iret_unblocked_nmi(const struct vmx_raw_exit *raw)
{
	/* With a delivery interrupted, or on a double fault, bit 12 is undefined (SDM 3C 28.2.3).
	 */
	if (raw->vectoring & VMX_EVENT_VALID)
		return false;
	switch (raw->reason) {
	case REASON_EXCEPTION_OR_NMI:
		return (raw->interruption & VMX_EVENT_IRET) && (uint8_t)raw->interruption != VEC_DF;
	case REASON_EPT_VIOLATION:
	case REASON_LOG_FULL:
		return raw->qualification & EPT_IRET;
	default:
		return false;
	}
}
