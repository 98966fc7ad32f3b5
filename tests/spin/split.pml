/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * split: a 2 MiB leaf and its table of (here) two 4 KiB leaves.
 *
 * S splits (14): children with the D of the leaf, then a compare-and-swap from
 * the exact value.  M promotes (15): Z above, children exchanged with Z, D = OR,
 * flush, store.  H writes through TLB entries of both sizes and a PDE cache.
 * G takes D (9), from the leaf or from the children, flushes, copies.  V zaps
 * one child (12, 13): M finds it Z or E, gives up, and must leave it alone.
 *
 * Which flush of 15 does what: D is safe without, by the exchange.  The flush
 * is owed for the table, which a cached PDE still reaches (I5), and for
 * multihit.  With EXEC both sizes may not be cached at once (CPUs without
 * PSCHANGE_MC_NO): then 14 must go through Z and a flush as well (BREAK).
 *
 * check: -DPROMOTE
 * check: -DPROMOTE -DEVICT -DNACC=1
 * check: -DHARVEST
 * check: -DPROMOTE -DBREAK -DEXEC
 * mutant: MUT_SPLITSTORE I10 -DPROMOTE		14 by a plain store
 * mutant: MUT_SPLITNOD I10 -DPROMOTE		children are born clean
 * mutant: MUT_PROMREAD I10 -DPROMOTE		15 reads the children, then stores Z
 * mutant: MUT_PROMLASTD I10 -DPROMOTE		15 takes D of one child, not the OR
 * mutant: MUT_PROMNOFLUSH I5 -DPROMOTE		15 without a flush
 * mutant: MUT_ABORTSTALE I10 -DPROMOTE		15 gives up, restores what it read before
 * mutant: MUT_TAKEZ I1,I3,I10 -DPROMOTE -DEVICT	15 promotes over a child that was Z
 * mutant: MUT_RESTOREZ I8 -DPROMOTE -DEVICT	15 restores Z that was another's
 * mutant: MUT_NOGRACE I5 -DPROMOTE -DEVICT	15 frees the table under V
 * mutant: MUT_SPLITNOFLUSH I4 -DHARVEST	after 14 trusts the new leaves, no flush
 * mutant: MUT_INPLACE multihit -DPROMOTE -DEXEC	14 in place, executable
 */
#include "common.h"
#ifdef MUT_INPLACE
#undef BREAK
#endif

#define NV 2
#ifndef NACC
#define NACC 2
#endif
#define TB 128

byte pde = P + W;	/* 2WC, 2WD, TB, Z */
byte child[2];
bool tfree = true;
bool written[2];	/* ghost, since the last copy */
byte tlb2[NV], tlb4a[NV], tlb4b[NV];
bool pde_cache[NV];
#ifdef EVICT
bool walking;		/* V has a pointer to the table */
bool dropped;		/* the frame of page 1 is free */
#define TOUCH(i) I(1, !(i && dropped)); written[i] = true
#else
#define TOUCH(i) written[i] = true
#endif
byte ended;

#define tlb4(v, i) (i -> tlb4b[v] : tlb4a[v])
#define MISS(v, i) (!(tlb2[v] & D) && !(tlb4(v, i) & D))	/* of a write */
#define ONE_SIZE(v) I(16, !(tlb2[v] && (tlb4a[v] || tlb4b[v])))

inline flush_one(v)
{
	d_step { tlb2[v] = E; tlb4a[v] = E; tlb4b[v] = E; pde_cache[v] = false }
}

inline flush_all()
{
	flush_one(0);
	flush_one(1)
}

proctype vcpu(byte me)
{
	byte n;
	bool i;

	do
	:: n == NACC -> break
	:: n < NACC ->
		if
		:: i = 0
		:: i = 1
		fi;
		do		/* what is not present faults until it is */
		:: d_step { !MISS(me, i) -> TOUCH(i) }; break
#ifdef EVICT
		:: pde == TB && child[i] == E -> break		/* nobody fills here */
#endif
		/* a read, or a speculative fill: no D */
		:: d_step { tlb2[me] == E && !pde_cache[me] && (pde & P) -> tlb2[me] = pde }
		:: d_step { tlb4(me, i) == E && pde_cache[me] && (child[i] & P) ->
			I(5, !tfree);
			if
			:: i -> tlb4b[me] = child[i]
			:: else -> tlb4a[me] = child[i]
			fi;
#ifdef EXEC
			ONE_SIZE(me)
#endif
		   }
		/* a write sets D */
		:: d_step { MISS(me, i) && pde_cache[me] && (child[i] & P) ->
			I(5, !tfree);
			child[i] = child[i] | D;
			if
			:: i -> tlb4b[me] = child[i]
			:: else -> tlb4a[me] = child[i]
			fi;
#ifdef EXEC
			ONE_SIZE(me)
#endif
		   }
		:: d_step { MISS(me, i) && pde_cache[me] && !(child[i] & P) ->
			I(5, !tfree);
			pde_cache[me] = false		/* the violation drops it */
		   }
		:: d_step { MISS(me, i) && !pde_cache[me] && pde == TB ->
			pde_cache[me] = true }
		:: d_step { MISS(me, i) && !pde_cache[me] && (pde & P) ->
			pde = pde | D;
			tlb2[me] = pde;
#ifdef EXEC
			ONE_SIZE(me)
#endif
		   }
		od;
		n++
	od;
	ended++
}

active proctype splitter()
{
	byte e, k;
	bool ok;

	do
	:: k == 2 -> break
	:: k < 2 ->
		e = pde;
		if
		:: (e & P) && tfree ->
			d_step {
				tfree = false;		/* built in private */
#ifdef MUT_SPLITNOD
				child[0] = P + W;
				child[1] = P + W + FRAME
#else
				child[0] = e;
				child[1] = e + FRAME
#endif
			};
#ifdef BREAK
			d_step {
				ok = pde == e;
				pde = (ok -> Z : pde)
			};
			if
			:: ok -> flush_all(); pde = TB
			:: else -> skip
			fi;
#else
			d_step {
#ifdef MUT_SPLITSTORE
				ok = true;
#else
				ok = pde == e;
#endif
				pde = (ok -> TB : pde)		/* 14 */
			};
#endif
			if
			:: !ok -> tfree = true
			:: else -> skip
			fi
		:: else -> skip
		fi;
		e = 0; ok = false;
		k++
	od;
	ended++
}

#ifdef PROMOTE
#ifdef EVICT
#define NEND (NV + 3)
#else
#define NEND (NV + 2)
#endif
active proctype promoter()
{
	byte e0, e1;
	bool ok;
#ifdef MUT_ABORTSTALE
	byte old0 = child[0];
#endif

	d_step {
		ok = pde == TB;
		pde = (ok -> Z : pde)
	};
	if
	:: ok ->				/* 15 */
#ifdef MUT_PROMREAD
		e0 = child[0];
		e1 = child[1];
		child[0] = Z;
		child[1] = Z;
#else
		atomic { e0 = child[0]; child[0] = Z };
		atomic { e1 = child[1]; child[1] = Z };
#endif
		if
#ifndef MUT_TAKEZ
	:: (e0 & P) && (e1 & P) ->
#else
	:: true ->
#endif
		I(10, frame_of(e0) == 0 && (frame_of(e1) == 1 || e1 == Z));
#ifndef MUT_PROMNOFLUSH
		flush_all();
#endif
#ifdef MUT_PROMLASTD
		pde = e0 & ~FRAME;
#else
		pde = P + W + ((e0 | e1) & D);
#endif
#if defined(EVICT) && !defined(MUT_NOGRACE)
		!walking;
#endif
		tfree = true		/* no other walker: table.pml has the grace */
	:: true ->			/* gives up: restores what is its own */
#ifdef MUT_ABORTSTALE
		child[0] = old0;
#else
		child[0] = e0;
#endif
		if
#ifndef MUT_RESTOREZ
		:: e1 & P -> child[1] = e1
		:: e1 == E -> child[1] = E
		:: e1 == Z -> skip
#else
		:: child[1] = e1
#endif
		fi;
		pde = TB
	fi
	:: else -> skip
	fi;
	ended++
}
#endif

#ifdef HARVEST
#define NEND (NV + 2)
/* Of one 4 KiB page; a 2 MiB leaf stands for both. */
active proctype harvester()
{
	byte e, k;

	do
	:: k == 2 -> break
	:: k < 2 ->
		if
		:: d_step { pde & P -> e = pde; pde = pde & ~D };
			flush_all();
			d_step {
				if
				:: e & D -> written[0] = false; written[1] = false
				:: else -> skip
				fi
			}
		:: d_step { pde == TB -> e = child[0]; child[0] = child[0] & ~D };
#ifndef MUT_SPLITNOFLUSH
			flush_all();
#endif
			d_step {
				if
				:: e & D -> written[0] = false
				:: else -> skip
				fi
			}
		fi;
		e = 0;
		k++
	od;
	ended++
}
#endif

#ifdef EVICT
active proctype evictor()
{
	byte e;
	bool ok;

	walking = true;
	if
	:: pde == TB ->
		d_step { I(5, !tfree); e = child[1] };
		if
		:: e & P ->
			d_step {
				I(5, !tfree);
				ok = child[1] == e;
				child[1] = (ok -> Z : child[1])		/* 12 */
			};
			if
			:: ok ->
				flush_all();
				d_step {
					I(3, (e & D) || !written[1]);
					written[1] = false;
					dropped = true
				};
				d_step {		/* 13 */
					I(5, !tfree);
					I(8, child[1] == Z);
					child[1] = E
				}
			:: else -> skip
			fi
		:: else -> skip
		fi
	:: else -> skip
	fi;
	walking = false;
	ended++
}
#endif

/* Whoever looks at D when all have stopped finds every write. */
active proctype judge()
{
	ended == NEND;
	I(8, pde != Z && !(pde == TB && (child[0] == Z || child[1] == Z)));
#ifdef HARVEST
	I(4, !written[0] || (pde == TB -> child[0] & D : pde & D));
#endif
	I(10, !written[0] || (pde == TB -> child[0] & D : pde & D));
	I(10, !written[1] || (pde == TB -> child[1] & D : pde & D))
}

init { atomic { run vcpu(0); run vcpu(1) } }
