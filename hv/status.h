/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status: the only error type.  A function that can fail returns it and is
 * marked __must_check; 0 is success, so `if (st)` reads as "failed".
 * Pure.
 */
#pragma once

#include "hv/base.h"

enum hv_status {
	HV_OK = 0,
	HV_NOMEM,	/* no frame, table page or slot left */
	HV_INVAL,	/* an argument or a file's content is malformed */
	HV_RANGE,	/* a number lies outside what is allowed */
	HV_NOENT,	/* no such file, node, region or device */
	HV_EXIST,	/* overlaps or repeats something that is there */
	HV_RETRY,	/* lost a race or not ready: the same call may succeed later */
	HV_FAULT,	/* a guest address does not translate */
	HV_NOTSUP,	/* this machine or this version cannot do it */
	HV_IO,		/* a device or the firmware failed */
	HV_TIMEOUT,	/* a bounded wait ran out */
	HV_STATUS_COUNT
};

/* One lower-case word or two for messages; never NULL. */
const char *hv_status_name(enum hv_status st);
