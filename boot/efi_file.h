/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_file: files of the volume we were started from.
 *
 * Boot stage only.  What is read stays allocated (as loader data) and is
 * recorded in the handoff, so the hypervisor can load a VM from it again.
 */
#pragma once

#include <efi.h>

#include "boot/handoff.h"
#include "hv/status.h"

/* HV_NOENT when the image's volume has no file system (network boot). */
enum hv_status efi_file_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *st) __must_check;

/*
 * Reads @path ('/' or '\' separated, from the volume's root) into chunks and
 * appends it to h->file, printing a progress line.  A path that is there
 * already is not read again.  HV_NOENT: no such file; HV_NOMEM: no memory or no
 * slot; HV_IO: the medium failed.  On failure nothing stays allocated.
 */
enum hv_status efi_file_load(struct handoff *h, const char *path) __must_check;

/* Reads a whole small file into @buf; *len is its size.  HV_RANGE when it does not fit. */
enum hv_status efi_file_read(const char *path, void *buf, size_t cap, size_t *len) __must_check;

/* Hands each entry of a folder to @each. */
enum hv_status efi_file_list(const char *path,
			     void (*each)(const char *name, uint64_t size, bool folder)) __must_check;

/*
 * Writes @len bytes as @path: to a new file, which is read back, and only then
 * takes the place of the old one.  On failure the old one is what it was.
 */
enum hv_status efi_file_save(const char *path, const void *data, size_t len) __must_check;
