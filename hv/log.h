/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: what the hypervisor tells its operator.
 *
 * Every line goes to a memory ring and, when its level allows, to the console.
 * Any CPU, any context but NMI; takes the console lock, never waits for the
 * serial line once the CPUs run.
 */
#pragma once

#include "hv/base.h"

enum log_level { LOG_ERR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level l);

void hv_log(enum log_level l, const char *f, ...) __printf(2, 3);

#define log_err(...)   hv_log(LOG_ERR, __VA_ARGS__)
#define log_warn(...)  hv_log(LOG_WARN, __VA_ARGS__)
#define log_info(...)  hv_log(LOG_INFO, __VA_ARGS__)
#define log_debug(...) hv_log(LOG_DEBUG, __VA_ARGS__)
