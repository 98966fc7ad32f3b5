/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic: state, priorities, acceptance, EOI and modes of a local APIC.
 *
 * Called from: any CPU or the owner, as lapic.h says.  Locks: none.
 * Pure (tests/host/test_lapic.c).  Spec: SDM 3A 11.4, 11.6.2, 11.8.
 */
#include "hv/dev/lapic_internal.h"

#define FIRST_LEGAL_VECTOR 16

/* LDR in x2APIC mode: cluster in the high half, member bit in the low one. */
static uint32_t x2apic_ldr(uint32_t id)
{
	return id >> 4 << 16 | BIT(id & 0xf);
}

/* The highest bit set in @w, or -1. */
static int highest(const uint32_t w[8])
{
	for (int i = 7; i >= 0; i--) {
		uint32_t v = load_word(&w[i]);

		if (v)
			return i * 32 + 31 - __builtin_clz(v);
	}
	return -1;
}

bool lapic_software_enabled(const struct lapic *l)
{
	return lapic_enabled(l) && load_word(&l->svr) & SVR_ENABLE;
}

/* True when @vector was not requested before. */
static bool request(struct lapic *l, uint8_t vector, bool level)
{
	uint32_t bit = BIT(vector & 31);
	unsigned w = vector >> 5;

	/* The trigger mode first: who sees the request must see how it was made. */
	if (level)
		__atomic_fetch_or(&l->tmr[w], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&l->tmr[w], ~bit, __ATOMIC_RELAXED);
	return !(__atomic_fetch_or(&l->irr[w], bit, __ATOMIC_ACQ_REL) & bit);
}

bool lapic_error(struct lapic *l, uint32_t bit)
{
	uint32_t lvt = load_word(&l->lvt_error);

	if (__atomic_fetch_or(&l->esr_pending, bit, __ATOMIC_ACQ_REL) & bit)
		return false;
	/* An illegal vector in LVT error itself is one error, not an endless row of them. */
	if (lvt & LVT_MASKED || LVT_VECTOR(lvt) < FIRST_LEGAL_VECTOR)
		return false;
	return request(l, LVT_VECTOR(lvt), false);
}

bool lapic_accept(struct lapic *l, uint8_t vector, bool level)
{
	if (!lapic_software_enabled(l))
		return false;
	if (vector < FIRST_LEGAL_VECTOR)
		return lapic_error(l, ESR_RECEIVE_ILLEGAL_VECTOR);
	return request(l, vector, level);
}

static bool matches_x2apic(const struct lapic *l, uint32_t dest, bool logical)
{
	uint32_t ldr = x2apic_ldr(l->id);

	if (!logical)
		return dest == l->id;
	return dest >> 16 == ldr >> 16 && dest & ldr & 0xffff;
}

static bool matches_xapic(const struct lapic *l, uint32_t dest, bool logical)
{
	uint32_t ldr = load_word(&l->ldr) >> 24;

	if (!logical)
		return dest == l->id;
	if (dest > 0xff)
		return false;
	switch (load_word(&l->dfr) >> 28) {
	case 0xf: /* flat */
		return dest & ldr;
	case 0: /* cluster */
		return dest >> 4 == ldr >> 4 && dest & ldr & 0xf;
	default:
		return false;
	}
}

bool lapic_matches(const struct lapic *l, uint32_t dest, bool logical)
{
	if (!lapic_enabled(l))
		return false;
	if (dest == APIC_BROADCAST)
		return true;
	return lapic_x2apic(l) ? matches_x2apic(l, dest, logical) : matches_xapic(l, dest, logical);
}

uint8_t lapic_ppr(const struct lapic *l)
{
	int isrv = highest(l->isr);
	unsigned serviced = isrv < 0 ? 0 : (unsigned)isrv & 0xf0;

	return (uint8_t)((l->tpr & 0xf0) >= serviced ? l->tpr : serviced);
}

int lapic_pending(const struct lapic *l)
{
	int v = lapic_software_enabled(l) ? highest(l->irr) : -1;

	return v >= 0 && (v & 0xf0) > (lapic_ppr(l) & 0xf0) ? v : -1;
}

void lapic_ack(struct lapic *l, uint8_t vector)
{
	uint32_t bit = BIT(vector & 31);

	__atomic_fetch_and(&l->irr[vector >> 5], ~bit, __ATOMIC_ACQ_REL);
	l->isr[vector >> 5] |= bit;
}

void lapic_eoi(struct lapic *l)
{
	int v = highest(l->isr);
	uint32_t bit;

	if (v < 0)
		return;
	bit = BIT(v & 31);
	l->isr[v >> 5] &= ~bit;
	if (load_word(&l->tmr[v >> 5]) & bit && !(l->svr & SVR_EOI_SUPPRESS))
		l->bus->ops->eoi(l->bus->ctx, (uint8_t)v);
}

bool lapic_accepts_extint(const struct lapic *l)
{
	uint32_t lvt = l->lvt[LVT_LINT0];

	return !lapic_enabled(l) || (!(lvt & LVT_MASKED) && LVT_MODE(lvt) == APIC_EXTINT);
}

bool lapic_accepts_nmi(const struct lapic *l)
{
	uint32_t lvt = l->lvt[LVT_LINT1];

	return !lapic_enabled(l) || (!(lvt & LVT_MASKED) && LVT_MODE(lvt) == APIC_NMI);
}

uint64_t lapic_cr8_read(const struct lapic *l)
{
	return l->tpr >> 4;
}

void lapic_cr8_write(struct lapic *l, uint64_t val)
{
	l->tpr = (uint32_t)(val & 0xf) << 4;
}

/* All registers except ID and APIC_BASE. */
static void reset_registers(struct lapic *l)
{
	for (unsigned i = 0; i < 8; i++) {
		store_word(&l->irr[i], 0);
		store_word(&l->tmr[i], 0);
		l->isr[i] = 0;
	}
	for (unsigned i = 0; i < LVT_COUNT; i++)
		l->lvt[i] = LVT_MASKED;
	store_word(&l->lvt_error, LVT_MASKED);
	store_word(&l->esr_pending, 0);
	store_word(&l->ldr, lapic_x2apic(l) ? x2apic_ldr(l->id) : 0);
	store_word(&l->dfr, 0xffffffff);
	store_word(&l->svr, 0xff);
	l->tpr = l->esr = 0;
	l->icr = 0;
	lapic_timer_reset(l);
}

void lapic_init(struct lapic *l, struct apic_bus *bus, const struct lapic_env *env, unsigned index,
		uint32_t id)
{
	*l = (struct lapic){.bus = bus, .env = env, .index = index, .id = id, .bsp = index == 0};
	lapic_power_up(l);
}

void lapic_power_up(struct lapic *l)
{
	store_word(&l->base,
		   (uint32_t)(LAPIC_BASE | LAPIC_BASE_ENABLE | (l->bsp ? LAPIC_BASE_BSP : 0)));
	reset_registers(l);
}

void lapic_reset_init(struct lapic *l)
{
	reset_registers(l);
}

void lapic_virtual_wire(struct lapic *l)
{
	store_word(&l->svr, 0xff | SVR_ENABLE);
	l->lvt[LVT_LINT0] = APIC_EXTINT << 8;
	l->lvt[LVT_LINT1] = APIC_NMI << 8;
}

uint64_t lapic_base_read(const struct lapic *l)
{
	return l->base;
}

/* SDM 3A 11.12.1 and figure 11-27: x2APIC is entered from xAPIC and left to disabled. */
static bool mode_change_allowed(uint64_t from, uint64_t to)
{
	bool was_on = from & LAPIC_BASE_ENABLE, was_x2 = from & LAPIC_BASE_EXTD;
	bool on = to & LAPIC_BASE_ENABLE, x2 = to & LAPIC_BASE_EXTD;

	if (x2)
		return on && was_on;
	return !(on && was_x2);
}

bool lapic_base_write(struct lapic *l, uint64_t val)
{
	uint64_t flags = LAPIC_BASE_BSP | LAPIC_BASE_EXTD | LAPIC_BASE_ENABLE;
	uint32_t old = l->base;
	uint32_t now;

	/* Relocation and reserved bits alike; which CPU is the BSP is not for the guest to say. */
	if ((val & ~flags) != LAPIC_BASE || !mode_change_allowed(old, val))
		return false;
	now = ((uint32_t)val & (uint32_t)~LAPIC_BASE_BSP) | (old & (uint32_t)LAPIC_BASE_BSP);
	store_word(&l->base, now);
	if (old & LAPIC_BASE_ENABLE && !(now & LAPIC_BASE_ENABLE))
		reset_registers(l); /* an APIC that was disabled comes back as after power-up */
	if (now & LAPIC_BASE_EXTD && !(old & LAPIC_BASE_EXTD)) {
		store_word(&l->ldr, x2apic_ldr(l->id));
		l->icr &= 0xffffffff;
	}
	return true;
}
