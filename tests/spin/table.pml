/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table: linking and freeing a table (3, 16), with the grace.
 *
 * One slot above, two tables of one slot, two frames.  vCPUs have a TLB and a
 * PDE cache, in ROOT they walk with a pointer; each has state and acked of its
 * own here, for the grace asks them.  T puts Z above, exchanges the children
 * (spins while another owns one), flushes, frees the frames, stores E, retires
 * the table and frees it when every walker is OUT or has acknowledged.  V zaps
 * a leaf meanwhile; it is no vCPU, but it walks, so it has a slot of its own.
 *
 * check: -DNV=2 -DNACC=2
 * check: -DNV=2 -DEVICT
 * mutant: MUT_NOGRACE I5		frees the table after the flush
 * mutant: MUT_GRACEFLUSH I5		grace takes ROOT for safe, as flush_until may
 * mutant: MUT_NOPDEFLUSH I5		the flush leaves the PDE cache
 * mutant: MUT_NOFLUSH I1,I2,I5		no flush at all
 * mutant: MUT_KEEPPARENT I1,I2,I3,I5,I7	the slot above is not Z meanwhile
 * mutant: MUT_READCHILD I1,I2,I3,I5	children read, not exchanged
 * mutant: MUT_PLAINLINK I1,I2,I5	3 by a plain store
 * mutant: MUT_NOSPIN I2,I5,I8 -DEVICT	does not wait for the owner of a child
 * mutant: MUT_NOSLOT I5 -DEVICT		V walks without a slot
 */
#include "common.h"
#ifndef NV
#define NV 2
#endif
#ifdef EVICT
#define NW (NV + 1)	/* walkers */
#else
#define NW NV
#endif
#define V NV
#ifndef NACC
#define NACC 1
#endif

byte par;		/* E, Z, or P + FRAME * table */
byte pte[2];
bool tfree[2] = true, busy[2], mod[2];
byte cur = NOBODY;	/* ghost: the frame that is the gfn's */
byte state[NW], acked[NW], gen;
byte tlb[NV], pde_cache[NV];

#define HIT(v, w) ((tlb[v] & P) && (!(w) || (tlb[v] & D)))

inline drop(v)
{
	tlb[v] = E;
#ifndef MUT_NOPDEFLUSH
	pde_cache[v] = E;
#endif
	acked[v] = gen
}

inline flush_one(v)
{
	d_step {		/* kicked, or acknowledges at entry */
		if
		:: state[v] == GUEST && acked[v] < gen -> drop(v)
		:: else -> skip
		fi
	}
}

inline flush_wait()
{
	flush_one(0)
#if NV > 1
	; flush_one(1)
#endif
}

#ifdef MUT_GRACEFLUSH
#define PASSED(v, g) (state[v] != GUEST || acked[v] >= g)
#else
#define PASSED(v, g) (state[v] == OUT || acked[v] >= g)
#endif

inline touch(f, w)
{
	I(1, busy[f]);
	I(2, cur == f);
	if
	:: w -> mod[f] = true
	:: else -> skip
	fi
}

proctype vcpu(byte me)
{
	byte n, t, e, f;
	bool w, ok;

	do
	:: n == NACC -> break
	:: n < NACC ->
		if
		:: w = false
		:: w = true
		fi;
		if
		:: state[me] == GUEST -> goto guest
		:: else -> skip
		fi;
enter:		atomic {
			state[me] = GUEST;
			if
			:: acked[me] != gen -> drop(me)
			:: else -> skip
			fi
		};
guest:		do
		:: d_step { HIT(me, w) -> touch(frame_of(tlb[me]), w) }; goto used
		:: d_step { !HIT(me, w) && pde_cache[me] == E && (par & P) ->
			pde_cache[me] = par }
		:: d_step { !HIT(me, w) && pde_cache[me] != E ->
			t = frame_of(pde_cache[me]);
			I(5, !tfree[t]);
			ok = pte[t] & P;
			if
			:: ok ->
				pte[t] = pte[t] | (w -> D : 0);
				tlb[me] = pte[t]
			:: else -> skip
			fi;
			t = 0
		   };
			if
			:: ok -> ok = false
			:: else -> goto root
			fi
		:: pde_cache[me] == E && !(par & P) -> goto root
		od;
root:		state[me] = ROOT;		/* the walk in software */
		e = par;
		if
		:: e == Z -> skip
		:: e == E ->
			d_step {
				ok = tfree[0] || tfree[1];
				t = (tfree[0] -> 0 : 1);
				if
				:: ok -> tfree[t] = false; pte[t] = E
				:: else -> skip
				fi
			};
			if
			:: ok ->
				d_step {
					if
#ifdef MUT_PLAINLINK
					:: par = P + FRAME * t
#else
					:: par == E -> par = P + FRAME * t	/* 3 */
					:: else -> tfree[t] = true	/* nobody saw it */
#endif
					fi
				}
			:: else -> skip
			fi
		:: e & P ->
			t = frame_of(e);
			d_step { I(5, !tfree[t]); e = pte[t] };
			if
			:: e == E ->
				d_step {
					ok = !busy[0] || !busy[1];
					f = (busy[0] -> 1 : 0);
					if
					:: ok -> busy[f] = true; mod[f] = false
					:: else -> skip
					fi
				};
				if
				:: ok ->
					d_step {
						I(5, !tfree[t]);
						if
						:: pte[t] == E ->		/* 1 */
							pte[t] = P + W + FRAME * f;
							cur = f
						:: else -> busy[f] = false
						fi
					}
				:: else -> skip
				fi
			:: else -> skip			/* Z, or somebody was faster */
			fi
		fi;
		t = 0; e = 0; f = 0; ok = false;
		goto enter;
used:		w = false;
		n++
	od;
	state[me] = OUT
}

active proctype teardown()
{
	byte t, e, g;
	bool ok;

	e = par;
	if
	:: e & P ->
		t = frame_of(e);
#ifndef MUT_KEEPPARENT
		par = Z;				/* T alone changes what is linked */
#endif
		do
		:: d_step {
			I(5, !tfree[t]);
			e = pte[t];
#ifdef MUT_NOSPIN
			ok = true;
#else
			ok = e != Z;
#endif
#ifndef MUT_READCHILD
			pte[t] = Z
#endif
		   };
			if
			:: ok -> break
			:: else -> skip
			fi
		od;
		atomic { gen++; g = gen };
#ifndef MUT_NOFLUSH
		flush_wait();
#endif
		if
		:: e & P ->
			d_step {
				I(3, (e & D) || !mod[frame_of(e)]);
				busy[frame_of(e)] = false;
				cur = NOBODY
			}
		:: else -> skip
		fi;
		e = 0; ok = false;
		par = E;
#ifndef MUT_NOGRACE
		PASSED(0, g);
#if NV > 1
		PASSED(1, g);
#endif
#if defined(EVICT) && !defined(MUT_NOSLOT)
		PASSED(V, g);
#endif
#endif
		tfree[t] = true
	:: else -> skip
	fi;
	t = 0; e = 0; g = 0; ok = false
}

#ifdef EVICT
active proctype evictor()
{
	byte t, e;
	bool ok;

	state[V] = ROOT;
	e = par;
	if
	:: e & P ->
		t = frame_of(e);
		d_step { I(5, !tfree[t]); e = pte[t] };
		if
		:: e & P ->
			d_step {
				I(5, !tfree[t]);
				ok = pte[t] == e;
				pte[t] = (ok -> Z : pte[t])		/* 12 */
			};
			if
			:: ok ->
				gen++;
				flush_wait();
				d_step {
					I(3, (e & D) || !mod[frame_of(e)]);
					busy[frame_of(e)] = false;
					cur = NOBODY
				};
				d_step {		/* 13 */
					I(5, !tfree[t]);
					I(8, pte[t] == Z);
					pte[t] = E
				}
			:: else -> skip
			fi
		:: else -> skip
		fi
	:: else -> skip
	fi;
	d_step { state[V] = OUT; t = 0; e = 0; ok = false }
}
#endif

init {
	atomic {
		run vcpu(0);
#if NV > 1
		run vcpu(1)
#endif
	}
}
