/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * audit: who may still hold a stale nested translation, checked.
 *
 * Emulators flush at every entry and exit, so that a forgotten flush shows on
 * none of them.  A build with HV_DEBUG therefore numbers every right that is
 * taken away and remembers by vCPU the last number that a flush which was really
 * carried out has covered.  It stops when removed frames are released or a flush
 * is called done while a vCPU in the guest has flushed too little, and when a
 * vCPU enters so.
 * Any CPU, no lock: all fields are atomic.  Pure (tests/host/test_audit.c).
 */
#pragma once

#include "hv/base.h"

#define AUDIT_SLOTS 32

struct npt_audit {
	uint64_t seq;	 /* of the last right taken away */
	uint64_t relied; /* the newest of those that somebody has relied on */
	uint64_t begun;	 /* seq when the last flush generation began */
	struct {
		uint64_t flushed; /* seq when it last flushed */
		uint32_t in_guest;
	} slot[AUDIT_SLOTS];
};

#ifdef HV_DEBUG

/* A leaf or a table has lost a right. */
void audit_restricted(struct npt_audit *a);
/* The number of the last right taken away: what is retired now waits for that one. */
uint64_t audit_seq(const struct npt_audit *a);
/* From now on nobody may use a right up to that number: what had it is reused. */
void audit_released(struct npt_audit *a, uint64_t seq);
void audit_flush_begun(struct npt_audit *a);
void audit_flush_done(struct npt_audit *a, uint32_t slots);
/* By the back end: the flush instruction or ASID of this entry; then the entry and the exit. */
void audit_flushed(struct npt_audit *a, uint32_t slot);
void audit_enter(struct npt_audit *a, uint32_t slot);
void audit_leave(struct npt_audit *a, uint32_t slot);

#else

static inline void audit_restricted(struct npt_audit *a)
{
	(void)a;
}
static inline uint64_t audit_seq(const struct npt_audit *a)
{
	(void)a;
	return 0;
}
static inline void audit_released(struct npt_audit *a, uint64_t seq)
{
	(void)a, (void)seq;
}
static inline void audit_flush_begun(struct npt_audit *a)
{
	(void)a;
}
static inline void audit_flush_done(struct npt_audit *a, uint32_t slots)
{
	(void)a, (void)slots;
}
static inline void audit_flushed(struct npt_audit *a, uint32_t slot)
{
	(void)a, (void)slot;
}
static inline void audit_enter(struct npt_audit *a, uint32_t slot)
{
	(void)a, (void)slot;
}
static inline void audit_leave(struct npt_audit *a, uint32_t slot)
{
	(void)a, (void)slot;
}

#endif
