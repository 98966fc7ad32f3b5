/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_flat: a flat binary at a given address, started in the CPU mode that the
 * configuration names.  Pure.
 */
#pragma once

#include "hv/load.h"

#define LOAD_FLAT_REAL_LIMIT 0x100000ULL

/*
 * Real mode starts at CS:IP with CS = entry / 64 KiB * 0x1000, so the entry
 * must lie below 1 MiB; protected mode is flat and without GDT; long mode maps
 * 4 GiB one to one and has a GDT with code 0x10 and data 0x18.
 */
enum hv_status __must_check load_flat(const struct load_env *env, const struct config_vm *vm,
				      const struct load_image *img, struct load_result *out,
				      struct hv_error *err);
