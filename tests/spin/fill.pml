/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill: vCPUs and a prefetcher that fill the same empty slot (1, 2, 3).
 *
 * One slot above, a table of one slot made on demand.  Three vCPUs fault at the
 * same time, X prefetches under write logging.  Losers free what they brought.
 *
 * check:
 * mutant: MUT_PLAINLINK I2		3 by a plain store
 * mutant: MUT_PLAINFILL I2		1 by a plain store
 * mutant: MUT_LOSERFREES I1		the loser of 1 frees the winner's frame
 * mutant: MUT_XSTORE I11		X stores without a compare
 * mutant: MUT_XGRANTW I4		X grants W under logging
 */
#include "common.h"
#define NF 3
#define NX (NF + 1)
#define X NF

byte par = NOBODY;		/* the table of this walker, or NOBODY */
byte pte[NX] = NOBODY;		/* in each table: the frame of this walker */
bool writable;			/* W of the leaf */
bool tfree[NX], ffree[NX];	/* of each walker's own */
byte installed;			/* leaves that became reachable */
bool log_, unsaved;
byte ended;

/* The table to use, made if there is none. */
inline descend()
{
	if
	:: par == NOBODY ->
		pte[me] = NOBODY;
#ifdef MUT_PLAINLINK
		par = me
#else
		d_step {
			if
			:: par == NOBODY -> par = me		/* 3 */
			:: else -> tfree[me] = true; tries++
			fi
		}
#endif
	:: else -> skip
	fi;
	t = par;
	I(5, !tfree[t])
}

proctype vcpu(byte me; bool w)
{
	byte t, tries;

again:	descend();
	if
	:: pte[t] == NOBODY ->
		d_step {
			if
#ifdef MUT_PLAINFILL
			:: pte[t] = me; writable = w; installed++
#else
			:: pte[t] == NOBODY -> pte[t] = me; writable = w; installed++	/* 1 */
#endif
			:: else ->
#ifdef MUT_LOSERFREES
				ffree[pte[t]] = true;
#else
				ffree[me] = true;
#endif
				tries++
			fi
		};
		I(15, tries <= 2);	/* one level, one loss */
		if
		:: pte[t] == me && w -> log_ = true
		:: else -> skip
		fi
	:: w && !writable -> atomic { writable = true }; log_ = true	/* 4 */
	:: else -> skip
	fi;
	/* The guest. */
	if
	:: d_step { par != NOBODY && pte[par] != NOBODY && (!w || writable) ->
		I(2, installed == 1);
		I(1, !ffree[pte[par]]);
		unsaved = unsaved || w;
		t = 0; tries = 0; w = false }
	:: else -> goto again
	fi;
	ended++
}

active proctype prefetcher()
{
	byte t, tries, old;
	byte me = X;

	descend();
	d_step {
		old = pte[t];
#ifdef MUT_XSTORE
		pte[t] = me; installed++;
#else
		if
		:: pte[t] == NOBODY ->				/* 2: RL, D = 0 */
			pte[t] = me; installed++;
#ifdef MUT_XGRANTW
			writable = true
#endif
		:: else -> ffree[me] = true			/* and never again */
		fi;
#endif
		I(11, old == NOBODY || pte[t] == old);
		t = 0; old = 0; tries = 0; me = 0
	};
	ended++
}

active proctype judge()
{
	ended == NX;
	I(2, installed == 1);
	I(4, !unsaved || log_)
}

init {
	atomic {
		run vcpu(0, false);
		run vcpu(1, true);
		if
		:: run vcpu(2, false)
		:: run vcpu(2, true)
		fi
	}
}
