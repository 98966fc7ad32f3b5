/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_vm: one VM's node turned into struct config_vm.
 *
 * Boot stage (uses libfdt).  Pure (tests/host/test_config_vm.c).
 */
#pragma once

#include "boot/config_prop.h"

#define CONFIG_DEFAULT_RAM (256 * MIB)

/* The words of properties, in the order of their enums (leaves: from 2^12 bytes, times 512), NULL at the end. */
extern const char *const config_kernel_types[], *const config_flat_modes[], *const config_leaves[],
	*const config_policies[];

/* Everything but name, RAM and files. */
void config_vm_defaults(struct config_vm *vm);

/* Adds the VM at @n to @c, as refused when a value is bad; not at all when disabled. */
void config_vm_parse(const struct config_node *n, struct hv_config *c);

/*
 * RAM from the memory nodes below @n, if there is any (boot/config_memory.c);
 * false with the reason in @err when they do not make one range from 0 and at
 * most one from 4 GiB.  @vm->ram_low is nonzero when memory-mib was given.
 */
bool config_memory_parse(const struct config_node *n, struct config_vm *vm, struct hv_error *err)
	__must_check;

/* A child of a VM that describes memory, by its name. */
bool config_memory_is_node(const struct config_node *n);
