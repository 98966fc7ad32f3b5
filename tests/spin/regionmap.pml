/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regionmap: exchange of the region map while vCPUs fault.
 *
 * A fault reads the map in ROOT by a pointer, then fills by a compare-and-swap
 * from E: the map it read may be old by then.  A remover, which is a vCPU
 * itself, takes the mutation lock, publishes a new map, starts a generation and
 * waits until every other vCPU has acknowledged it or is OUT; then no fill by
 * the old map can come any more.  It frees the old map, freezes the leaf,
 * flushes, frees the frame, thaws.  It counts as OUT while it waits for the
 * lock and for the others, and keeps no pointer across.
 *
 * Region i has page i.  A map is a set of regions; map m has region i if bit i
 * of m is set: 3 at first, 0 when both are gone.
 *
 * check: -DFAULTERS=2
 * check: -DREMOVERS=2 -DFAULTERS=1
 * mutant: MUT_NOWAIT I2,I5 -DFAULTERS=1	does not wait for ROOT before it zaps
 * mutant: MUT_FREEEARLY I5 -DFAULTERS=1	frees the map at once, waits only to zap
 * mutant: MUT_WAITROOT I2,I5 -DFAULTERS=1	waits for the flush only, not for ROOT
 * mutant: MUT_ZAPFIRST I2 -DFAULTERS=1	zaps, then publishes and waits
 * mutant: MUT_NOFLUSH I1,I2 -DFAULTERS=1	zaps without a flush
 * mutant: MUT_WAITINROOT I8 -DREMOVERS=1	waits in ROOT: for itself
 * mutant: MUT_LOCKINROOT I8 -DREMOVERS=2	waits for the lock in ROOT
 * mutant: MUT_KEEPMAP I5 -DREMOVERS=2	copies the map it read before the lock
 */
#include "common.h"
#ifndef REMOVERS
#define REMOVERS 1
#endif
#ifndef NACC
#define NACC 2
#endif
#ifndef FAULTERS
#define FAULTERS 0
#endif
#define NV (REMOVERS + FAULTERS)

byte map = 3;
bool mapfree[4];	/* by content: none comes back */
byte pte[2];		/* E, Z, P: page i in frame i */
bool busy[2];
bool removed[2];	/* the remover has returned */
byte state[NV], acked[NV], gen;
byte tlb0[NV], tlb1[NV];
#define TLB(v, i) (i -> tlb1[v] : tlb0[v])
bool lock;

inline enter_guest(v)
{
	atomic {
		state[v] = GUEST;
		if
		:: acked[v] != gen -> tlb0[v] = E; tlb1[v] = E; acked[v] = gen
		:: else -> skip
		fi
	}
}

inline touch(i)
{
	I(1, busy[i]);
	I(2, !removed[i])		/* no mapping survives its region */
}

/* One access to page i in the guest, or an exit to ROOT with a fault. */
#define GUEST_ACCESS(v, i) \
	do \
	:: d_step { TLB(v, i) & P -> touch(i) }; state[v] = ROOT; break \
	:: d_step { !(TLB(v, i) & P) && (pte[i] & P) -> \
		if \
		:: i -> tlb1[v] = pte[i] \
		:: else -> tlb0[v] = pte[i] \
		fi } \
	:: !(TLB(v, i) & P) && !(pte[i] & P) -> state[v] = ROOT; goto fault \
	od

/* In ROOT.  A page of no region is a device's: done. */
inline resolve(i)
{
	m = map;
	d_step { I(5, !mapfree[m]); ok = (m >> i) & 1; m = 0 };
	if
	:: ok ->
		if
		:: pte[i] == E ->
			d_step {		/* 1, frame i */
				if
				:: pte[i] == E && !busy[i] -> pte[i] = P + W; busy[i] = true
				:: else -> skip
				fi
			}
		:: else -> skip
		fi
	:: else -> skip
	fi
}

/* A vCPU in the guest is kicked, and enters again: it acknowledges. */
inline flush_one(v)
{
	d_step {
		if
		:: state[v] == GUEST && acked[v] < gen ->
			tlb0[v] = E; tlb1[v] = E; acked[v] = gen
		:: else -> skip
		fi
	}
}

#ifdef MUT_WAITROOT
#define PASSED(v) (state[v] != GUEST || acked[v] >= g)
#else
#define PASSED(v) (state[v] == OUT || acked[v] >= g)
#endif

inline flush_wait()
{
	flush_one(0)
#if NV > 1
	; flush_one(1)
#endif
#if NV > 2
	; flush_one(2)
#endif
}

inline wait_passed()
{
	flush_wait();		/* the kick */
	PASSED(0)
#if NV > 1
	; PASSED(1)
#endif
#if NV > 2
	; PASSED(2)
#endif
}

inline zap(i)
{
	atomic { old = pte[i]; pte[i] = Z }	/* 12 */
#ifndef MUT_NOFLUSH
	; atomic { gen++; g = gen };
	flush_wait()
#endif
	; d_step {
		if
		:: old & P -> busy[i] = false
		:: else -> skip
		fi;
		old = 0
	};
	pte[i] = E				/* 13 */
}

inline remove_region(i)
{
#ifdef MUT_KEEPMAP
	old = map;
#endif
#ifndef MUT_LOCKINROOT
	state[me] = OUT;
#endif
	atomic { !lock -> lock = true };
#ifndef MUT_KEEPMAP
	old = map;			/* under the lock, so it cannot be freed */
#endif
	d_step { I(5, !mapfree[old]); m = old & ~(1 << i) };
#ifdef MUT_ZAPFIRST
	zap(i);
	old = map;
#endif
	map = m;
	m = 0;
#ifdef MUT_FREEEARLY
	mapfree[old] = true;
#endif
	atomic { gen++; g = gen };
#ifdef MUT_WAITINROOT
	state[me] = ROOT;		/* and so for itself */
#endif
#ifndef MUT_NOWAIT
	wait_passed();
#endif
	mapfree[old] = true;
	old = 0;
#ifndef MUT_ZAPFIRST
	zap(i);
#endif
	removed[i] = true;
	lock = false;
	g = 0;
	state[me] = ROOT
}

/* Faults on its own page, then removes the region. */
proctype remover(byte me)
{
	byte m, old, g;
	bool ok;

	enter_guest(me);
	GUEST_ACCESS(me, me);
	goto remove;
fault:	resolve(me);
remove:	remove_region(me);
	enter_guest(me);		/* and sees it gone, or faults */
	if
	:: d_step { TLB(me, me) & P -> touch(me) }
	:: d_step { !(TLB(me, me) & P) && (pte[me] & P) -> touch(me) }
	:: else -> skip
	fi;
	state[me] = OUT
}

#if FAULTERS > 0
proctype faulter(byte me)
{
	byte n, m;
	bool i, ok;

	do
	:: n == NACC -> break
	:: n < NACC ->
		if
		:: i = 0
#if REMOVERS > 1
		:: i = 1
#endif
		fi;
again:		enter_guest(me);
		GUEST_ACCESS(me, i);
		goto next;
fault:		resolve(i);
		if
		:: ok -> ok = false; goto again
		:: else -> skip
		fi;
next:		n++
	od;
	state[me] = OUT
}
#endif

init {
	atomic {
		run remover(0);
#if REMOVERS > 1
		run remover(1);
#endif
#if FAULTERS > 0
		run faulter(REMOVERS);
#endif
#if FAULTERS > 1
		run faulter(REMOVERS + 1);
#endif
		skip
	}
}
