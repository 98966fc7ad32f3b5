/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * saved: a configuration on its way from the monitor to the next boot.
 *
 * Nobody drives a disk while VMs run, so `config save` leaves the device tree in
 * variables of the firmware, and the boot stage (boot/efi_saved.h) moves it into the
 * file.  It lies in pieces, each a variable, and a head that is written last and
 * deleted first: without a head that fits the pieces nothing is saved.
 * Pure (tests/host/test_saved.c).
 */
#pragma once

#include "hv/base.h"

/* 6f3aac9a-69ef-4aff-8d0e-cae77c4eeb11, as UEFI lays it out. */
#define SAVED_VENDOR                                                                               \
	{ 0x9a, 0xac, 0x3a, 0x6f, 0xef, 0x69, 0xff, 0x4a, 0x8d, 0x0e, 0xca, 0xe7, 0x7c, 0x4e, 0xeb, 0x11 }

#define SAVED_PIECE 4096 /* firmwares take at least so much in one variable */
#define SAVED_NAME  18	 /* characters with the end */

struct saved_head {
	uint32_t magic, version;
	uint32_t len; /* bytes of all pieces */
	uint32_t crc; /* crc32() of them */
};
_Static_assert(sizeof(struct saved_head) == 16, "it outlives a version of Faultline");

/* The names of variables, UCS-2: "FaultlineConfig", and "FaultlineConfig00" on. */
void saved_head_name(uint16_t name[SAVED_NAME]);
void saved_piece_name(uint16_t name[SAVED_NAME], unsigned piece);

struct saved_head saved_head_for(const void *data, size_t len);
/* Whether the head is one of ours for at most @max bytes. */
bool saved_head_is_good(const struct saved_head *h, size_t max);
/* And @data, of h->len bytes, what it was made for. */
bool saved_matches(const struct saved_head *h, const void *data);

static inline unsigned saved_pieces(size_t len)
{
	return (unsigned)((len + SAVED_PIECE - 1) / SAVED_PIECE);
}
