/* SPDX-License-Identifier: BSD-2-Clause */
/* status: names of the status codes.  Pure. */
#include "hv/status.h"

static const char *const names[HV_STATUS_COUNT] = {
	[HV_OK] = "ok",
	[HV_NOMEM] = "out of memory",
	[HV_INVAL] = "malformed",
	[HV_RANGE] = "out of range",
	[HV_NOENT] = "not found",
	[HV_EXIST] = "already there",
	[HV_RETRY] = "try again",
	[HV_FAULT] = "bad address",
	[HV_NOTSUP] = "not supported",
	[HV_IO] = "i/o error",
	[HV_TIMEOUT] = "timed out",
};

const char *hv_status_name(enum hv_status st)
{
	return (unsigned)st < HV_STATUS_COUNT ? names[st] : "unknown status";
}
