/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aging: EPT without A/D.  W is what tells of writes, an access-protected
 * entry (AG: RWX = 0, SW_P) what tells of accesses.
 *
 * The ager makes AG (11) and captures D from W; it owes no flush for that.  F
 * restores (6): a read without W, a write with W and D, then it logs.  G logs
 * by taking W (10); it finds W gone where the ager was first, and flushes all
 * the same.  V judges by D, and an AG is a page like others.
 *
 * check: -DNACC=2 -DHARVEST
 * check: -DNACC=2 -DEVICT
 * check: -DNACC=1 -DHARVEST -DEVICT -DROUNDS=1
 * mutant: MUT_FORGETW I3 -DEVICT	AG does not take W for D
 * mutant: MUT_AGNOLOG I4 -DHARVEST	6 grants W and does not log
 * mutant: MUT_AGLOGFIRST I4 -DHARVEST	6 logs, then grants
 * mutant: MUT_SKIPCLEAR I4 -DHARVEST	no flush because W was clear
 * mutant: MUT_RESTOREW I4 -DHARVEST	6 for a read brings W back, unlogged
 * mutant: MUT_AGISEMPTY I1,I2,I7 -DEVICT	F takes AG for EMPTY and fills
 */
#include "common.h"
#ifndef NACC
#define NACC 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define WALKED(w) 0		/* no A, no D in hardware */
#include "vcpu.inc"

#ifdef EVICT
#define NPROC (NV + 2)
#else
#define NPROC (NV + 1)
#endif

bool busy[2];
bool mod[2];		/* ghost: differs from the backing store */
byte cur = 0;		/* ghost: the frame that is the gfn's */
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
fault:		e = pte;
		new = 0;
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
			:: ok -> new = P + f * FRAME + (w -> W + D : 0)		/* 1 */
			:: else -> skip
			fi
#ifdef MUT_AGISEMPTY
		:: (e & P) && (e & AG) -> f = 1 - frame_of(e); busy[f] = true; mod[f] = false;
			new = P + f * FRAME + (w -> W + D : 0)
#else
		:: (e & P) && (e & AG) ->					/* 6 */
#ifdef MUT_RESTOREW
			new = (e & ~AG) | (w || (e & D) -> W + D : 0)
#else
			new = (e & ~AG) | (w -> W + D : 0)
#endif
#endif
		:: (e & P) && !(e & AG) && w && !(e & W) -> new = e | W | D	/* 4: WD */
		:: else -> skip
		fi;
		if
		:: new == 0 -> skip
		:: else ->
#ifdef MUT_AGLOGFIRST
			if
			:: w -> log_ = true
			:: else -> skip
			fi;
#endif
			d_step {
				if
				:: pte == e ->
					I(7, EDGE(e, new));
					pte = new; cur = frame_of(new); ok = true
				:: else ->
					ok = false;
					if
					:: e == E -> busy[f] = false
					:: else -> skip
					fi
				fi
			};
#ifndef MUT_AGLOGFIRST
			if
#ifdef MUT_AGNOLOG
			:: ok && w && !(e & AG) -> log_ = true
#else
			:: ok && w -> log_ = true	/* then, before entry */
#endif
			:: else -> skip
			fi
#endif
		fi;
		e = 0; f = 0; new = 0; ok = false;
		goto again;
next:		n++
	od;
	ended++
}

active proctype ager()
{
	byte e;
	bool ok;

	e = pte;
	if
	:: (e & P) && !(e & AG) ->			/* 11; lost: next time */
#ifdef MUT_FORGETW
		cas(pte, e, (e & ~(W | D)) | AG, ok)
#else
		cas(pte, e, (e & ~W) | AG | (e & W -> D : 0), ok)
#endif
	:: else -> skip
	fi;
	ended++
}

#ifdef HARVEST
active proctype harvester()
{
	byte e, k;
	bool got, ok;

	do
	:: k == ROUNDS -> break
	:: k < ROUNDS ->
		atomic { got = log_; log_ = false };
		do
		:: e = pte;
			if
			:: (e & P) && (e & W) -> cas(pte, e, (e & ~W) | D, ok)	/* 10 */
			:: else -> break
			fi;
			if
			:: ok -> break
			:: else -> skip
			fi
		od;
		e = 0;
#ifdef MUT_SKIPCLEAR
		if
		:: ok -> flush_all()
		:: else -> skip
		fi;
#else
		flush_all();
#endif
		ok = false;
		d_step {
			if
			:: got -> unsaved = false
			:: else -> skip
			fi;
			got = false
		};
		k++
	od;
	ended == NPROC;
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
	d_step {
		I(3, (e & D) || !mod[frame_of(e)]);
		busy[frame_of(e)] = false;
		cur = NOBODY
	};
	pte = E;					/* 13 */
out:	ended++
}
#endif

init {
	atomic {
		/* Installed for a read by an earlier fault: RL. */
		busy[0] = true;
		pte = P;
		run vcpu(0);
		run vcpu(1)
	}
}
