/* SPDX-License-Identifier: BSD-2-Clause */
/* npte: nested page-table entries of EPT and NPT.  Pure. */
#include "mm/npte.h"

#define EPT_MEMTYPE_WB (6ULL << 3)
#define NPT_USER       BIT64(2) /* nested accesses count as user accesses */

const struct npt_fmt npt_fmt_ept = {
	.name = "EPT",
	.addr = 0x000ffffffffff000ULL,
	.table_flags = NPTE_SW_P | 7,
	.leaf_flags = NPTE_SW_P | EPT_MEMTYPE_WB,
	.read = BIT64(0),
	.write = BIT64(1),
	.exec = BIT64(2),
	.large = BIT64(7),
	.accessed = BIT64(8),
	.dirty = BIT64(9),
	.max_leaf_shift = NPT_SHIFT_1G,
};

const struct npt_fmt npt_fmt_npt = {
	.name = "NPT",
	.addr = 0x000ffffffffff000ULL,
	.table_flags = NPTE_SW_P | BIT64(0) | BIT64(1) | NPT_USER,
	.leaf_flags = NPTE_SW_P | NPT_USER,
	.read = BIT64(0), /* the present bit */
	.write = BIT64(1),
	.no_exec = BIT64(63),
	.large = BIT64(7),
	.accessed = BIT64(5),
	.dirty = BIT64(6),
	.max_leaf_shift = NPT_SHIFT_1G,
};

uint64_t npte_leaf(const struct npt_fmt *f, hpa_t hpa, unsigned shift, unsigned perms,
		   bool upgradable)
{
	uint64_t e = hpa.v | f->leaf_flags | f->read;

	if (perms & NPT_WRITE)
		e |= f->write;
	if ((perms & NPT_WRITE) || upgradable)
		e |= NPTE_MW;
	e |= perms & NPT_EXEC ? f->exec : f->no_exec;
	if (shift > NPT_SHIFT_4K)
		e |= f->large;
	return e;
}

uint64_t npte_table(const struct npt_fmt *f, hpa_t table)
{
	return table.v | f->table_flags;
}

static enum npte_state leaf_state(const struct npt_fmt *f, uint64_t e)
{
	if ((e & f->leaf_flags) != f->leaf_flags)
		return NPTE_ILLEGAL;
	if (npte_is_aged(f, e))
		return e & (f->write | f->exec) ? NPTE_ILLEGAL : NPTE_AG;
	if (e & NPTE_SAVED_X)
		return NPTE_ILLEGAL;
	if (!(e & f->write))
		return e & NPTE_MW ? NPTE_RL : NPTE_RO;
	if (!(e & NPTE_MW))
		return NPTE_ILLEGAL;
	return e & npte_dirty_bit(f) ? NPTE_WD : NPTE_WC;
}

enum npte_state npte_state(const struct npt_fmt *f, uint64_t e, unsigned shift)
{
	if (e == NPTE_EMPTY)
		return NPTE_E;
	if (e == NPTE_FROZEN)
		return NPTE_Z;
	if (!npte_present(e))
		return NPTE_ILLEGAL;
	if (npte_is_leaf(f, e, shift))
		return leaf_state(f, e);
	return (e & f->table_flags) == f->table_flags && !(e & NPTE_MW) ? NPTE_TB : NPTE_ILLEGAL;
}
