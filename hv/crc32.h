/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32: the checksum of IEEE 802.3, as zlib and UEFI compute it.  Pure. */
#pragma once

#include "hv/base.h"

/* Of @len bytes that follow those @crc is of; 0 to begin with. */
uint32_t crc32(uint32_t crc, const void *data, size_t len);
