/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_con: text output and keys while boot services run.
 *
 * Goes to the firmware's console when there is one and, when the firmware does
 * not drive a serial port itself, to COM1 as well, so that a machine without
 * screen or ConOut still tells what it does.  Boot stage only.
 */
#pragma once

#include <efi.h>

#include "hv/base.h"

void efi_con_init(EFI_SYSTEM_TABLE *st);
/* Text of any length; efi_con_printf() cuts at 399 bytes. */
void efi_con_write(const char *text);
void efi_con_printf(const char *f, ...) __printf(1, 2);

/* The next key as ASCII, from the same places; -1: none within @ms. */
int efi_con_key(unsigned ms);
