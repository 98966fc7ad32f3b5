/* SPDX-License-Identifier: BSD-2-Clause */
/* mtrr: a guest's memory type range registers and PAT.  Pure. */
#include "hv/mtrr.h"

enum {
	MSR_PHYSBASE0 = 0x200, MSR_PHYSMASK7 = 0x20f, MSR_FIX64K = 0x250, MSR_FIX16K_80000 = 0x258,
	MSR_FIX16K_A0000 = 0x259, MSR_FIX4K_FIRST = 0x268, MSR_FIX4K_LAST = 0x26f,
	MSR_DEF_TYPE = 0x2ff,
};

#define DEF_TYPE_WB 0x806 /* on, without the fixed ranges */
#define PAT_UC_MINUS 7

void mtrr_power_up(struct mtrr *m)
{
	memset(m, 0, sizeof(*m));
	m->def_type = DEF_TYPE_WB;
}

static bool is_variable(uint32_t msr)
{
	return msr >= MSR_PHYSBASE0 && msr <= MSR_PHYSMASK7;
}

uint64_t *mtrr_find(struct mtrr *m, uint32_t msr)
{
	if (is_variable(msr)) {
		unsigned i = (msr - MSR_PHYSBASE0) / 2;

		return msr & 1 ? &m->mask[i] : &m->base[i];
	}
	switch (msr) {
	case MSR_FIX64K:
		return &m->fixed[0];
	case MSR_FIX16K_80000:
		return &m->fixed[1];
	case MSR_FIX16K_A0000:
		return &m->fixed[2];
	case MSR_DEF_TYPE:
		return &m->def_type;
	}
	if (msr >= MSR_FIX4K_FIRST && msr <= MSR_FIX4K_LAST)
		return &m->fixed[3 + msr - MSR_FIX4K_FIRST];
	return NULL;
}

/* UC, WC, WT, WP, WB */
static bool is_type(uint8_t t)
{
	return t <= 1 || (t >= 4 && t <= 6);
}

bool mtrr_valid(uint32_t msr, uint64_t val, uint8_t maxphyaddr)
{
	uint64_t beyond = ~(BIT64(maxphyaddr) - 1);

	if (msr == MSR_DEF_TYPE)
		return !(val & ~0xcffULL) && is_type((uint8_t)val);
	if (is_variable(msr))
		return msr & 1 ? !(val & (beyond | 0x7ff)) :
				 !(val & (beyond | 0xf00)) && is_type((uint8_t)val);
	for (int i = 0; i < 64; i += 8)
		if (!is_type((uint8_t)(val >> i)))
			return false;
	return true;
}

bool mtrr_pat_valid(uint64_t val)
{
	for (int i = 0; i < 64; i += 8) {
		uint8_t t = (uint8_t)(val >> i);

		if (t != PAT_UC_MINUS && !is_type(t))
			return false;
	}
	return true;
}
