/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_linux: bzImage by the 64-bit boot protocol, version 2.12 or later.
 * Pure.  Spec: Linux Documentation/arch/x86/boot.rst, zero-page.rst.
 */
#pragma once

#include "hv/load.h"

/* True when @file carries the boot protocol's signature, whatever else is wrong with it. */
bool load_linux_probe(const struct blob *file);

enum hv_status __must_check load_linux(const struct load_env *env, const struct load_image *img,
				       struct load_result *out, struct hv_error *err);
