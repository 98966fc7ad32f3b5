/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_elf: loadable segments of a static ELF32 or ELF64 executable, put at
 * their physical addresses.  Pure.  Spec: System V ABI, chapters 4 and 5.
 */
#pragma once

#include "hv/load.h"

#define LOAD_ELF_SEGMENTS 32

struct load_extent {
	uint64_t entry; /* physical */
	uint64_t end;	/* behind the highest byte in memory */
};

bool load_elf_probe(const struct blob *file);

/* Segments may not overlap each other: what they leave over is zero already. */
enum hv_status __must_check load_elf(const struct load_env *env, const struct blob *file,
				     struct load_extent *out, struct hv_error *err);
