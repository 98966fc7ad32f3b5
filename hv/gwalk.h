/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gwalk: the guest's own page-table walk: linear to guest-physical address.
 *
 * Called from: exit path, any CPU.  Locks: none; the callbacks may take some.
 * Purity: pure (host-tested by tests/host/test_gwalk.c).
 * Spec: SDM 3A 4.2 to 4.8; APM 2 5.
 *
 * No paging, 32-bit, PAE and 4-level paging.  5-level paging, protection keys
 * and PSE-36 are not offered to guests.  PDPTEs are read on each walk; a CPU
 * that keeps them since MOV to CR3 may differ when the guest changes them.
 */
#pragma once

#include "hv/base.h"
#include "hv/state.h"
#include "hv/status.h"
#include "mm/addr.h"

/* What the access does and for whom; 0 is an explicit supervisor read. */
#define GWALK_READ		  0U
#define GWALK_WRITE		  BIT(0)
#define GWALK_FETCH		  BIT(1)
#define GWALK_USER		  BIT(2)
#define GWALK_IMPLICIT_SUPERVISOR BIT(3) /* descriptor tables, TSS: SMAP ignores AC */

/* #PF error code (SDM 3A 4.7). */
#define PF_P	BIT(0)
#define PF_W	BIT(1)
#define PF_U	BIT(2)
#define PF_RSVD BIT(3)
#define PF_I	BIT(4)

struct gwalk_env {
	void *ctx;
	/* The page-table entry of @size bytes (4 or 8) at @gpa; not HV_OK when there is no RAM. */
	enum hv_status (*read)(void *ctx, gpa_t gpa, unsigned size, uint64_t *entry);
	/*
	 * Replaces @old by @new_val in one step; HV_RETRY when the entry is
	 * another one.  NULL: accessed and dirty bits stay as they are.
	 */
	enum hv_status (*cmpxchg)(void *ctx, gpa_t gpa, unsigned size, uint64_t old,
				  uint64_t new_val);
	uint8_t maxphyaddr; /* as the guest's CPUID says, 32 to 52 */
	bool page1g;	    /* whether the guest's CPUID offers 1 GiB pages */
};

struct gwalk_result {
	gpa_t gpa;
	uint64_t left; /* bytes from gpa to the end of the guest's page */
	/* Of the #PF, on HV_FAULT. */
	uint32_t error;
	uint64_t cr2;
};

/*
 * Translates @linear, which is canonical, and sets accessed and dirty bits.
 * Outside IA-32e mode @linear is cut to 32 bits.
 *
 * HV_OK, HV_FAULT (#PF in @out) or HV_RETRY (a callback failed, or an entry
 * changed under us again and again).
 */
enum hv_status gwalk(const struct gwalk_env *env, const struct hv_sregs *s, uint64_t rflags,
		     uint64_t linear, unsigned access, struct gwalk_result *out) __must_check;
