/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * migrate: two vCPUs of one VM on two CPUs, each on either in turn.
 *
 * A TLB is a CPU's and outlives the vCPU that filled it; OUT says nothing of
 * it.  With BYCPU state and acked are the CPU's (and VM's), as in section 4.4.
 * Otherwise they are the vCPU's, as in mm/flush.c: then one that comes from
 * another CPU must flush though it has acknowledged.
 *
 * check: -DBYCPU
 * check:
 * mutant: MUT_MOVENOFLUSH I9	by vCPU, no flush when the CPU changes
 * mutant: MUT_OUTISCLEAN I9	acknowledges when it goes OUT, without a flush
 */
#include "common.h"
#define N 2
#define TURNS 3

byte state[N], acked[N], gen = 1;
bool perm = true, gone;
bool tlb[N];		/* of each CPU */
bool busy[N];		/* the CPU runs a vCPU */

proctype vcpu(byte me)
{
	byte n, cpu, last = NOBODY, slot;

	do
	:: n == TURNS -> break
	:: n < TURNS ->
		if
		:: d_step { !busy[0] -> busy[0] = true; cpu = 0 }
		:: d_step { !busy[1] -> busy[1] = true; cpu = 1 }
		fi;
#ifdef BYCPU
		slot = cpu;
#else
		slot = me;
#endif
		atomic {			/* entry, see entry.pml */
			state[slot] = GUEST;
			if
#if defined(BYCPU) || defined(MUT_MOVENOFLUSH)
			:: acked[slot] != gen ->
#else
			:: acked[slot] != gen || last != cpu ->
#endif
				acked[slot] = gen; tlb[cpu] = false
			:: else -> skip
			fi;
			last = cpu
		};
		do
		:: d_step { tlb[cpu] -> I(9, !gone) }
		:: d_step { !tlb[cpu] && perm -> tlb[cpu] = true }
		/* A kick: exits, flushes, enters. */
		:: d_step { acked[slot] < gen -> acked[slot] = gen; tlb[cpu] = false }
		:: break
		od;
		atomic {
			state[slot] = OUT;
#ifdef MUT_OUTISCLEAN
			acked[slot] = gen;
#endif
			busy[cpu] = false;
			cpu = 0; slot = 0
		};
		n++
	od;
	last = 0
}

active proctype remover()
{
	byte g;

	perm = false;
	atomic { gen++; g = gen };
	(state[0] != GUEST || acked[0] >= g);
	(state[1] != GUEST || acked[1] >= g);
	gone = true
}

init { atomic { run vcpu(0); run vcpu(1) } }
