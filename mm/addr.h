/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr: guest-physical and host-physical addresses as types that do not mix.
 * Pure.
 */
#pragma once

#include "hv/base.h"

typedef struct {
	uint64_t v;
} gpa_t;

typedef struct {
	uint64_t v;
} hpa_t;

#define GPA(x) ((gpa_t){(x)})
#define HPA(x) ((hpa_t){(x)})

#define HPA_NONE HPA(~0ULL)

static inline bool hpa_valid(hpa_t a)
{
	return a.v != ~0ULL;
}
