/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * common: what the models share.  Names are those of the specification of the
 * fault path: states E Z RO RL WC WD AG TB, invariants I1-I15, transitions 1-17.
 */

/* Invariant n.  The number stays in the text that pan prints, where run finds it. */
#define I(n, c) assert((c) || n == 0)

/* An entry: E, Z, or P with permissions.  Z holds no frame (I6). */
#define E 0
#define P 1		/* SW_P where the entry can be AG */
#define W 2
#define D 4
#define A 64
#ifdef MUT_ZHASA
#define Z (8 + A)
#else
#define Z 8
#endif
#define FRAME 16	/* number of the frame: one bit */
#define AG 32		/* RWX = 0 */

#define frame_of(e) (((e) & FRAME) / FRAME)
#define LEGAL(e) ((e) == E || (e) == Z || (((e) & P) && !((e) & Z)))

/* The edges of section 4.3 between leaf states of one slot (I7). */
#define EDGE(o, n) \
	(((o) == E && ((n) & P)) ||					/* 1, 2 */ \
	 (((o) & P) && ((n) & P) && frame_of(o) == frame_of(n)) ||	/* 4-11 */ \
	 (((o) & P) && (n) == Z) ||					/* 12 */ \
	 ((o) == Z && ((n) == E || ((n) & P))))				/* 13 */

/* LOCK CMPXCHG of the slot, with the checks of every change. */
inline cas(slot, old, new, ok)
{
	d_step {
		if
		:: slot == (old) -> I(6, LEGAL(new)); I(7, EDGE(old, new)); slot = (new); ok = true
		:: else -> ok = false
		fi
	}
}

/* Where a vCPU is. */
#define OUT 0
#define ROOT 1
#define GUEST 2

#define NOBODY 255
