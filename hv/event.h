/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event: what becomes of two events that meet.
 * Pure (tests/host/test_event.c).  Spec: SDM 3A 6.15 table 6-5, APM 2 8.2.9.
 */
#pragma once

#include "hv/state.h"

enum event_meeting {
	EVENT_SECOND,	    /* deliver the second; the first repeats by itself */
	EVENT_DOUBLE_FAULT, /* deliver #DF instead of both */
	EVENT_SHUTDOWN,	    /* triple fault */
};

/* @first was being delivered (or is pending) when exception @second arose. */
enum event_meeting event_meet(const struct hv_event *first, const struct hv_event *second);

/* Does this exception push an error code? */
bool event_has_error(uint8_t vector);
