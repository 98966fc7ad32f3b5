/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paging: the hypervisor's own address space.
 *
 * The image stays where the firmware put it, mapped at its physical address
 * with W^X; all RAM is mapped a second time at DIRECT_MAP_BASE (read-only
 * unless it belongs to a frame pool); devices are mapped uncached in the same
 * window when asked for.  One set of tables, shared by all CPUs, changed only
 * during bring-up and by paging_map_device().
 * Spec: SDM 3A 4.5, APM 2 5.3.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/status.h"
#include "mm/addr.h"

#define DIRECT_MAP_BASE 0xffff800000000000ULL

/* Builds the tables and switches the boot CPU to them. */
enum hv_status paging_init(const struct handoff *h) __must_check;

/* Makes @len bytes of device registers reachable, uncached; NULL: no memory. */
void *paging_map_device(hpa_t base, uint64_t len);

/*
 * A page of low memory for starting CPUs: R-X at its physical address, writable
 * through the direct map until it is unmapped again.
 */
enum hv_status paging_map_trampoline(hpa_t page) __must_check;
void paging_unmap_trampoline(hpa_t page);

/* Unmaps the page at @p of the hypervisor pool: a guard under a stack. */
void paging_make_guard(void *p);

/* Takes write permission from all that is constant after bring-up. */
void paging_seal(void);

/*
 * Tables of their own for calls of the firmware's run-time services: what those need,
 * one to one, writable and executable, and the hypervisor as everywhere.  On the CPU
 * that calls only, as long as it calls (hv/firmware.h); all other tables keep W^X.
 */
enum hv_status paging_init_firmware(const struct handoff *h) __must_check;
uint64_t paging_firmware_cr3(void);
/* For the last call: no guest runs any more, and firmware may want what it did not list. */
enum hv_status paging_widen_firmware(void) __must_check;

/* What CR3 holds on every CPU in root mode. */
uint64_t paging_cr3(void);

/* Sets the CPU's control registers the way these tables need (NX, WP, SMEP, SMAP, PGE). */
void paging_enable_cpu_features(void);

bool paging_has_smap(void);
