/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dirty: harvest of D and A (EPT with A/D, NPT) against writers and eviction.
 *
 * Two harvesters, as the logger and whoever else counts writes.  Each takes A
 * (8) and D (9), flushes, logs the verdict of the RMW, exchanges the log, copies.
 * With EVICT there is one harvester, and V which drops a page that was not
 * written since it was filled: D then has two readers, so the harvester marks
 * the frame before it takes D, by compare-and-swap, and V logs what it captures.
 *
 * check: -DNACC=2
 * check: -DNACC=2 -DMUT_SKIPCLEAR	no flush when D was clear: not needed here
 * check: -DNACC=2 -DEVICT
 * mutant: MUT_NOFLUSH I4		D cleared, copied without a flush
 * mutant: MUT_LOGBEFOREFLUSH I4	verdict to the log, then the flush
 * mutant: MUT_READSTORE I4		D by read and store
 * mutant: MUT_READTHENAND I4		verdict from a read before LOCK AND
 * mutant: MUT_NOMARK I3 -DEVICT	D to the log only
 * mutant: MUT_ANDTHENMARK I3 -DEVICT	LOCK AND, then marks the frame
 * mutant: MUT_EVICTNOLOG I4 -DEVICT	captured D to the frame only
 * mutant: MUT_ZHASA I6 -DEVICT		FROZEN has the A bit set, and 8 takes it
 */
#include "common.h"
#ifndef NACC
#define NACC 2
#endif
#define WALKED(w) (A + (w -> D : 0))
#include "vcpu.inc"

bool busy[2], mark[2];	/* the frame is allocated; is to be written back */
bool mod[2];		/* ghost: differs from the backing store */
byte cur = NOBODY;	/* ghost: the frame that is the gfn's */
bool log_, unsaved;
byte ended;

inline touch(f, w)
{
	I(1, busy[f]);
	I(2, cur == f);
	if
	:: w -> mod[f] = true; unsaved = true
	:: else -> skip
	fi
}

proctype vcpu(byte me)
{
	byte n, f;
	bool w, ok;

	do
	:: n == NACC -> break
	:: n < NACC ->
		if
		:: w = false
		:: w = true
		fi;
again:		GUEST_ACCESS(me, w);
		goto next;
fault:		if
		:: pte == E ->
			d_step {
				ok = !busy[0] || !busy[1];
				f = (busy[0] -> 1 : 0);
				if
				:: ok -> busy[f] = true; mod[f] = false; mark[f] = false
				:: else -> skip
				fi
			};
			if
			:: ok ->
				d_step {
					if
					:: pte == E -> pte = P + W + f * FRAME; cur = f	/* 1: WC */
					:: else -> busy[f] = false
					fi
				}
			:: else -> skip
			fi
		:: else -> skip
		fi;
		f = 0; ok = false;
		goto again;
next:		n++
	od;
	ended++
}

/* LOCK AND: blind, whatever the slot holds now. */
inline lock_and(bits, old)
{
	d_step {
		old = pte;
		pte = pte & ~(bits);
		I(6, LEGAL(pte))
	}
}

inline take_dirty()
{
#ifdef EVICT
#ifdef MUT_ANDTHENMARK
	lock_and(D, e);
	got = e & P && e & D;
	if
	:: got -> mark[frame_of(e)] = true
	:: else -> skip
	fi
#else
	do
	:: e = pte;
		if
		:: (e & P) && (e & D) ->
#ifndef MUT_NOMARK
			mark[frame_of(e)] = true;
#endif
			cas(pte, e, e & ~D, got)
		:: else -> break
		fi;
		if
		:: got -> break
		:: else -> skip
		fi
	od
#endif
#else
#ifdef MUT_READSTORE
	e = pte;
	got = e & P && e & D;
	if
	:: e & P -> pte = e & ~D
	:: else -> skip
	fi
#else
#ifdef MUT_READTHENAND
	got = (pte & P) && (pte & D);
	lock_and(D, e)
#else
	lock_and(D, e);
	got = e & P && e & D
#endif
#endif
#endif
}

proctype harvester(byte rounds)
{
	byte e;
	bool got;

	do
	:: rounds == 0 -> break
	:: rounds > 0 ->
		if
		:: pte & P -> lock_and(A, e)		/* 8: no flush */
		:: else -> skip
		fi;
		take_dirty();				/* 9 */
		e = 0;
#ifdef MUT_LOGBEFOREFLUSH
		if
		:: got -> log_ = true
		:: else -> skip
		fi;
#endif
#ifdef MUT_SKIPCLEAR	/* not caught: whoever logged has flushed */
		if
		:: got -> flush_all()
		:: else -> skip
		fi;
#else
#ifndef MUT_NOFLUSH
		flush_all();
#endif
#endif
#ifndef MUT_LOGBEFOREFLUSH
		if			/* now: another harvester may take it and copy */
		:: got -> log_ = true
		:: else -> skip
		fi;
#endif
		got = false;
		atomic { got = log_; log_ = false };
		d_step {				/* the copy */
			if
			:: got -> unsaved = false
			:: else -> skip
			fi;
			got = false
		};
		rounds--
	od;
	ended++
}

#ifdef EVICT
active proctype evictor()
{
	byte e;
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
	flush_all();
#ifndef MUT_EVICTNOLOG
	if
	:: e & D -> log_ = true
	:: else -> skip
	fi;
#endif
	d_step {
		I(3, (e & D) || mark[frame_of(e)] || !mod[frame_of(e)]);
		busy[frame_of(e)] = false;
		cur = NOBODY
	};
	pte = E;					/* 13 */
out:	ended++
}
#endif

active proctype last_round()
{
	ended == NV + 2;
	d_step {
		if
		:: log_ || ((pte & P) && (pte & D)) -> unsaved = false
		:: else -> skip
		fi
	};
	I(4, !unsaved)
}

init {
	atomic {
		run vcpu(0);
		run vcpu(1);
#ifdef EVICT
		run harvester(2)
#else
		run harvester(1);
		run harvester(2)
#endif
	}
}
