/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_apic: a VM's worth of local APICs with a clock and a record of every callback. */
#pragma once

#include "tests/host/fake_env.h"
#include "hv/dev/ioapic.h"
#include "hv/dev/lapic.h"

#define FAKE_CPUS 20
#define TSC_KHZ	  2000000

struct fake_apic {
	struct fake_env e;
	struct lapic_env env;
	struct apic_bus bus;
	struct lapic cpu[FAKE_CPUS];
	struct ioapic io;
	unsigned kicks[FAKE_CPUS], inits[FAKE_CPUS], sipis[FAKE_CPUS], nmis[FAKE_CPUS];
	unsigned eois;
	uint8_t vector;
};

static inline void fake_kick(void *ctx, unsigned i)
{
	((struct fake_apic *)ctx)->kicks[i]++;
}

static inline void fake_init_cpu(void *ctx, unsigned i)
{
	((struct fake_apic *)ctx)->inits[i]++;
}

static inline void fake_sipi(void *ctx, unsigned i, uint8_t vector)
{
	((struct fake_apic *)ctx)->sipis[i]++;
	((struct fake_apic *)ctx)->vector = vector;
}

static inline void fake_nmi(void *ctx, unsigned i)
{
	((struct fake_apic *)ctx)->nmis[i]++;
}

static inline void fake_eoi(void *ctx, uint8_t vector)
{
	struct fake_apic *f = ctx;

	f->eois++;
	f->vector = vector;
	ioapic_eoi(&f->io, vector);
}

/* The guest's TSC starts at 1000 and runs at 2 GHz. */
static inline uint64_t fake_tsc(void *ctx)
{
	return ((struct fake_apic *)ctx)->e.now * 2 + 1000;
}

static inline uint64_t fake_apic_now(void *ctx)
{
	return ((struct fake_apic *)ctx)->e.now;
}

static inline void fake_apic_init(struct fake_apic *f, unsigned cpus)
{
	static const struct apic_bus_ops ops = {
		.kick = fake_kick,
		.init = fake_init_cpu,
		.sipi = fake_sipi,
		.nmi = fake_nmi,
		.eoi = fake_eoi,
	};

	memset(f, 0, sizeof(*f));
	fake_env_init(&f->e);
	f->env = (struct lapic_env){
		.ctx = f, .now_ns = fake_apic_now, .guest_tsc = fake_tsc, .tsc_khz = TSC_KHZ};
	apic_bus_init(&f->bus, &ops, f);
	for (unsigned i = 0; i < cpus; i++) {
		lapic_init(&f->cpu[i], &f->bus, &f->env, i, i);
		assert_true(apic_bus_add(&f->bus, &f->cpu[i]));
	}
	ioapic_init(&f->io, &f->bus);
}

static inline uint32_t xread(struct lapic *l, unsigned off)
{
	return (uint32_t)lapic_ops.read(l, off, 4);
}

static inline void xwrite(struct lapic *l, unsigned off, uint32_t v)
{
	lapic_ops.write(l, off, 4, v);
}

static inline void enable(struct lapic *l)
{
	xwrite(l, 0xf0, 0x1ff);
}

static inline void to_x2apic(struct lapic *l)
{
	uint64_t bsp = lapic_base_read(l) & LAPIC_BASE_BSP;

	assert_true(lapic_base_write(l, LAPIC_BASE | LAPIC_BASE_ENABLE | LAPIC_BASE_EXTD | bsp));
}

static inline bool irr(const struct lapic *l, unsigned v)
{
	return l->irr[v / 32] >> v % 32 & 1;
}
