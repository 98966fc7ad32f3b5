/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config: the device tree turned into struct hv_config.
 *
 * Boot stage (uses libfdt).  Pure: host-tested and fuzzed.  A malformed tree
 * fails as a whole; a bad value refuses the one VM that has it, naming its node
 * and property, the value and what is allowed; an unknown property is a warning.
 * docs/configuration.md is the reference of all properties.
 */
#pragma once

#include "hv/config.h"
#include "hv/status.h"

/* Where warnings go, one line each, without newline. */
struct config_sink {
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

/* Console, log and policy defaults; no VM. */
void config_defaults(struct hv_config *c);

/* Adds the VM that boots \EFI\faultline\vmlinuz with initrd.img beside it. */
void config_builtin_vm(struct hv_config *c);

/*
 * Parses @dtb of @len bytes over the defaults in @c.  HV_INVAL with @err when
 * the blob is no device tree; then @c keeps its defaults and has no VM.
 */
enum hv_status config_parse(const void *dtb, size_t len, struct hv_config *c,
			    const struct config_sink *sink, struct hv_error *err) __must_check;
