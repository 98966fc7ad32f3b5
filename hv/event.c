/* SPDX-License-Identifier: BSD-2-Clause */
/* event: what becomes of two events that meet.  Pure. */
#include "hv/event.h"

enum weight { BENIGN, CONTRIBUTORY, PAGE_FAULT, DOUBLE_FAULT };

static enum weight weigh(const struct hv_event *e)
{
	if (!e->valid || e->type != EVENT_EXCEPTION)
		return BENIGN;
	switch (e->vector) {
	case VEC_DE:
	case VEC_TS:
	case VEC_NP:
	case VEC_SS:
	case VEC_GP:
	case VEC_CP:
		return CONTRIBUTORY;
	case VEC_PF:
	case VEC_VE:
		return PAGE_FAULT;
	case VEC_DF:
		return DOUBLE_FAULT;
	default:
		return BENIGN;
	}
}

enum event_meeting event_meet(const struct hv_event *first, const struct hv_event *second)
{
	enum weight a = weigh(first), b = weigh(second);

	if (b == BENIGN)
		return EVENT_SECOND;
	if (a == DOUBLE_FAULT)
		return EVENT_SHUTDOWN;
	if (a == PAGE_FAULT || (a == CONTRIBUTORY && b == CONTRIBUTORY))
		return EVENT_DOUBLE_FAULT;
	return EVENT_SECOND;
}

bool event_has_error(uint8_t vector)
{
	switch (vector) {
	case VEC_DF:
	case VEC_TS:
	case VEC_NP:
	case VEC_SS:
	case VEC_GP:
	case VEC_PF:
	case VEC_AC:
	case VEC_CP:
		return true;
	default:
		return false;
	}
}
