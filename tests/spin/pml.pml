/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pml: page-modification logging (EPT with A/D).
 *
 * Two pages, two vCPUs, each with a log of two entries (or one) whose index
 * counts down.  The CPU sets D (5) and writes the entry in one step; with the
 * index run out it exits first.  Every exit drains: entries to the log bits, index reset.  G
 * kicks, waits until each vCPU has drained, exchanges the log bits, takes D (9)
 * of these pages, flushes, copies.  In its last round the vCPUs are parked.
 *
 * check:
 * check: -DSIZE=1
 * check: -DLATE		drains come when they come, G does not wait: not needed
 * mutant: MUT_NODRAIN I14		no drain at the last exit
 * mutant: MUT_NODFLUSH I14		D cleared, no flush: the CPU does not log again
 * mutant: MUT_NOCLEAR I14		D left set: the CPU does not log again
 * mutant: MUT_DRAINLATE I14		takes D, then drains and exchanges
 * mutant: MUT_COPYEARLY I14		copies before the flush
 * mutant: MUT_OFFBYONE I14		drain forgets the entry written last
 * mutant: MUT_DROPFULL I14 -DSIZE=1	full: the index reset, the entries not taken
 */
#include "common.h"
#define NV 2
#define NACC 3
#ifndef SIZE
#define SIZE 2
#endif
#define NONE 2		/* no page */

bool dirty[2];			/* D of page i */
bool tlb0[NV], tlb1[NV];	/* D of page i in the TLB: nothing is logged */
#define TLB(v, i) (i -> tlb1[v] : tlb0[v])
byte buf0[NV] = NONE, buf1[NV] = NONE;	/* entries of index 0 and 1 */
byte left[NV] = SIZE;		/* index + 1 */
bool log_[2], unsaved[2];
byte parked;

inline record(v, i)
{
	if
	:: left[v] == 2 -> buf1[v] = i
	:: else -> buf0[v] = i
	fi;
	left[v]--
}

inline take(i)
{
	if
	:: i != NONE -> log_[i] = true
	:: else -> skip
	fi
}

inline drain(v)
{
	if
	:: left[v] < 2 ->
#ifdef MUT_OFFBYONE
		if
		:: left[v] < 1 -> take(buf1[v])
		:: else -> skip
		fi
#else
		take(buf1[v]);
		if
		:: left[v] < 1 -> take(buf0[v])
		:: else -> skip
		fi
#endif
	:: else -> skip
	fi;
	buf0[v] = NONE; buf1[v] = NONE;
	left[v] = SIZE
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
		do
#ifdef LATE
		:: d_step { left[me] < SIZE -> drain(me) }
#endif
		:: d_step { TLB(me, i) -> unsaved[i] = true }; break
		:: d_step { !TLB(me, i) && (dirty[i] || left[me] > 0) ->
			if
			:: !dirty[i] -> dirty[i] = true; record(me, i)	/* 5 */
			:: else -> skip
			fi;
			if
			:: i -> tlb1[me] = true
			:: else -> tlb0[me] = true
			fi }
		:: d_step { !TLB(me, i) && !dirty[i] && left[me] == 0 ->	/* full: exit */
#ifdef MUT_DROPFULL
			left[me] = SIZE
#else
			drain(me)
#endif
		   }
		od;
		n++
	od;
#ifndef MUT_NODRAIN
	atomic { drain(me) };		/* parks */
#endif
	i = 0;
	parked++
}

/* A kick exits the guest between two instructions; it enters again. */
inline kick_drain()
{
#ifdef LATE
	skip
#else
	atomic { drain(0) };
	atomic { drain(1) }
#endif
}

inline flush_all()
{
	d_step { tlb0[0] = false; tlb1[0] = false };
	d_step { tlb0[1] = false; tlb1[1] = false }
}

inline copy()
{
	d_step {
		unsaved[0] = unsaved[0] && !got0;
		unsaved[1] = unsaved[1] && !got1
	}
}

inline clear_dirty()
{
#ifndef MUT_NOCLEAR
	if
	:: got0 -> dirty[0] = false
	:: else -> skip
	fi;
	if
	:: got1 -> dirty[1] = false
	:: else -> skip
	fi
#else
	skip
#endif
}

active proctype harvester()
{
	byte k;
	bool got0, got1;

	do
	:: k == 2 -> break
	:: k < 2 ->
#ifdef MUT_DRAINLATE
		got0 = dirty[0];
		got1 = dirty[1];
		clear_dirty();
		flush_all();
		kick_drain();
		atomic { got0 = log_[0]; log_[0] = false };
		atomic { got1 = log_[1]; log_[1] = false };
		copy();
#else
		kick_drain();
		atomic { got0 = log_[0]; log_[0] = false };
		atomic { got1 = log_[1]; log_[1] = false };
		clear_dirty();
#ifdef MUT_COPYEARLY
		copy();
#endif
#ifndef MUT_NODFLUSH
		flush_all();
#endif
#ifndef MUT_COPYEARLY
		copy();
#endif
#endif
		got0 = false;
		got1 = false;
		k++
	od;
	parked == NV;
	I(14, !unsaved[0] || log_[0]);
	I(14, !unsaved[1] || log_[1])
}

init { atomic { run vcpu(0); run vcpu(1) } }
