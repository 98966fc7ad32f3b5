/* SPDX-License-Identifier: BSD-2-Clause */
/* log: what the hypervisor tells its operator. */
#include "hv/log.h"

#include "hv/console.h"
#include "hv/fmt.h"
#include "hv/time.h"

static enum log_level threshold = LOG_INFO;

void log_set_level(enum log_level l)
{
	threshold = l;
}

void hv_log(enum log_level l, const char *f, ...)
{
	static const char *const mark[] = { "error: ", "warning: ", "", "debug: " };
	uint64_t us = time_now_ns() / 1000;
	char line[320];
	va_list ap;
	size_t n;

	n = hv_snprintf(line, sizeof(line), "[%5llu.%06llu] %s", (unsigned long long)(us / 1000000),
			(unsigned long long)(us % 1000000), mark[l]);
	va_start(ap, f);
	n += hv_vsnprintf(line + n, sizeof(line) - n, f, ap);
	va_end(ap);
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	console_log_write(line, n, l <= threshold);
}
