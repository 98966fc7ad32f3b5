/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32: the checksum of IEEE 802.3.  Pure. */
#include "hv/crc32.h"

#define POLYNOMIAL 0xedb88320u /* bits reversed */

uint32_t crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (POLYNOMIAL & (0u - (crc & 1)));
	}
	return ~crc;
}
