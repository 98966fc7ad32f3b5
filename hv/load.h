/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load: what the image loaders (Linux, multiboot, flat) have in common: their
 * environment, what they load, the CPU state they hand out, and where they put
 * their own structures in guest memory:
 *
 *   0x00000  image                       0x92000  page tables
 *   0x90000  boot_params or mb_info      0x98000  strings
 *   0x91000  GDT                         0x9f000  end; 0x100000  image, initrd, modules
 *
 * Called once per VM start, from the CPU that builds the VM.  Guest memory is
 * reached only through struct load_env; RAM is zero before.  Files are
 * untrusted: a bad one gives a status and a text that names the file, the value
 * and what is allowed.  Pure.
 */
#pragma once

#include "hv/blob.h"
#include "hv/config.h"
#include "hv/fmt.h"
#include "hv/state.h"
#include "hv/status.h"
#include "mm/addr.h"

#define LOAD_LOW     0x90000ULL /* start of the loaders' own structures */
#define LOAD_INFO    0x90000ULL
#define LOAD_GDT     0x91000ULL
#define LOAD_TABLES  0x92000ULL
#define LOAD_STRINGS 0x98000ULL
#define LOAD_LOW_END 0x9f000ULL

struct load_env {
	void *ctx;
	enum hv_status (*write)(void *ctx, gpa_t gpa, const void *src, size_t len);
	/* Copies [off, off + len) of @b, which lies inside @b. */
	enum hv_status (*copy)(void *ctx, gpa_t gpa, const struct blob *b, uint64_t off,
			       uint64_t len);
	uint64_t ram_low, ram_high; /* bytes of RAM from 0 and from 4 GiB */
	uint64_t acpi_rsdp;	    /* where the caller put the RSDP; 0: no ACPI */
};

struct load_image {
	const struct blob *kernel;
	const struct blob *initrd; /* NULL: none */
	const struct blob *module[CONFIG_MAX_MODULES];
	unsigned module_count;
	const char *cmdline;
};

/* How the boot CPU starts. */
struct load_result {
	struct hv_regs regs;
	struct hv_sregs sregs;
};

/*
 * True when [start, start + len) is RAM that an image may take; otherwise the
 * error says what "file: what" wanted and what there is.
 */
bool load_fits(const struct load_env *env, const char *file, const char *what, uint64_t start,
	       uint64_t len, struct hv_error *err);

/* Register states with interrupts off and all general registers 0. */
void load_state_real(struct load_result *out, uint64_t entry);
void load_state_protected(struct load_result *out, uint64_t entry);
/* Also writes GDT (code 0x10, data 0x18) and page tables that map 4 GiB one to one. */
enum hv_status __must_check load_state_long(const struct load_env *env, struct load_result *out,
					    uint64_t entry);
