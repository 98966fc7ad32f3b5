/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cow: copy on write (17) of a shared frame.
 *
 * Frame 0 is shared: SH, so W is never granted in place.  F freezes (12),
 * flushes, stores the private frame 1 (13), logs.  Two vCPUs read and write.
 *
 * check:
 * mutant: MUT_INPLACE I13		grants W on the shared frame
 * mutant: MUT_NOFLUSH I2		no flush between 12 and 13
 * mutant: MUT_DIRECT I2		from leaf to leaf without Z
 * mutant: MUT_NOLOG I4			a private copy is not logged
 */
#include "common.h"
#define NACC 3
#include "vcpu.inc"

byte cur = 0;		/* ghost: the frame that is the gfn's */
bool log_, unsaved;
byte ended;

inline touch(f, w)
{
	I(2, cur == f);
	I(13, !(w && f == 0));
	if
	:: w -> unsaved = true
	:: else -> skip
	fi
}

proctype vcpu(byte me)
{
	byte n, e;
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
		if
		:: (e & P) && w && !(e & W) ->
#ifdef MUT_INPLACE
			cas(pte, e, e | W, ok)
#else
#ifndef MUT_DIRECT
			cas(pte, e, Z, ok);		/* 12 */
			if
			:: !ok -> goto again
			:: else -> skip
			fi;
#ifndef MUT_NOFLUSH
			flush_all();
#endif
#endif
			d_step {			/* 13: the copy is filled */
				I(8, pte == Z
#ifdef MUT_DIRECT
					|| true
#endif
				);
				pte = P + W + D + FRAME;
				cur = 1
			};
#ifndef MUT_NOLOG
			log_ = true
#endif
#endif
		:: else -> skip
		fi;
		ok = false; e = 0;
		goto again;
next:		n++
	od;
	ended++
}

active proctype judge()
{
	ended == NV;
	I(4, !unsaved || log_)
}

init {
	atomic {
		pte = P;
		run vcpu(0);
		run vcpu(1)
	}
}
