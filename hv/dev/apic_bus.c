/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apic_bus: destination matching and delivery.
 *
 * Called from: any CPU.  Locks: none; reads of other vCPUs' registers are
 * single atomic loads.  Pure (tests/host/test_apic_bus.c).
 * Spec: SDM 3A 11.6, 11.11.
 */
#include "hv/dev/apic_bus.h"
#include "hv/dev/lapic.h"

#define MSI_BASE      0xfee00000ULL
#define MSI_BASE_MASK 0xfffffffffff00000ULL
#define MSI_DEST(a)   ((uint8_t)((a) >> 12))
#define MSI_LOGICAL   BIT(2)
#define MSI_REDIRECT  BIT(3)
#define MSI_MODE(d)   ((uint8_t)((d) >> 8 & 7))
#define MSI_ASSERT    BIT(14)
#define MSI_LEVEL     BIT(15)

void apic_bus_init(struct apic_bus *b, const struct apic_bus_ops *ops, void *ctx)
{
	*b = (struct apic_bus){.ops = ops, .ctx = ctx};
}

bool apic_bus_add(struct apic_bus *b, struct lapic *l)
{
	if (b->count == APIC_BUS_CPUS)
		return false;
	b->lapic[b->count++] = l;
	return true;
}

uint64_t apic_bus_match(const struct apic_bus *b, uint32_t dest, bool logical)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < b->count; i++) {
		if (lapic_matches(b->lapic[i], dest, logical))
			set |= BIT64(i);
	}
	return set;
}

static bool accept_fixed(struct apic_bus *b, unsigned idx, const struct apic_msg *msg)
{
	struct lapic *l = b->lapic[idx];

	if (!lapic_software_enabled(l))
		return false;
	if (lapic_accept(l, msg->vector, msg->level))
		b->ops->kick(b->ctx, idx);
	return true;
}

/* One of those that can take it, each in its turn. */
static bool accept_lowest(struct apic_bus *b, uint64_t set, const struct apic_msg *msg)
{
	uint64_t able = 0;
	unsigned start;

	for (unsigned i = 0; i < b->count; i++) {
		if (set & BIT64(i) && lapic_software_enabled(b->lapic[i]))
			able |= BIT64(i);
	}
	if (!able)
		return false;
	start = __atomic_fetch_add(&b->turn, 1, __ATOMIC_RELAXED) % b->count;
	for (unsigned i = 0; i < b->count; i++) {
		unsigned idx = (start + i) % b->count;

		if (able & BIT64(idx))
			return accept_fixed(b, idx, msg);
	}
	return false;
}

static bool accept_one(struct apic_bus *b, unsigned idx, const struct apic_msg *msg)
{
	switch (msg->mode) {
	case APIC_FIXED:
		return accept_fixed(b, idx, msg);
	case APIC_NMI:
		b->ops->nmi(b->ctx, idx);
		return true;
	case APIC_INIT:
		b->ops->init(b->ctx, idx);
		return true;
	case APIC_SIPI:
		b->ops->sipi(b->ctx, idx, msg->vector);
		return true;
	default: /* SMI and ExtINT have nobody to serve them; 3 is reserved */
		return false;
	}
}

static bool deliver_to(struct apic_bus *b, uint64_t set, const struct apic_msg *msg)
{
	bool taken = false;

	if (msg->mode == APIC_LOWEST)
		return accept_lowest(b, set, msg);
	for (unsigned i = 0; i < b->count; i++) {
		if (set & BIT64(i))
			taken |= accept_one(b, i, msg);
	}
	return taken;
}

bool apic_bus_deliver(struct apic_bus *b, const struct apic_msg *msg)
{
	return deliver_to(b, apic_bus_match(b, msg->dest, msg->logical), msg);
}

void apic_bus_ipi(struct apic_bus *b, unsigned from, const struct apic_msg *msg,
		  enum apic_shorthand shorthand)
{
	uint64_t self = BIT64(from), set;

	switch (shorthand) {
	case APIC_SELF:
		set = self;
		break;
	case APIC_ALL:
		set = apic_bus_match(b, APIC_BROADCAST, false);
		break;
	case APIC_ALL_BUT_SELF:
		set = apic_bus_match(b, APIC_BROADCAST, false) & ~self;
		break;
	default:
		set = apic_bus_match(b, msg->dest, msg->logical);
		break;
	}
	/* "Self" and "all including self" exist for fixed delivery only (SDM 3A 11.6.1). */
	if ((shorthand == APIC_SELF || shorthand == APIC_ALL) && msg->mode != APIC_FIXED)
		set &= ~self;
	deliver_to(b, set, msg);
}

bool apic_bus_msi(struct apic_bus *b, uint64_t addr, uint32_t data)
{
	struct apic_msg msg = {
		.dest = apic_bus_dest8(MSI_DEST(addr)),
		.logical = addr & MSI_LOGICAL,
		.level = data & MSI_LEVEL,
		.mode = MSI_MODE(data),
		.vector = (uint8_t)data,
	};

	if ((addr & MSI_BASE_MASK) != MSI_BASE)
		return false;
	/* The redirection hint asks for one receiver among the logical destination. */
	if (msg.logical && addr & MSI_REDIRECT && msg.mode == APIC_FIXED)
		msg.mode = APIC_LOWEST;
	if (!(data & MSI_LEVEL) || data & MSI_ASSERT)
		apic_bus_deliver(b, &msg);
	return true;
}
