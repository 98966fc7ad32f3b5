/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmt: bounded formatter behind the log, the panic and error texts.
 * Pure; no locks, no allocation, safe in any context.
 *
 * Knows %% %c %s %d %i %u %x %X %p, flags '-' and '0', a width, a precision
 * for %s, and the length modifiers h, l, ll, z.  Anything else prints as it stands.
 */
#pragma once

#include <stdarg.h>

#include "hv/base.h"

/*
 * Writes at most @size bytes, always terminated when @size > 0.  Returns the
 * length that the whole text has, as C's snprintf does.
 */
size_t hv_vsnprintf(char *buf, size_t size, const char *f, va_list ap);
size_t hv_snprintf(char *buf, size_t size, const char *f, ...) __printf(3, 4);

/* A one-line explanation that travels up with a status. */
struct hv_error {
	char text[200];
};

void hv_error_set(struct hv_error *e, const char *f, ...) __printf(2, 3);
