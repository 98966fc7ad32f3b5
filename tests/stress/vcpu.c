/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stress/vcpu: a thread that is a vCPU: the MMU with its caches, the guest that
 * writes stamps, and the run loop with the fault path.
 */
#include <sched.h>

#include "mm/fault.h"
#include "mm/fault_fast.h"
#include "tests/stress/stress.h"

static bool seen_by_audit(void)
{
	return st.mutant == MUTANT_NONE || st.mutant == MUTANT_NO_FLUSH_SEEN;
}

/* ---- the MMU ------------------------------------------------------------------------- */

static void flush_tlb(struct vcpu *v)
{
	for (unsigned i = 0; i < TLB; i++)
		v->tlb[i].valid = false;
	for (unsigned i = 0; i < SPANS && st.mutant != MUTANT_KEEP_TABLES; i++)
		v->table[i] = NULL;
}

/*
 * A violation drops what is cached for its address.  Not so in the mutant: the window
 * between a lost flush and the release of the table is too small to be hit surely.
 */
static bool violation(struct vcpu *v, uint64_t page)
{
	v->tlb[page % TLB].valid = false;
	if (st.mutant != MUTANT_KEEP_TABLES)
		v->table[page / NPT_ENTRIES] = NULL;
	return false;
}

static bool set_bits(uint64_t *e, uint64_t v, uint64_t bits)
{
	return (v & bits) == bits || __atomic_compare_exchange_n(e, &v, v | bits, false,
								  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static struct tlb *walk(struct vcpu *v, uint64_t page, bool write)
{
	const struct npt_fmt *f = &st.fmt;
	struct tlb *t = &v->tlb[page % TLB];
	uint64_t gpa = page << PAGE_SHIFT, *table, *e, x, bits;
	unsigned shift;

again:
	table = v->table[page / NPT_ENTRIES];
	shift = table ? NPT_SHIFT_4K : NPT_ROOT_SHIFT;
	if (!table)
		table = st.n.root;
	for (;; shift -= 9) {
		e = &table[npt_index(GPA(gpa), shift)];
		table_check(e);
		x = npt_load(e);
		if (!(x & f->read))
			goto miss;
		if (npte_is_leaf(f, x, shift))
			break;
		if (!set_bits(e, x, f->accessed))
			goto again;
		table = npt_table_of(&st.n, x);
		if (shift == NPT_SHIFT_2M)
			v->table[page / NPT_ENTRIES] = table;
	}
	if (write && !(x & f->write))
		goto miss;
	bits = f->accessed | (write ? f->dirty : 0);
	if (f->pml && write && !(x & f->dirty)) {
		if (v->pml_count == PML)
			return NULL;
		v->pml[v->pml_count] = page;
		if (!set_bits(e, x, bits))
			goto again;
		v->pml_count++;
	} else if (!set_bits(e, x, bits)) {
		goto again;
	}
	*t = (struct tlb){ true, x & f->write, (x | bits) & f->dirty || !f->dirty, page,
			   ((x & f->addr) >> PAGE_SHIFT) +
				   (page & (BIT64(shift - PAGE_SHIFT) - 1)) };
	return t;
miss:
	violation(v, page);
	return NULL;
}

static struct tlb *translate(struct vcpu *v, uint64_t page, bool write)
{
	struct tlb *t = &v->tlb[page % TLB];

	if (!t->valid || t->page != page)
		return walk(v, page, write);
	if (write && !t->write) {
		violation(v, page);
		return NULL;
	}
	return write && !t->dirty ? walk(v, page, write) : t;
}

/* ---- the guest ------------------------------------------------------------------------- */

static uint64_t owner(uint64_t page)
{
	return page % VCPUS;
}

/* What a page may hold: what its writer wrote last, or nothing after a discard. */
static void check(uint64_t page, uint64_t slot, uint64_t holds)
{
	uint64_t wrote;

	if (holds && holds >> 32 != page + 1)
		failed("another page's content", page, holds);
	if (owner(page) != slot)
		return;
	wrote = __atomic_load_n(&st.wrote[page], __ATOMIC_RELAXED);
	if (holds == wrote)
		return;
	if (page < DISCARD || holds)
		failed("a write was lost", page, holds);
	__atomic_store_n(&st.wrote[page], 0, __ATOMIC_RELAXED);
}

static void use(struct vcpu *v, uint64_t pfn, uint64_t page, bool write)
{
	uint64_t stamp;

	check(page, v->slot, frame_read(pfn));
	if (!write)
		return;
	stamp = (page + 1) << 32 | (++v->version & 0xffffffff);
	frame_write(pfn, stamp);
	__atomic_store_n(&st.wrote[page], stamp, __ATOMIC_RELAXED);
}

/* A page to read, or one of the vCPU's own; some are used more than others. */
static uint64_t choose(struct vcpu *v, bool write)
{
	uint64_t r = next(&v->random), page = r % PAGES;

	if (r >> 20 & 3)
		page = page / NPT_ENTRIES * NPT_ENTRIES + page % 64;
	return write ? page - page % VCPUS + v->slot : page;
}

/* Until a fault, whose page and access it tells, or until it is kicked. */
static bool run_guest(struct vcpu *v, uint64_t *page, bool *write)
{
	unsigned turns = (unsigned)next(&v->random) % 200;

	while (turns-- && !__atomic_load_n(&v->kicked, __ATOMIC_ACQUIRE)) {
		struct tlb *t;

		*write = next(&v->random) % 2;
		*page = choose(v, *write);
		t = translate(v, *page, *write);
		v->accesses++;
		if (!t)
			return true;
		if (st.mutant == MUTANT_LEAVE_EARLY && !turns) {
			flush_leave(&st.f, v->slot, FLUSH_ROOT);
			sched_yield();
		}
		use(v, t->pfn, *page, *write);
	}
	return false;
}

/* ---- the run loop --------------------------------------------------------------------- */

static enum hv_status env_alloc(void *ctx, unsigned order, hpa_t *hpa, bool *is_clear)
{
	(void)ctx;
	*is_clear = false;
	*hpa = frames_alloc(order);
	return hpa_valid(*hpa) ? HV_OK : HV_NOMEM;
}

static void env_free(void *ctx, hpa_t hpa, unsigned order)
{
	(void)ctx;
	frames_free(hpa, order);
}

static void env_clear(void *ctx, hpa_t hpa, unsigned order)
{
	(void)ctx;
	frames_clear(hpa, order);
}

static void env_account(void *ctx, uint64_t bytes)
{
	(void)ctx, (void)bytes;
}

static const struct fault_env env = { NULL, env_alloc, env_free, env_clear, env_account };

static void rest(struct vcpu *v)
{
	flush_leave(&st.f, v->slot, FLUSH_OUT);
	sched_yield();
	flush_arrive(&st.f, v->slot);
}

static void fault(struct vcpu *v, uint64_t page, bool write)
{
	unsigned access = write ? NPT_WRITE : NPT_READ;
	gpa_t gpa = GPA(page << PAGE_SHIFT);
	uint64_t gen = st.mutant == MUTANT_OLD_WALK ? 1 : flush_acked(&st.f, v->slot);
	enum fault_fast r = fault_fast(&st.n, gpa, access, &v->walk, gen);

	table_check(v->walk.e);
	v->faults++;
	v->fast += r == FAST_WRITE || r == FAST_ACCESS;
	if (r == FAST_NONE && fault_resolve(&st.n, &st.regions, gpa, access, NPT_SHIFT_2M, &env,
					    &v->walk) != FAULT_RESOLVED)
		rest(v);
}

/* The hypervisor writes to guest memory, as a device or an emulated instruction does. */
static void write_in_root(struct vcpu *v)
{
	uint64_t page = choose(v, true);
	gpa_t gpa = GPA(page << PAGE_SHIFT);
	struct dirty_log *log;
	struct npt_leaf l;

	if (!npt_lookup(&st.n, gpa, &l) || !(l.perms & NPT_WRITE)) {
		fault(v, page, true);
		return;
	}
	if (st.mutant == MUTANT_OUT_IN_ROOT)
		flush_leave(&st.f, v->slot, FLUSH_OUT);
	log = dirty_log_of(&st.n);
	if (st.mutant == MUTANT_MARK_FIRST && log)
		dirty_mark(log, gpa);
	/* Time for the others to do harm. */
	if (next(&v->random) % 8 == 0)
		sched_yield();
	use(v, leaf_pfn(&l, page), page, true);
	log = dirty_log_of(&st.n);
	if (log && st.mutant != MUTANT_MARK_FIRST && st.mutant != MUTANT_NO_MARK)
		dirty_mark(log, gpa);
	if (st.mutant == MUTANT_OUT_IN_ROOT)
		flush_arrive(&st.f, v->slot);
}

static void drain(struct vcpu *v)
{
	struct dirty_log *log = dirty_log_of(&st.n);

	while (v->pml_count) {
		v->pml_count--;
		if (log)
			dirty_mark(log, GPA(v->pml[v->pml_count] << PAGE_SHIFT));
	}
}

static void enter(struct vcpu *v)
{
	uint64_t page;
	bool write, faulted;

	__atomic_store_n(&v->kicked, 0, __ATOMIC_RELEASE);
	if (flush_enter(&st.f, v->slot) && st.mutant != MUTANT_NO_FLUSH &&
	    st.mutant != MUTANT_NO_FLUSH_SEEN) {
		audit_flushed(&st.f.audit, v->slot);
		flush_tlb(v);
	}
	if (seen_by_audit())
		audit_enter(&st.f.audit, v->slot);
	faulted = run_guest(v, &page, &write);
	if (st.mutant != MUTANT_NO_DRAIN || v->pml_count == PML)
		drain(v);
	audit_leave(&st.f.audit, v->slot);
	flush_leave(&st.f, v->slot, FLUSH_ROOT);
	if (faulted)
		fault(v, page, write);
}

static void stand(struct vcpu *v)
{
	flush_leave(&st.f, v->slot, FLUSH_OUT);
	__atomic_add_fetch(&st.standing, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&st.stand_still, __ATOMIC_ACQUIRE) && !finished())
		sched_yield();
	__atomic_sub_fetch(&st.standing, 1, __ATOMIC_SEQ_CST);
	flush_arrive(&st.f, v->slot);
}

void *vcpu_thread(void *arg)
{
	struct vcpu *v = arg;

	flush_arrive(&st.f, v->slot);
	while (!finished()) {
		if (__atomic_load_n(&st.stand_still, __ATOMIC_ACQUIRE))
			stand(v);
		enter(v);
		if (next(&v->random) % 4 == 0)
			write_in_root(v);
		if (next(&v->random) % 64 == 0)
			rest(v);
	}
	flush_leave(&st.f, v->slot, FLUSH_OUT);
	return NULL;
}
