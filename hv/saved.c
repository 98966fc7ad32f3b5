/* SPDX-License-Identifier: BSD-2-Clause */
/* saved: a configuration on its way from the monitor to the next boot.  Pure. */
#include "hv/saved.h"

#include "hv/crc32.h"

#define MAGIC	0x43464c46 /* "FLFC" */
#define VERSION 1

void saved_head_name(uint16_t name[SAVED_NAME])
{
	static const char text[] = "FaultlineConfig";

	for (size_t i = 0; i < sizeof(text); i++)
		name[i] = (uint16_t)text[i];
}

void saved_piece_name(uint16_t name[SAVED_NAME], unsigned piece)
{
	saved_head_name(name);
	name[SAVED_NAME - 3] = (uint16_t)('0' + piece / 10 % 10);
	name[SAVED_NAME - 2] = (uint16_t)('0' + piece % 10);
	name[SAVED_NAME - 1] = 0;
}

struct saved_head saved_head_for(const void *data, size_t len)
{
	return (struct saved_head){ MAGIC, VERSION, (uint32_t)len, crc32(0, data, len) };
}

bool saved_head_is_good(const struct saved_head *h, size_t max)
{
	return h->magic == MAGIC && h->version == VERSION && h->len && h->len <= max;
}

bool saved_matches(const struct saved_head *h, const void *data)
{
	return crc32(0, data, h->len) == h->crc;
}
