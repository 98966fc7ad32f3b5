/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lapic_internal: what lapic.c (state), lapic_reg.c (registers) and
 * lapic_timer.c share.  Nobody else includes it.  Pure.
 */
#pragma once

#include "hv/dev/lapic.h"

#define SVR_ENABLE	 BIT(8)
#define SVR_EOI_SUPPRESS BIT(12)

#define ESR_SEND_ILLEGAL_VECTOR	   BIT(5)
#define ESR_RECEIVE_ILLEGAL_VECTOR BIT(6)
#define ESR_ILLEGAL_REGISTER	   BIT(7)

static inline uint32_t load_word(const uint32_t *w)
{
	return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}

static inline void store_word(uint32_t *w, uint32_t v)
{
	__atomic_store_n(w, v, __ATOMIC_RELEASE);
}

static inline bool lapic_enabled(const struct lapic *l)
{
	return load_word(&l->base) & LAPIC_BASE_ENABLE;
}

static inline bool lapic_x2apic(const struct lapic *l)
{
	return load_word(&l->base) & LAPIC_BASE_EXTD;
}

/* Any CPU: notes an error for ESR; true when its LVT made an interrupt pending. */
bool lapic_error(struct lapic *l, uint32_t bit);

void lapic_timer_reset(struct lapic *l);
void lapic_timer_write_lvt(struct lapic *l, uint32_t val);
void lapic_timer_write_initial(struct lapic *l, uint32_t val);
void lapic_timer_write_divide(struct lapic *l, uint32_t val);
uint32_t lapic_timer_read_current(const struct lapic *l);
