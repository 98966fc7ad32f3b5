/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emulate: accesses to guest memory by our own code, in ROOT.
 *
 * An instruction that we carry out, or a device, looks an entry up and then
 * uses the frame.  flush_until does not wait for ROOT, so I9 does not hold for
 * such an access: it may still use a permission and a frame that are gone.
 * Hence: set D before the write, by compare-and-swap; log after the write,
 * before entry; and V copies and frees only after the grace, not after the
 * flush.  With DBIT the harvester takes D (9) instead of W (10).
 *
 * check: -DHARVEST -DNACC=2
 * check: -DDBIT -DHARVEST -DNACC=2
 * check: -DEVICT -DNACC=2
 * check: -DEVICT -DHARVEST
 * mutant: MUT_NOGRACE I1 -DEVICT	V frees the frame after the flush
 * mutant: MUT_LOGFIRST I4 -DHARVEST	logs, then writes
 * mutant: MUT_NOSETD I3 -DEVICT	does not set D
 * mutant: MUT_BLINDD I6 -DEVICT	writes, then LOCK OR of D
 * mutant: MUT_SPINONZ I8 -DEVICT	spins on Z in ROOT
 * mutant: MUT_DONLY I4 -DDBIT -DHARVEST	D is taken for enough, nothing logged
 */
#include "common.h"
#define NV 2
#ifndef NACC
#define NACC 1
#endif

byte pte;
bool busy[2], mod[2];
byte cur = NOBODY;	/* ghost: the frame that is the gfn's */
bool log_, unsaved;
byte state[NV], acked[NV], gen;
byte ended;

proctype vcpu(byte me)
{
	byte n, e, f;
	bool w, ok;

	do
	:: n == NACC -> break
	:: n < NACC ->
		if
		:: w = false
		:: w = true
		fi;
		state[me] = ROOT;
again:		e = pte;
		if
		:: e == Z ->		/* not to be spun on in ROOT: V may wait for us */
#ifdef MUT_SPINONZ
			pte != Z;
#endif
			atomic { state[me] = GUEST; acked[me] = gen; state[me] = ROOT };
			goto again
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
					if
					:: pte == E -> pte = P + f * FRAME + (w -> W : 0); cur = f
					:: else -> busy[f] = false
					fi
				}
			:: else -> skip
			fi;
			goto again
		:: e & P ->
			if
			:: w && !(e & W) -> cas(pte, e, e | W, ok); goto again
			:: else -> skip
			fi
		fi;
#ifndef MUT_NOSETD
#ifndef MUT_BLINDD
		if
		:: w && !(e & D) -> cas(pte, e, e | D, ok); goto again
		:: else -> skip
		fi;
#endif
#endif
#ifdef MUT_LOGFIRST
		log_ = log_ || w;
#endif
		d_step {		/* the access, by the frame that was looked up */
			I(1, busy[frame_of(e)]);
			I(2, cur == NOBODY || cur == frame_of(e));
			if
			:: w -> mod[frame_of(e)] = true; unsaved = true
			:: else -> skip
			fi
		};
#ifdef MUT_BLINDD
		d_step {
			pte = pte | (w -> D : 0);
			I(6, LEGAL(pte))
		};
#endif
#if !defined(MUT_LOGFIRST) && !defined(MUT_DONLY)
		log_ = log_ || w;
#endif
		e = 0; f = 0; w = false; ok = false;
		/* Entry: it acknowledges. */
		d_step { state[me] = GUEST; acked[me] = gen };
		n++
	od;
	state[me] = OUT;
	ended++
}

#ifdef HARVEST
inline take()
{
#ifdef DBIT
	d_step {
		got = (pte & P) && (pte & D);
		pte = pte & ~D
	}
#else
	do
	:: e = pte;
		if
		:: (e & P) && (e & W) -> cas(pte, e, e & ~W, got)
		:: else -> break
		fi;
		if
		:: got -> break
		:: else -> skip
		fi
	od;
	e = 0; got = false
#endif
}

active proctype harvester()
{
	byte e, k;
	bool got, logged;

	do
	:: k == 2 -> break
	:: k < 2 ->
		atomic { logged = log_; log_ = false };
		take();		/* the flush finds no guest to wait for */
			d_step {
			if
			:: logged || got -> unsaved = false
			:: else -> skip
			fi;
			logged = false;
			got = false
		};
		k++
	od;
	ended == NV;
	I(4, !unsaved || log_ || ((pte & P) && (pte & D)
#ifndef DBIT
		&& false
#endif
	))
}
#endif

#ifdef EVICT
active proctype evictor()
{
	byte e, g;
	bool ok;

	do
	:: e = pte;
		if
		:: !(e & P) -> goto out
		:: e & P -> cas(pte, e, Z, ok)		/* 12 */
		fi;
		if
		:: ok -> break
		:: else -> skip
		fi
	od;
	atomic { gen++; g = gen };
#ifndef MUT_NOGRACE
	(state[0] == OUT || acked[0] >= g);
	(state[1] == OUT || acked[1] >= g);
#endif
	d_step {
		I(3, (e & D) || !mod[frame_of(e)]);
		busy[frame_of(e)] = false;
		cur = NOBODY
	};
	pte = E;					/* 13 */
out:	skip
}
#endif

init { atomic { run vcpu(0); run vcpu(1) } }
