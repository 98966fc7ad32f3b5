/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entry: the handshake of entry and flusher, section 4.4, under TSO.
 *
 * One CPU with a store buffer enters and leaves the guest, goes OUT and comes
 * back; in ROOT it follows a pointer.  A changer takes a permission and a table
 * away, starts a generation, waits, and frees the table after the grace.  A
 * relier comes when the bit is clear already and must not believe it.  A
 * publisher exchanges a map that has no translations, so it waits for the grace
 * only.  These three do locked operations only and need no buffer.  The CPU
 * acknowledges before it flushes, as mm/flush.c does; a kick takes its time; a
 * guest need not exit unless kicked.
 *
 * check:
 * mutant: MUT_NOFENCE I9		entry without the full fence
 * mutant: MUT_SKIPCLEAR I9		no wait because the bit was clear
 * mutant: MUT_NOBUMP I9		waits for the generation that is, starts none
 * mutant: MUT_NOWAIT I9		kicks and goes on
 * mutant: MUT_NOKICK I8		waits and never kicks
 * mutant: MUT_KICKLOST I8		takes the kick after the look at gen, then enters
 * mutant: MUT_ROOTNOFENCE I5		OUT -> ROOT without a fence
 * mutant: MUT_GRACEGUEST I5		grace takes GUEST for "holds no pointer"
 * mutant: MUT_GRACEROOT I5		grace takes ROOT for "holds no pointer"
 * mutant: MUT_EARLYGEN I5		retires with gen + 1 as it was before the change
 */
#include "common.h"
#ifndef ENTRIES
#define ENTRIES 3
#endif

byte state = OUT, gen = 1, acked = 0;	/* as the others see them */
bool perm = true;	/* W in the entry */
bool tlb;		/* W in the CPU's TLB */
bool ipi;
bool gone;		/* a flusher relies on perm being gone */
bool linked[2] = true, freed[2];	/* a table, a map */

#define STATE 0
#define ACKED 1
chan buffer = [3] of { byte, byte };

inline store(var, val) { buffer!var,val }
inline fence() { empty(buffer) }

active proctype drain()
{
	byte var, val;
end:	do
	:: d_step {
		buffer?var,val;
		if
		:: var == STATE -> state = val
		:: else -> acked = val
		fi;
		var = 0; val = 0
	   }
	od
}

active proctype cpu()
{
	byte n, g, mine, o;
	bool p;

out:	if
	:: n == ENTRIES -> goto done
	:: n < ENTRIES -> skip
	fi;
	store(STATE, ROOT);
#ifndef MUT_ROOTNOFENCE
	fence();
#endif
root:	/* a software walk, which ends before entry */
	if
	:: o = 0
	:: o = 1
	fi;
	p = linked[o];
	if
	:: p -> I(5, !freed[o])
	:: else -> skip
	fi;
	p = false;
	store(STATE, GUEST);
#ifndef MUT_NOFENCE
	fence();
#endif
	g = gen;
	if
	:: mine != g ->
		mine = g;
		store(ACKED, g);
		tlb = false
	:: else -> skip
	fi;
	g = 0;
#ifdef MUT_KICKLOST
	if
	:: ipi -> ipi = false
	:: skip
	fi;
#endif
	do
	:: d_step { tlb -> I(9, !gone) }
	:: d_step { !tlb && perm -> tlb = true; I(9, !gone) }
	:: ipi -> ipi = false; break
	:: break			/* any other exit */
	:: goto end_guest
	od;
	goto exit;
end_guest:
	ipi -> ipi = false;
exit:	n++;
	if
	:: n < ENTRIES -> store(STATE, ROOT); goto root
	:: store(STATE, OUT); goto out
	fi;
done:	skip
}

inline kick(g)
{
	if
	:: state == GUEST && acked < g ->
#ifdef MUT_NOKICK
		skip
#else
		ipi = true
#endif
	:: else -> skip
	fi
}

inline flush_wait(g)
{
	kick(g)
#ifndef MUT_NOWAIT
	; (state != GUEST || acked >= g)
#endif
}

inline grace(g)
{
#ifdef MUT_GRACEGUEST
	(state != ROOT || acked >= g)
#else
#ifdef MUT_GRACEROOT
	(state != GUEST || acked >= g)
#else
	(state == OUT || acked >= g)
#endif
#endif
}

active proctype changer()
{
	byte g, early;

	early = gen + 1;
	perm = false;
	linked[0] = false;
	d_step { gen++; g = gen };
	flush_wait(g);
	gone = true;
#ifdef MUT_EARLYGEN
	g = early;
#endif
	grace(g);
	freed[0] = true
}

active proctype relier()
{
	byte g;

	!perm;		/* finds the bit clear: the flush may still be owed */
#ifndef MUT_SKIPCLEAR
#ifdef MUT_NOBUMP
	g = gen;
#else
	d_step { gen++; g = gen };
#endif
	flush_wait(g);
#endif
	gone = true	/* I9 */
}

active proctype publisher()
{
	byte g;

	linked[1] = false;
	d_step { gen++; g = gen };
	kick(g);	/* or a guest that never exits is waited for for ever */
	grace(g);
	freed[1] = true
}
