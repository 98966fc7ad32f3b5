/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_ram: guest memory for loader tests and fuzzers.  Every write must lie in
 * RAM and may not touch what was written before.  Only the first FAKE_RAM_KEPT
 * bytes are kept; of what lies above only the extent is known.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/load.h"

#define FAKE_RAM_KEPT	 (32 * MIB)
#define FAKE_RAM_EXTENTS 256

struct fake_ram {
	struct load_env env;
	uint8_t *byte; /* FAKE_RAM_KEPT of them */
	unsigned count;
	unsigned fail_at; /* the write that fails, from 1; 0: none */
	struct {
		uint64_t start, len;
	} extent[FAKE_RAM_EXTENTS];
};

/* A file in memory. */
struct fake_file {
	struct blob blob;
	const uint8_t *data;
};

static inline void fake_file_read(void *ctx, uint64_t off, void *dst, size_t len)
{
	const struct fake_file *f = ctx;

	HV_ASSERT(off <= f->blob.size && len <= f->blob.size - off);
	if (f->data)
		memcpy(dst, f->data + off, len);
	else
		memset(dst, 0xee, len);
}

/* @data NULL: all 0xee, of any size. */
static inline void fake_file_init(struct fake_file *f, const char *name, const void *data,
				  uint64_t size)
{
	*f = (struct fake_file){.data = data};
	f->blob = (struct blob){.name = name, .size = size, .ctx = f, .read = fake_file_read};
}

static inline enum hv_status fake_ram_note(struct fake_ram *r, uint64_t start, uint64_t len)
{
	uint64_t end = start + len;

	HV_ASSERT(end >= start && end <= r->env.ram_low);
	HV_ASSERT(end <= 0x9fc00 || start >= MIB);
	for (unsigned i = 0; i < r->count; i++)
		HV_ASSERT(!len || end <= r->extent[i].start ||
			  start >= r->extent[i].start + r->extent[i].len);
	HV_ASSERT(r->count < FAKE_RAM_EXTENTS);
	r->extent[r->count].start = start;
	r->extent[r->count++].len = len;
	return r->count == r->fail_at ? HV_IO : HV_OK;
}

static inline enum hv_status fake_ram_write(void *ctx, gpa_t gpa, const void *src, size_t len)
{
	struct fake_ram *r = ctx;
	enum hv_status st = fake_ram_note(r, gpa.v, len);

	if (!st && gpa.v + len <= FAKE_RAM_KEPT)
		memcpy(r->byte + gpa.v, src, len);
	return st;
}

static inline enum hv_status fake_ram_copy(void *ctx, gpa_t gpa, const struct blob *b, uint64_t off,
					   uint64_t len)
{
	struct fake_ram *r = ctx;
	enum hv_status st = fake_ram_note(r, gpa.v, len);

	HV_ASSERT(off <= b->size && len <= b->size - off);
	if (!st && gpa.v + len <= FAKE_RAM_KEPT)
		HV_ASSERT(blob_read(b, off, r->byte + gpa.v, len));
	return st;
}

/* @byte: FAKE_RAM_KEPT bytes of zero. */
static inline void fake_ram_init(struct fake_ram *r, uint8_t *byte, uint64_t ram_low,
				 uint64_t ram_high)
{
	memset(r, 0, sizeof(*r));
	r->byte = byte;
	r->env = (struct load_env){
		.ctx = r,
		.write = fake_ram_write,
		.copy = fake_ram_copy,
		.ram_low = ram_low,
		.ram_high = ram_high,
		.acpi_rsdp = 0xe0000,
	};
}

/* For tests whose state is from malloc() and begins with a fake_ram that has such bytes. */
static inline int fake_ram_teardown(void **state)
{
	struct fake_ram *r = *state;

	free(r->byte);
	free(r);
	return 0;
}

/* Takes back everything that was written. */
static inline void fake_ram_clear(struct fake_ram *r)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->extent[i].start + r->extent[i].len <= FAKE_RAM_KEPT)
			memset(r->byte + r->extent[i].start, 0, r->extent[i].len);
	r->count = 0;
}

static inline uint32_t fake_ram_u32(const struct fake_ram *r, uint64_t at)
{
	uint32_t v;

	memcpy(&v, r->byte + at, sizeof(v));
	return v;
}

static inline uint64_t fake_ram_u64(const struct fake_ram *r, uint64_t at)
{
	uint64_t v;

	memcpy(&v, r->byte + at, sizeof(v));
	return v;
}
