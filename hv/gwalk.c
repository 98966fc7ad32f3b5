/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gwalk: one walk for all formats, which differ in a few numbers.
 *
 * The walk reads the entries, then checks the rights, and only then sets
 * accessed and dirty bits, each with a compare-exchange on the very entry that
 * was checked; if one has changed, the walk starts over.
 *
 * Called from: exit path, any CPU.  Locks: none.
 * Purity: pure (host-tested by tests/host/test_gwalk.c).
 * Spec: SDM 3A 4.3 to 4.8.
 */
#include "hv/gwalk.h"

#define PTE_P  BIT64(0)
#define PTE_W  BIT64(1)
#define PTE_U  BIT64(2)
#define PTE_A  BIT64(5)
#define PTE_D  BIT64(6)
#define PTE_PS BIT64(7)
#define PTE_NX BIT64(63)

#define MAX_LEVELS 4
#define MAX_TRIES  16

/* Mask of bits @lo to @hi. */
#define BITS(hi, lo) ((~0ULL >> (63 - (hi))) & ~((1ULL << (lo)) - 1))

struct walk {
	const struct gwalk_env *env;
	const struct hv_sregs *sregs;
	uint64_t linear;
	unsigned levels;
	unsigned entry_size;
	bool pae; /* the PAE format with its special PDPTE */
	bool nxe; /* NX is a right and not a reserved bit */
	/* What the walk found, indexed by level: 1 is the page table. */
	struct {
		gpa_t gpa;
		uint64_t val;
	} entry[MAX_LEVELS + 1];
	unsigned leaf; /* level of the entry that maps the page */
	bool user, writable, no_execute;
};

static void start(struct walk *w)
{
	const struct hv_sregs *s = w->sregs;
	bool pae_format = s->cr4 & CR4_PAE;
	bool long_mode = s->efer & EFER_LMA;

	w->levels = long_mode ? 4 : pae_format ? 3 : 2;
	w->entry_size = pae_format ? 8 : 4;
	w->pae = pae_format && !long_mode;
	w->nxe = pae_format && s->efer & EFER_NXE;
}

/* Log2 of what one entry of @level spans. */
static unsigned level_shift(const struct walk *w, unsigned level)
{
	return PAGE_SHIFT + (level - 1) * (w->entry_size == 8 ? 9 : 10);
}

static uint64_t phys_mask(const struct walk *w)
{
	return BITS(w->env->maxphyaddr - 1U, 0);
}

static gpa_t root(const struct walk *w)
{
	uint64_t low = w->pae ? 5 : PAGE_SHIFT;
	uint64_t top = w->levels == 4 ? phys_mask(w) : mask_bytes(4);

	return GPA(w->sregs->cr3 & top & ~((1ULL << low) - 1));
}

static gpa_t entry_address(const struct walk *w, gpa_t table, unsigned level)
{
	uint64_t mask = w->entry_size == 8 ? 0x1ff : 0x3ff;

	if (w->pae && level == 3)
		mask = 3;
	return GPA(table.v + (w->linear >> level_shift(w, level) & mask) * w->entry_size);
}

/* Whether @entry at @level maps a page. */
static bool is_leaf(const struct walk *w, unsigned level, uint64_t entry)
{
	if (level == 1)
		return true;
	if (!(entry & PTE_PS))
		return false;
	if (level == 2)
		return w->entry_size == 8 || w->sregs->cr4 & CR4_PSE;
	return level == 3 && !w->pae && w->env->page1g;
}

static uint64_t reserved_bits(const struct walk *w, unsigned level, bool leaf)
{
	uint64_t bits;

	if (w->entry_size == 4)
		return leaf && level == 2 ? BITS(21, 13) : 0;
	bits = BITS(51, 0) & ~phys_mask(w);
	if (w->pae) {
		bits |= BITS(62, 52);
		/* Bit 5 is reserved too, but QEMU's TCG sets it as if it meant accessed. */
		if (level == 3)
			return bits | PTE_NX | BITS(8, 6) | BITS(2, 1);
	}
	if (!w->nxe)
		bits |= PTE_NX;
	if (leaf && level > 1)
		bits |= BITS(level_shift(w, level) - 1, 13);
	if (!leaf && level > 2)
		bits |= PTE_PS;
	return bits;
}

static uint64_t table_address(const struct walk *w, uint64_t entry)
{
	return entry & phys_mask(w) & BITS(51, PAGE_SHIFT);
}

/* Follows the tables down.  HV_FAULT leaves PF_P or PF_P | PF_RSVD in *@error. */
static enum hv_status descend(struct walk *w, uint32_t *error)
{
	gpa_t table = root(w);

	w->user = true;
	w->writable = true;
	w->no_execute = false;
	for (unsigned level = w->levels;; level--) {
		gpa_t gpa = entry_address(w, table, level);
		uint64_t e;
		bool leaf;

		if (w->env->read(w->env->ctx, gpa, w->entry_size, &e))
			return HV_RETRY;
		w->entry[level].gpa = gpa;
		w->entry[level].val = e;
		*error = 0;
		if (!(e & PTE_P))
			return HV_FAULT;
		leaf = is_leaf(w, level, e);
		*error = PF_P | PF_RSVD;
		if (e & reserved_bits(w, level, leaf))
			return HV_FAULT;
		if (!w->pae || level != 3) {
			w->user &= !!(e & PTE_U);
			w->writable &= !!(e & PTE_W);
			w->no_execute |= w->nxe && e & PTE_NX;
		}
		if (leaf) {
			w->leaf = level;
			return HV_OK;
		}
		table = GPA(table_address(w, e));
	}
}

/* The rights of a page that is present (SDM 3A 4.6.1). */
static bool allowed(const struct walk *w, uint64_t rflags, unsigned access)
{
	const struct hv_sregs *s = w->sregs;

	if (access & GWALK_FETCH && w->no_execute)
		return false;
	if (access & GWALK_USER)
		return w->user && (!(access & GWALK_WRITE) || w->writable);
	if (access & GWALK_FETCH)
		return !(w->user && s->cr4 & CR4_SMEP);
	if (w->user && s->cr4 & CR4_SMAP &&
	    (access & GWALK_IMPLICIT_SUPERVISOR || !(rflags & RFLAGS_AC)))
		return false;
	return !(access & GWALK_WRITE) || w->writable || !(s->cr0 & CR0_WP);
}

/* Sets accessed bits from the root down, and dirty in the leaf.  HV_RETRY: start over. */
static enum hv_status mark(const struct walk *w, unsigned access)
{
	if (!w->env->cmpxchg)
		return HV_OK;
	for (unsigned level = w->levels; level >= w->leaf; level--) {
		uint64_t old = w->entry[level].val;
		uint64_t marked = old | PTE_A;

		if (w->pae && level == 3)
			continue; /* a PDPTE of PAE has no accessed bit */
		if (level == w->leaf && access & GWALK_WRITE)
			marked |= PTE_D;
		if (marked == old)
			continue;
		if (w->env->cmpxchg(w->env->ctx, w->entry[level].gpa, w->entry_size, old, marked))
			return HV_RETRY;
	}
	return HV_OK;
}

static enum hv_status page_fault(const struct walk *w, unsigned access, uint32_t error,
				 struct gwalk_result *out)
{
	if (access & GWALK_WRITE)
		error |= PF_W;
	if (access & GWALK_USER)
		error |= PF_U;
	if (access & GWALK_FETCH && (w->nxe || w->sregs->cr4 & CR4_SMEP))
		error |= PF_I;
	out->error = error;
	out->cr2 = w->linear;
	return HV_FAULT;
}

static void set_result(struct gwalk_result *out, uint64_t frame, uint64_t linear, unsigned shift)
{
	uint64_t size = 1ULL << shift, off = linear & (size - 1);

	out->gpa = GPA((frame & ~(size - 1)) | off);
	out->left = size - off;
}

enum hv_status gwalk(const struct gwalk_env *env, const struct hv_sregs *s, uint64_t rflags,
		     uint64_t linear, unsigned access, struct gwalk_result *out)
{
	struct walk w = {.env = env, .sregs = s};

	w.linear = s->efer & EFER_LMA ? linear : linear & mask_bytes(4);
	*out = (struct gwalk_result){.gpa = GPA(0)};
	if (!(s->cr0 & CR0_PG)) {
		set_result(out, w.linear, w.linear, PAGE_SHIFT);
		return HV_OK;
	}
	start(&w);
	for (unsigned i = 0; i < MAX_TRIES; i++) {
		uint32_t error;
		enum hv_status st = descend(&w, &error);

		if (st == HV_FAULT)
			return page_fault(&w, access, error, out);
		if (st)
			return st;
		if (!allowed(&w, rflags, access))
			return page_fault(&w, access, PF_P, out);
		if (mark(&w, access))
			continue;
		set_result(out, table_address(&w, w.entry[w.leaf].val), w.linear,
			   level_shift(&w, w.leaf));
		return HV_OK;
	}
	return HV_RETRY;
}
