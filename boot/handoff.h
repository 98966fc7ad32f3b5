/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handoff: the one struct that the boot stage gives to the hypervisor.
 *
 * Filled while boot services run, passed to hv_main() after they have ended,
 * constant from then on.  All addresses are host-physical.  Pure data.
 */
#pragma once

#include "hv/base.h"
#include "hv/config.h"
#include "mm/addr.h"

#define HANDOFF_MAX_RANGES 128
#define HANDOFF_MAX_RUNTIME 64
#define HANDOFF_MAX_FILES  32
#define HANDOFF_MAX_CHUNKS 64
#define HANDOFF_MAX_CPUS   256

struct handoff_range {
	hpa_t base;
	uint64_t len; /* bytes, a multiple of the page size */
};

/* What the firmware's run-time services need mapped, one to one. */
struct handoff_runtime {
	struct handoff_range at;
	bool is_device;
};

/* A file from the ESP, in as many pieces as the firmware's memory needed. */
struct handoff_file {
	char path[CONFIG_PATH_LEN];
	uint64_t size;
	uint32_t chunk_count;
	struct handoff_range chunk[HANDOFF_MAX_CHUNKS];
};

struct handoff {
	struct hv_config config;
	uint32_t range_count;	/* free memory, sorted, not adjacent */
	struct handoff_range range[HANDOFF_MAX_RANGES];
	uint64_t ram_top;	/* one past the highest byte of any RAM */
	uint32_t runtime_count;
	struct handoff_runtime runtime[HANDOFF_MAX_RUNTIME];
	bool runtime_cut;	/* there are more than fit */
	uint32_t file_count;
	struct handoff_file file[HANDOFF_MAX_FILES];
	uint32_t cpu_count;	/* from the firmware's MP services; 0: not available */
	uint32_t cpu_apic_id[HANDOFF_MAX_CPUS];
	hpa_t rsdp;		/* HPA_NONE: the firmware has no ACPI tables */
	hpa_t image_base;
	uint64_t image_size;
	hpa_t trampoline;	/* one page below 1 MiB for starting the other CPUs */
	uint64_t epoch;		/* wall-clock seconds since 1970 when the hypervisor began */
	uint64_t reset_system, set_variable; /* of EFI_RUNTIME_SERVICES; 0: there is none */
	const void *config_tree; /* the device tree that config was made of, or NULL; in the image */
	bool have_config_file;
	char config_path[CONFIG_PATH_LEN];
};

/* The hypervisor's entry; called on the boot CPU, interrupts off, boot services gone. */
_Noreturn void hv_main(const struct handoff *h);
