/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic_reg: the registers of a local APIC, as MMIO (xAPIC) and MSRs (x2APIC).
 *
 * Called from: exit path on the CPU that runs the vCPU.  Locks: none.
 * A register is known by its number: MMIO offset / 16, MSR - 0x800.
 * Pure (tests/host/test_lapic_reg.c).  Spec: SDM 3A tables 11-1 and 11-6.
 */
#include "hv/dev/lapic_internal.h"

enum {
	REG_ID = 0x02,
	REG_VERSION = 0x03,
	REG_TPR = 0x08,
	REG_APR = 0x09,
	REG_PPR = 0x0a,
	REG_EOI = 0x0b,
	REG_RRD = 0x0c,
	REG_LDR = 0x0d,
	REG_DFR = 0x0e,
	REG_SVR = 0x0f,
	REG_ISR = 0x10,
	REG_TMR = 0x18,
	REG_IRR = 0x20,
	REG_ESR = 0x28,
	REG_ICR = 0x30,
	REG_ICR2 = 0x31,
	REG_LVT_TIMER = 0x32,
	REG_LVT_ERROR = 0x37,
	REG_INITIAL_COUNT = 0x38,
	REG_CURRENT_COUNT = 0x39,
	REG_DIVIDE = 0x3e,
	REG_SELF_IPI = 0x3f
};

/* Version 0x14 is an integrated APIC; bit 24 says that EOI broadcasts can be suppressed. */
#define VERSION (0x14u | (LVT_COUNT - 1) << 16 | BIT(24))

#define SVR_MASK 0x13ff /* vector, enable, focus checking, EOI suppression */

#define ICR_VECTOR(v)	 ((uint8_t)(v))
#define ICR_MODE(v)	 ((uint8_t)((v) >> 8 & 7))
#define ICR_LOGICAL	 BIT(11)
#define ICR_ASSERT	 BIT(14)
#define ICR_LEVEL	 BIT(15)
#define ICR_SHORTHAND(v) ((v) >> 18 & 3)
#define ICR_MASK	 0x000ccfffu
/* In x2APIC mode all else is reserved but delivery status (12), which is gone and ignored. */
#define ICR_X2_RESERVED 0xfff32000u

/* Bits that software may write; delivery status and remote IRR are read-only. */
static const uint32_t lvt_mask[LVT_COUNT] = {
	[LVT_TIMER] = 0x000700ff, [LVT_THERMAL] = 0x000107ff, [LVT_PERF] = 0x000107ff,
	[LVT_LINT0] = 0x0001a7ff, [LVT_LINT1] = 0x0001a7ff,   [LVT_ERROR] = 0x000100ff,
};
#define LVT_READ_ONLY (BIT(12) | BIT(14))

static uint32_t read_lvt(const struct lapic *l, unsigned i)
{
	return i == LVT_ERROR ? l->lvt_error : l->lvt[i];
}

static void write_lvt(struct lapic *l, unsigned i, uint32_t val)
{
	val &= lvt_mask[i];
	if (!(l->svr & SVR_ENABLE))
		val |= LVT_MASKED;
	if (i == LVT_TIMER)
		lapic_timer_write_lvt(l, val);
	else if (i == LVT_ERROR)
		store_word(&l->lvt_error, val);
	else
		l->lvt[i] = val;
}

static void write_svr(struct lapic *l, uint32_t val)
{
	store_word(&l->svr, val & SVR_MASK);
	if (val & SVR_ENABLE)
		return;
	for (unsigned i = 0; i < LVT_COUNT; i++)
		write_lvt(l, i, read_lvt(l, i));
}

/* A write arms ESR anew: it shows what was collected since the write before. */
static void write_esr(struct lapic *l)
{
	l->esr = __atomic_exchange_n(&l->esr_pending, 0, __ATOMIC_ACQ_REL);
}

static void send(struct lapic *l, uint32_t icr, uint32_t dest)
{
	struct apic_msg msg = {
		.dest = dest,
		.logical = icr & ICR_LOGICAL,
		.mode = ICR_MODE(icr),
		.vector = ICR_VECTOR(icr),
	};

	if ((msg.mode == APIC_FIXED || msg.mode == APIC_LOWEST) && msg.vector < 16) {
		lapic_error(l, ESR_SEND_ILLEGAL_VECTOR);
		return;
	}
	/* INIT level de-assert only set arbitration IDs, which are gone (SDM 3A 11.6.1). */
	if (msg.mode == APIC_INIT && icr & ICR_LEVEL && !(icr & ICR_ASSERT))
		return;
	/* ExtINT cannot be sent. */
	if (msg.mode != APIC_EXTINT)
		apic_bus_ipi(l->bus, l->index, &msg, ICR_SHORTHAND(icr));
}

/* Reads what both modes have; false when there is no such register. */
static bool read_common(struct lapic *l, unsigned reg, uint32_t *v)
{
	if (reg >= REG_ISR && reg < REG_ESR) {
		const uint32_t *set = reg < REG_TMR ? l->isr : reg < REG_IRR ? l->tmr : l->irr;

		*v = load_word(&set[reg & 7]);
		return true;
	}
	if (reg >= REG_LVT_TIMER && reg <= REG_LVT_ERROR) {
		*v = read_lvt(l, reg - REG_LVT_TIMER);
		return true;
	}
	switch (reg) {
	case REG_VERSION:
		*v = VERSION;
		return true;
	case REG_TPR:
		*v = l->tpr;
		return true;
	case REG_PPR:
		*v = lapic_ppr(l);
		return true;
	case REG_LDR:
		*v = l->ldr;
		return true;
	case REG_SVR:
		*v = l->svr;
		return true;
	case REG_ESR:
		*v = l->esr;
		return true;
	case REG_INITIAL_COUNT:
		*v = l->initial_count;
		return true;
	case REG_CURRENT_COUNT:
		*v = lapic_timer_read_current(l);
		return true;
	case REG_DIVIDE:
		*v = l->divide;
		return true;
	default:
		return false;
	}
}

/* Writes what both modes have and treat alike; false when there is no such register. */
static bool write_common(struct lapic *l, unsigned reg, uint32_t v)
{
	if (reg >= REG_LVT_TIMER && reg <= REG_LVT_ERROR) {
		write_lvt(l, reg - REG_LVT_TIMER, v);
		return true;
	}
	switch (reg) {
	case REG_TPR:
		l->tpr = v & 0xff;
		return true;
	case REG_EOI:
		lapic_eoi(l);
		return true;
	case REG_SVR:
		write_svr(l, v);
		return true;
	case REG_ESR:
		write_esr(l);
		return true;
	case REG_INITIAL_COUNT:
		lapic_timer_write_initial(l, v);
		return true;
	case REG_DIVIDE:
		lapic_timer_write_divide(l, v);
		return true;
	default:
		return false;
	}
}

static bool read_only(unsigned reg)
{
	return reg == REG_ID || reg == REG_VERSION || reg == REG_PPR || reg == REG_CURRENT_COUNT ||
	       (reg >= REG_ISR && reg < REG_ESR);
}

static uint32_t xapic_read(struct lapic *l, unsigned reg)
{
	uint32_t v = 0;

	switch (reg) {
	case REG_ID:
		return l->id << 24;
	case REG_DFR:
		return l->dfr;
	case REG_ICR:
		return (uint32_t)l->icr;
	case REG_ICR2:
		return (uint32_t)(l->icr >> 32);
	case REG_APR:
	case REG_RRD:
	case REG_EOI:
		return 0;
	default:
		if (!read_common(l, reg, &v))
			lapic_error(l, ESR_ILLEGAL_REGISTER);
		return v;
	}
}

static void xapic_write(struct lapic *l, unsigned reg, uint32_t v)
{
	switch (reg) {
	case REG_LDR:
		store_word(&l->ldr, v & 0xff000000);
		break;
	case REG_DFR:
		store_word(&l->dfr, v | 0x0fffffff);
		break;
	case REG_ICR:
		l->icr = (l->icr & ~0xffffffffULL) | (v & ICR_MASK);
		send(l, v, apic_bus_dest8((uint8_t)(l->icr >> 56)));
		break;
	case REG_ICR2:
		l->icr = (l->icr & 0xffffffff) | (uint64_t)(v & 0xff000000) << 32;
		break;
	case REG_APR:
	case REG_RRD:
		break;
	default:
		if (!write_common(l, reg, v) && !read_only(reg))
			lapic_error(l, ESR_ILLEGAL_REGISTER);
		break;
	}
}

static uint64_t lapic_mmio_read(void *dev, uint64_t off, unsigned size)
{
	struct lapic *l = dev;

	/* Disabled or in x2APIC mode nothing answers at the page. */
	if (!lapic_enabled(l) || lapic_x2apic(l))
		return ~0ULL;
	if (size != 4 || off & 0xf || off >= 0x400)
		return 0;
	return xapic_read(l, (unsigned)off >> 4);
}

static void lapic_mmio_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct lapic *l = dev;

	if (!lapic_enabled(l) || lapic_x2apic(l))
		return;
	if (size != 4 || off & 0xf || off >= 0x400)
		return;
	xapic_write(l, (unsigned)off >> 4, (uint32_t)val);
}

const struct dev_ops lapic_ops = {.read = lapic_mmio_read, .write = lapic_mmio_write};

bool lapic_msr_read(struct lapic *l, uint32_t msr, uint64_t *val)
{
	uint32_t v;

	if (!lapic_x2apic(l) || msr < LAPIC_MSR_FIRST || msr > LAPIC_MSR_LAST)
		return false;
	switch (msr - LAPIC_MSR_FIRST) {
	case REG_ID:
		*val = l->id;
		return true;
	case REG_ICR:
		*val = l->icr;
		return true;
	default:
		if (!read_common(l, msr - LAPIC_MSR_FIRST, &v))
			return false;
		*val = v;
		return true;
	}
}

/* Bits of a register that must be 0 when an MSR write reaches it. */
static uint64_t msr_reserved(unsigned reg)
{
	if (reg >= REG_LVT_TIMER && reg <= REG_LVT_ERROR)
		return ~(uint64_t)(lvt_mask[reg - REG_LVT_TIMER] | LVT_READ_ONLY);
	switch (reg) {
	case REG_TPR:
	case REG_SELF_IPI:
		return ~0xffULL;
	case REG_EOI:
	case REG_ESR:
		return ~0ULL;
	case REG_SVR:
		return ~(uint64_t)SVR_MASK;
	case REG_ICR:
		return ICR_X2_RESERVED;
	case REG_DIVIDE:
		return ~0x0bULL;
	default:
		return ~0xffffffffULL;
	}
}

bool lapic_msr_write(struct lapic *l, uint32_t msr, uint64_t val)
{
	unsigned reg = msr - LAPIC_MSR_FIRST;

	if (!lapic_x2apic(l) || msr < LAPIC_MSR_FIRST || msr > LAPIC_MSR_LAST)
		return false;
	if (val & msr_reserved(reg))
		return false;
	switch (reg) {
	case REG_ICR:
		l->icr = (val & 0xffffffff00000000ULL) | ((uint32_t)val & ICR_MASK);
		send(l, (uint32_t)val, (uint32_t)(val >> 32));
		return true;
	case REG_SELF_IPI:
		send(l, APIC_SELF << 18 | (uint32_t)val, 0);
		return true;
	default:
		return write_common(l, reg, (uint32_t)val);
	}
}
