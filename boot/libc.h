/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libc: the rest of what Debian's libfdt.a wants from a C library.
 *
 * Boot stage; boot CPU of the hypervisor.
 */
#pragma once

/*
 * Debian's libfdt.a has its stack canary at %fs:0x28, and FS is free in root mode:
 * to be called before libfdt is, each time, for a vCPU's turn resets FS.
 */
void libc_use_thread_page(void);
