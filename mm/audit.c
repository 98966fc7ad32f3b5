/* SPDX-License-Identifier: BSD-2-Clause */
/* audit: who may still hold a stale nested translation, checked.  Pure. */
#include "mm/audit.h"

#ifdef HV_DEBUG

#include "hv/assert.h"

void audit_restricted(struct npt_audit *a)
{
	__atomic_add_fetch(&a->seq, 1, __ATOMIC_SEQ_CST);
}

uint64_t audit_seq(const struct npt_audit *a)
{
	return __atomic_load_n(&a->seq, __ATOMIC_SEQ_CST);
}

/* Every vCPU that is in the guest has flushed what @seq took away. */
static void check(struct npt_audit *a, uint32_t slots, uint64_t seq)
{
	for (uint32_t i = 0; i < slots; i++) {
		bool in_guest = __atomic_load_n(&a->slot[i].in_guest, __ATOMIC_SEQ_CST);
		uint64_t flushed = __atomic_load_n(&a->slot[i].flushed, __ATOMIC_ACQUIRE);
		bool may_hold_a_stale_translation = in_guest && flushed < seq;

		HV_ASSERT(!may_hold_a_stale_translation);
	}
}

static void raise_to(uint64_t *at, uint64_t seq)
{
	uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (old < seq &&
	       !__atomic_compare_exchange_n(at, &old, seq, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

void audit_released(struct npt_audit *a, uint64_t seq)
{
	raise_to(&a->relied, seq);
	check(a, AUDIT_SLOTS, seq);
}

void audit_flush_begun(struct npt_audit *a)
{
	__atomic_store_n(&a->begun, __atomic_load_n(&a->seq, __ATOMIC_SEQ_CST), __ATOMIC_RELEASE);
}

void audit_flush_done(struct npt_audit *a, uint32_t slots)
{
	uint64_t seq = __atomic_load_n(&a->begun, __ATOMIC_ACQUIRE);

	raise_to(&a->relied, seq);
	check(a, slots, seq);
}

void audit_flushed(struct npt_audit *a, uint32_t slot)
{
	__atomic_store_n(&a->slot[slot].flushed, __atomic_load_n(&a->seq, __ATOMIC_SEQ_CST),
			 __ATOMIC_RELEASE);
}

void audit_enter(struct npt_audit *a, uint32_t slot)
{
	bool enters_without_an_owed_flush;

	/* As flush_enter(): either we see what is relied on, or they see us. */
	__atomic_store_n(&a->slot[slot].in_guest, 1, __ATOMIC_SEQ_CST);
	enters_without_an_owed_flush =
		a->slot[slot].flushed < __atomic_load_n(&a->relied, __ATOMIC_SEQ_CST);
	HV_ASSERT(!enters_without_an_owed_flush);
}

void audit_leave(struct npt_audit *a, uint32_t slot)
{
	__atomic_store_n(&a->slot[slot].in_guest, 0, __ATOMIC_RELEASE);
}

#endif
