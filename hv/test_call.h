/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_call: the hypercalls by which a test or benchmark guest has the hypervisor
 * work on the guest's own memory.  Only a VM with the property "test-calls" has
 * them; any other VM gets -KVM_ENOSYS, as for every hypercall.
 *
 * VMCALL or VMMCALL with the number in RAX and arguments in RBX, RCX, RDX, RSI;
 * the result comes in RAX: a count, or minus an enum hv_status.  Shared with the
 * guests of tests/guest and bench/guest, hence nothing but constants here.
 */
#pragma once

enum test_call {
	TEST_CALL_LOG_ENABLE = 0x464c0000, /* TEST_LOG_* bits */
	TEST_CALL_LOG_DISABLE,
	TEST_CALL_LOG_HARVEST, /* gpa, bytes, gpa of the bitmap, TEST_HARVEST_*: dirty pages */
	TEST_CALL_AGE,	       /* gpa, bytes, gpa of uint16_t per 2 MiB span or 0: pages used */
	TEST_CALL_DISCARD,     /* gpa, bytes: they read as zero from now on: pages removed */
	TEST_CALL_MOVE,	       /* gpa, bytes: content stays, frames change: pages moved */
	TEST_CALL_PROMOTE,     /* gpa, bytes: spans that became 2 MiB leaves */
	TEST_CALL_REGION,      /* gpa, bytes, 1: make it RAM, 0: make it nothing */
};

#define TEST_LOG_AUTO	 0x0 /* the best that the machine has */
#define TEST_LOG_PROTECT 0x1 /* write protection */
#define TEST_LOG_DIRTY	 0x2 /* D bits */
#define TEST_LOG_PML	 0x3 /* page-modification log */
#define TEST_LOG_EAGER	 0x10 /* split large leaves at once, not at the first write */

#define TEST_HARVEST_GET   0x1
#define TEST_HARVEST_CLEAR 0x2 /* alone: of the pages whose bit is set in the bitmap */
