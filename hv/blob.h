/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blob: a file that the boot stage left in memory, in chunks, read by offset.
 * Pure: the reader is injected.
 */
#pragma once

#include "hv/base.h"

struct blob {
	const char *name;
	uint64_t size;
	void *ctx;
	/* Copies [off, off + len) to @dst; the caller keeps inside @size. */
	void (*read)(void *ctx, uint64_t off, void *dst, size_t len);
};

/* Bounds-checked read: false when [off, off + len) leaves the blob. */
static inline bool blob_read(const struct blob *b, uint64_t off, void *dst, size_t len)
{
	if (off > b->size || len > b->size - off)
		return false;
	b->read(b->ctx, off, dst, len);
	return true;
}
