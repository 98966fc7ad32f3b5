/* SPDX-License-Identifier: BSD-2-Clause */
/* npte: nested page-table entries of EPT and NPT.  Pure. */
#include "mm/npte.h"

#define EPT_MEMTYPE_WB (6ULL << 3)

const struct npt_fmt npt_fmt_ept = {
	.name = "EPT",
	.present = 7,
	.addr = 0x000ffffffffff000ULL,
	.table_flags = 7,
	.leaf_flags = EPT_MEMTYPE_WB,
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
	.present = BIT64(0),
	.addr = 0x000ffffffffff000ULL,
	.table_flags = BIT64(0) | BIT64(1) | BIT64(2),
	.leaf_flags = BIT64(0) | BIT64(2), /* nested accesses count as user accesses */
	.write = BIT64(1),
	.no_exec = BIT64(63),
	.large = BIT64(7),
	.accessed = BIT64(5),
	.dirty = BIT64(6),
	.max_leaf_shift = NPT_SHIFT_1G,
};

uint64_t npte_leaf(const struct npt_fmt *f, hpa_t hpa, unsigned shift, unsigned perms)
{
	uint64_t e = hpa.v | f->leaf_flags | f->read;

	if (perms & NPT_WRITE)
		e |= f->write;
	e |= perms & NPT_EXEC ? f->exec : f->no_exec;
	if (shift > NPT_SHIFT_4K)
		e |= f->large;
	return e;
}

uint64_t npte_table(const struct npt_fmt *f, hpa_t table)
{
	return table.v | f->table_flags;
}

unsigned npte_perms(const struct npt_fmt *f, uint64_t e)
{
	unsigned p = NPT_READ;

	if (e & f->write)
		p |= NPT_WRITE;
	if (f->exec ? (e & f->exec) : !(e & f->no_exec))
		p |= NPT_EXEC;
	return p;
}
