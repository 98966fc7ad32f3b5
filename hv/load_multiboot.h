/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_multiboot: multiboot version 1 kernels, as ELF32, ELF64 or by the a.out
 * address fields of the header, with modules.  Pure.
 * Spec: Multiboot Specification 0.6.96.
 */
#pragma once

#include "hv/load.h"

/* True when @file has a multiboot header where one must be. */
bool load_multiboot_probe(const struct blob *file);

/*
 * The kernel is entered in 32-bit protected mode, an ELF64 file too.  Its
 * command line is the file's name, a space and img->cmdline, as GRUB gives it;
 * a module's string is its file's name.  A wish for a video mode is ignored: the
 * info structure says that there is none.
 */
enum hv_status __must_check load_multiboot(const struct load_env *env, const struct load_image *img,
					   struct load_result *out, struct hv_error *err);
