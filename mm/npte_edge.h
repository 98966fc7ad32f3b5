/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * npte_edge: the only ways in which an entry of a linked table may change.
 *
 * Each edge is one compare-and-swap from the exact value that its caller has
 * read (so a bit that the CPU sets meanwhile makes it fail, and is not lost), or
 * a store by the one owner of a FROZEN entry.  A build with HV_DEBUG checks
 * every store against the table below and tells the flush audit about every
 * right that was taken away (mm/audit.h).
 * Pure.  Any CPU; no lock but where an edge names its owner.
 *
 * Who: F a faulting vCPU, G harvest and aging, V removal and move, M promotion,
 * S split, T removal of tables.  G, V, M and T hold the VM's mutation lock.
 * H, the CPU itself, sets A and D (WC to WD) at any time and asks nobody.
 */
#pragma once

#include "mm/npt.h"

/*
 * X(name, from, to, frame, owed): sets of states; whether the frame stays; whether a
 * flush is owed before anybody relies on what the edge took away.
 *
 * INSTALL	F   a filled frame; not-present entries are in no TLB
 * LINK		F,S a zeroed table; the loser of a race frees its own
 * GRANT	F   a write: the log bit follows, before the next VM entry
 * UNAGE	F   an access; with write if the leaf need not be logged
 * CLEAR_A	G   a stale A is tolerated: nobody relies on it
 * CLEAR_D	G   the CPU does not set D again before it has been flushed
 * PROTECT	G   a write goes on through a stale entry until then
 * AGE		G   without A bits; D is judged from the W that the edge removes
 * FREEZE	V,M the entry is its owner's from now on; nobody else changes it
 * EMPTY	V,T the owner's store; the flush has been waited for
 * REFILL	V   the owner's store of a leaf with another frame; likewise
 * RESTORE	M   the owner's store of what it froze, when a promotion fails
 * SPLIT	F,G the children say what the leaf said: nothing changes for the guest
 * DETACH	M,T a table is taken out; its entries are frozen one by one after it
 * MERGE	M   the owner's store of a large leaf; the flush has been waited for
 * ATTACH	M   the owner's store of the table again, when a promotion fails
 */
#define NPTE_EDGES(X)                                                                              \
	X(INSTALL, S(E), S(RO) | S(RL) | S(WC) | S(WD), false, false)                              \
	X(LINK, S(E), S(TB), false, false)                                                         \
	X(GRANT, S(RL), S(WC) | S(WD), true, false)                                                \
	X(UNAGE, S(AG), S(RO) | S(RL) | S(WC) | S(WD), true, false)                                \
	X(CLEAR_A, S(RO) | S(RL) | S(WC) | S(WD), S(RO) | S(RL) | S(WC) | S(WD), true, false)      \
	X(CLEAR_D, S(WD) | S(RL) | S(RO), S(WC) | S(RL) | S(RO), true, true)                       \
	X(PROTECT, S(WC) | S(WD), S(RL), true, true)                                               \
	X(AGE, S(RO) | S(RL) | S(WC) | S(WD), S(AG), true, true)                                   \
	X(FREEZE, S(RO) | S(RL) | S(WC) | S(WD) | S(AG) | S(E), S(Z), false, true)                 \
	X(EMPTY, S(Z), S(E), false, false)                                                         \
	X(REFILL, S(Z), S(RO) | S(RL) | S(WC) | S(WD) | S(AG), false, false)                              \
	X(RESTORE, S(Z), S(E) | S(RO) | S(RL) | S(WC) | S(WD) | S(AG), false, false)               \
	X(SPLIT, S(RO) | S(RL) | S(WC) | S(WD) | S(AG), S(TB), false, false)                       \
	X(DETACH, S(TB), S(Z), false, true)                                                        \
	X(MERGE, S(Z), S(RO) | S(RL) | S(WC) | S(WD), false, false)                                \
	X(ATTACH, S(Z), S(TB), false, false)

enum npte_edge {
#define X(name, from, to, frame, owed) EDGE_##name,
	NPTE_EDGES(X)
#undef X
	EDGE_COUNT,
};

const char *npte_edge_name(enum npte_edge edge);
bool npte_edge_legal(const struct npt_fmt *f, enum npte_edge edge, unsigned shift, uint64_t old,
		     uint64_t new);

#ifdef HV_DEBUG
/* Stops at an illegal edge; notes for the audit who may hold what it took away. */
void npte_edge_taken(const struct npt *n, enum npte_edge edge, unsigned shift, uint64_t old,
		     uint64_t new);
#else
static inline void npte_edge_taken(const struct npt *n, enum npte_edge edge, unsigned shift,
				   uint64_t old, uint64_t new)
{
	(void)n, (void)edge, (void)shift, (void)old, (void)new;
}
#endif

#ifdef HV_TEST
/* Tests: what other CPUs do right before and after each compare-and-swap of *@e. */
extern void (*npte_step)(uint64_t *e);
#define NPTE_STEP(e) (npte_step ? npte_step(e) : (void)0)
#else
#define NPTE_STEP(e) ((void)0)
#endif

/* False: *e was no longer @old. */
static inline bool npte_cas(const struct npt *n, enum npte_edge edge, unsigned shift, uint64_t *e,
			    uint64_t old, uint64_t new)
{
	uint64_t seen = old;

	NPTE_STEP(e);
	if (!__atomic_compare_exchange_n(e, &seen, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	npte_edge_taken(n, edge, shift, old, new);
	NPTE_STEP(e);
	return true;
}

/* By the owner of the FROZEN entry *e. */
static inline void npte_store(const struct npt *n, enum npte_edge edge, unsigned shift, uint64_t *e,
			      uint64_t new)
{
	npte_edge_taken(n, edge, shift, NPTE_FROZEN, new);
	__atomic_store_n(e, new, __ATOMIC_RELEASE);
}

/*
 * Freezes a leaf or an empty entry, last seen as @v, and returns what it was.  A
 * table, which a fault may have split the leaf into just now, or what is FROZEN
 * already, is left as it is and returned.
 */
static inline uint64_t npte_freeze(const struct npt *n, unsigned shift, uint64_t *e, uint64_t v)
{
	while (v != NPTE_FROZEN && !npte_is_table(n->fmt, v, shift) &&
	       !npte_cas(n, EDGE_FREEZE, shift, e, v, NPTE_FROZEN))
		v = npt_load(e);
	return v;
}
