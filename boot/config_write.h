/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_write: VMs written back into a device tree, so that config_parse() finds
 * them there as they are.
 *
 * Boot stage and monitor (uses libfdt: boot/libc.h).  Pure
 * (tests/host/test_config_write.c).
 */
#pragma once

#include "hv/config.h"

/*
 * The node of VM @now.  Where the tree was made of @before (NULL: the VM is new) and
 * only what a VM can be given while it exists has changed, only that is written and
 * all else in the node stays; otherwise the node is made anew.
 * False, with the reason: the tree is full, and the node may be half written.
 */
bool config_write_vm(void *fdt, const struct config_vm *before, const struct config_vm *now,
		     struct hv_error *err) __must_check;
