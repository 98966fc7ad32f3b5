/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leaf: the fast path against write-protection logging and eviction.
 *
 * One slot, two frames, two vCPUs with a TLB.  F fills (1) and grants W (4),
 * then logs, before it enters again.  G exchanges the log, takes W away (10),
 * flushes, copies; its last round is with the vCPUs parked.  V zaps (12),
 * flushes, judges by D, then empties the slot or moves the page to the other
 * frame (13).
 *
 * check: -DNACC=2 -DHARVEST
 * check: -DNACC=2 -DEVICT
 * check: -DNACC=2 -DHARVEST -DEVICT
 * mutant: MUT_LOGFIRST I4 -DHARVEST		logs, then grants
 * mutant: MUT_FILLNOLOG I4 -DHARVEST		a fill that grants W does not log
 * mutant: MUT_NOFLUSHCOPY I4 -DHARVEST		copies without a flush
 * mutant: MUT_CLEARFIRST I4 -DHARVEST		takes W away, then exchanges the log
 * mutant: MUT_WPDROPSD I3 -DHARVEST -DEVICT	10 takes D away with W
 * mutant: MUT_PLAINZAP I3 -DEVICT		zap by read and store
 * mutant: MUT_NOFREEZE I2 -DEVICT		zap to E, then flush
 * mutant: MUT_EVICTNOFLUSH I1,I2,I3 -DEVICT	zap to Z, no flush
 * mutant: MUT_FILLOVERZ I8 -DEVICT		a fill takes Z for E
 */
#include "common.h"
#ifndef NACC
#define NACC 1
#endif
#include "vcpu.inc"

bool busy[2];		/* the frame is allocated */
bool mod[2];		/* ghost: differs from the backing store */
byte cur = NOBODY;	/* ghost: the frame that is the gfn's */
byte owner = NOBODY;	/* ghost: of Z */
bool log_, unsaved;	/* log bit; ghost: written, not copied since */
byte parked;

#define V NV

inline touch(f, w)
{
	I(1, busy[f]);
	I(2, cur == f);
	if
	:: w -> mod[f] = true; unsaved = true
	:: else -> skip
	fi
}

inline alloc(f, ok)
{
	d_step {
		if
		:: !busy[0] -> f = 0; ok = true
		:: busy[0] && !busy[1] -> f = 1; ok = true
		:: else -> ok = false
		fi;
		if
		:: ok -> busy[f] = true; mod[f] = false
		:: else -> skip
		fi
	}
}

inline log_write()
{
	if
	:: w -> log_ = true
	:: else -> skip
	fi
}

proctype vcpu(byte me)
{
	byte n, e, f, new;
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
fault:		/* in ROOT */
		e = pte;
		if
#ifdef MUT_FILLOVERZ
		:: e == Z || e == E ->
#else
		:: e == Z -> skip		/* enter and fault again */
		:: e == E ->
#endif
			alloc(f, ok);
			if
			:: ok ->
				new = P + f * FRAME + (w -> W : 0);
#ifdef MUT_LOGFIRST
				log_write();
#endif
				d_step {
					if
					:: pte == e ->
						I(8, owner == NOBODY);
						I(7, EDGE(e, new));
						pte = new; cur = f		/* 1 */
					:: else -> busy[f] = false
					fi
				};
#if !defined(MUT_LOGFIRST) && !defined(MUT_FILLNOLOG)
				log_write()
#endif
			:: else -> skip
			fi
		:: (e & P) && w && !(e & W) ->
#ifdef MUT_LOGFIRST
			log_write();
#endif
			cas(pte, e, e | W, ok);			/* 4 */
#ifndef MUT_LOGFIRST
			if
			:: ok -> log_write()
			:: else -> skip
			fi
#endif
		:: else -> skip			/* somebody was faster */
		fi;
		e = 0; f = 0; new = 0; ok = false;
		goto again;
next:		n++
	od;
	parked++
}

#ifdef HARVEST
inline unprotect()
{
	do
	:: e = pte;
		if
		:: (e & P) && (e & W) ->
#ifdef MUT_WPDROPSD
			cas(pte, e, e & ~(W | D), ok)
#else
			cas(pte, e, e & ~W, ok)		/* 10; D stays */
#endif
		:: else -> ok = true
		fi;
		if
		:: ok -> break
		:: else -> skip
		fi
	od;
	e = 0; ok = false
}

active proctype harvester()
{
	byte e, k;
	bool got, ok;

	do
	:: k == 2 -> break
	:: k < 2 ->
#ifdef MUT_CLEARFIRST
		unprotect();
		flush_all();
		d_step { got = log_; log_ = false };
#else
		d_step { got = log_; log_ = false };
		unprotect();
#ifndef MUT_NOFLUSHCOPY
		flush_all();		/* also when W was clear */
#endif
#endif
		d_step {		/* the copy */
			if
			:: got -> unsaved = false
			:: else -> skip
			fi;
			got = false
		};
		k++
	od;
	parked == NV;
	d_step {
		if
		:: log_ -> unsaved = false
		:: else -> skip
		fi
	};
	I(4, !unsaved)
}
#endif

#ifdef EVICT
active proctype evictor()
{
	byte e, f, to;
	bool ok;

	do
	:: e = pte;
		if
		:: !(e & P) -> goto done
		:: e & P -> skip
		fi;
#ifdef MUT_NOFREEZE
		d_step {
			if
			:: pte == e -> pte = E; ok = true
			:: else -> ok = false
			fi
		};
#else
#ifdef MUT_PLAINZAP
		d_step { pte = Z; owner = V; ok = true };
#else
		d_step {			/* 12 */
			if
			:: pte == e -> I(8, owner == NOBODY); pte = Z; owner = V; ok = true
			:: else -> ok = false
			fi
		};
#endif
#endif
		if
		:: ok -> break
		:: else -> skip
		fi
	od;
#ifndef MUT_EVICTNOFLUSH
	flush_all();
#endif
	f = frame_of(e);
	if
	:: ok = false
	:: alloc(to, ok)
	fi;
	atomic {		/* write back or drop what is clean; or move it */
		I(3, (e & D) || !mod[f]);
		if
		:: ok -> mod[to] = mod[f]; cur = to
		:: else -> skip
		fi;
		busy[f] = false
	};
	d_step {		/* 13 */
#ifdef MUT_NOFREEZE
		skip
#else
		I(8, pte == Z && owner == V);
		owner = NOBODY;
		pte = (ok -> P + to * FRAME + (e & D) : E)
#endif
	};
done:	skip
}
#endif

init { atomic { run vcpu(0); run vcpu(1) } }
