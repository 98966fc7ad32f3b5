/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_mem: the one door to guest memory.
 *
 * Copies between hypervisor buffers and guest-physical RAM, filling what is not
 * resident yet.  Every access is bounded to the VM's RAM regions; the SMAP gate
 * is open only around the copy itself.  The VM's own vCPU, or nobody, runs
 * concurrently with removal (see mm/flush.h).
 */
#pragma once

#include "hv/status.h"
#include "mm/addr.h"

struct vm;

/* HV_FAULT when any byte is not RAM; HV_NOMEM when no frame is left. */
enum hv_status guest_mem_read(struct vm *vm, gpa_t gpa, void *dst, size_t len) __must_check;
enum hv_status guest_mem_write(struct vm *vm, gpa_t gpa, const void *src, size_t len) __must_check;

/* Compare-and-exchange of an aligned 4- or 8-byte word; *seen gets what was there. */
enum hv_status guest_mem_cmpxchg(struct vm *vm, gpa_t gpa, unsigned size, uint64_t old,
				 uint64_t new, uint64_t *seen) __must_check;

/* A word of guest memory that has been seen; good until the next flush generation. */
struct guest_mem_word {
	const uint64_t *at;
	uint64_t value, mask;
};

/* False: @gpa is not mapped, or its 8 bytes cross a page. */
bool guest_mem_word(struct vm *vm, gpa_t gpa, uint64_t value, uint64_t mask,
		    struct guest_mem_word *w);
/* Whether all of them still are what they were. */
bool guest_mem_words_are(const struct guest_mem_word *w, unsigned n);

/* Copies 4 KiB between frames of the guest pool. */
void guest_mem_copy_frame(hpa_t to, hpa_t from);

/* Clears frames of the guest pool before a guest gets them. */
void guest_mem_clear_frame(hpa_t hpa, unsigned order);
