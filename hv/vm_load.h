/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_load: puts a VM's kernel, initrd, modules and ACPI tables into its memory
 * and the first vCPU at its entry.  While no vCPU of the VM runs.
 */
#pragma once

#include "boot/handoff.h"
#include "hv/vm.h"

/* Where the files are; boot CPU, once. */
void vm_load_init(const struct handoff *h);

/* The files that the boot stage has loaded; false beyond the last. */
bool vm_load_file(unsigned index, const char **path, uint64_t *bytes);
bool vm_load_has(const char *path);

/* On failure @err names the file, the value and what is allowed. */
enum hv_status vm_load(struct vm *vm, struct hv_error *err) __must_check;
