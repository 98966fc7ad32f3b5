/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmx_vmcs: the VMX instructions, each with its status looked at.
 *
 * VMREAD and VMWRITE concern the calling CPU's current VMCS; when they fail, the
 * mistake is ours: panic.  The others return false for VMfail.  Target only.
 * Spec: SDM 3C 31.3.
 */
#pragma once

#include "vmx/vmx_fields.h"

/* vmx_dump.c: names the field and the operation. */
_Noreturn void vmx_vmcs_failed(const char *operation, uint32_t encoding);

static inline uint64_t vmx_vmcs_read(uint32_t encoding)
{
	uint64_t value;
	bool failed;

	__asm__ volatile("vmread %2, %1"
			 : "=@ccbe"(failed), "=r"(value)
			 : "r"((uint64_t)encoding)
			 : "memory");
	if (unlikely(failed))
		vmx_vmcs_failed("VMREAD", encoding);
	return value;
}

static inline void vmx_vmcs_write(uint32_t encoding, uint64_t value)
{
	bool failed;

	__asm__ volatile("vmwrite %1, %2"
			 : "=@ccbe"(failed)
			 : "r"(value), "r"((uint64_t)encoding)
			 : "memory");
	if (unlikely(failed))
		vmx_vmcs_failed("VMWRITE", encoding);
}

static inline uint16_t vmread16(vmcs16_t f)
{
	return (uint16_t)vmx_vmcs_read(f.encoding);
}

static inline uint32_t vmread32(vmcs32_t f)
{
	return (uint32_t)vmx_vmcs_read(f.encoding);
}

static inline uint64_t vmread64(vmcs64_t f)
{
	return vmx_vmcs_read(f.encoding);
}

static inline uint64_t vmreadnw(vmcsnw_t f)
{
	return vmx_vmcs_read(f.encoding);
}

static inline void vmwrite16(vmcs16_t f, uint16_t value)
{
	vmx_vmcs_write(f.encoding, value);
}

static inline void vmwrite32(vmcs32_t f, uint32_t value)
{
	vmx_vmcs_write(f.encoding, value);
}

static inline void vmwrite64(vmcs64_t f, uint64_t value)
{
	vmx_vmcs_write(f.encoding, value);
}

static inline void vmwritenw(vmcsnw_t f, uint64_t value)
{
	vmx_vmcs_write(f.encoding, value);
}

static inline __must_check bool vmxon(uint64_t region)
{
	bool failed;

	__asm__ volatile("vmxon %1" : "=@ccbe"(failed) : "m"(region) : "memory");
	return !failed;
}

static inline void vmxoff(void)
{
	__asm__ volatile("vmxoff" : : : "cc", "memory");
}

static inline __must_check bool vmclear(uint64_t vmcs)
{
	bool failed;

	__asm__ volatile("vmclear %1" : "=@ccbe"(failed) : "m"(vmcs) : "memory");
	return !failed;
}

static inline __must_check bool vmptrld(uint64_t vmcs)
{
	bool failed;

	__asm__ volatile("vmptrld %1" : "=@ccbe"(failed) : "m"(vmcs) : "memory");
	return !failed;
}

#define INVEPT_SINGLE_CONTEXT  1
#define INVEPT_ALL_CONTEXTS    2
#define INVVPID_SINGLE_CONTEXT 1
#define INVVPID_ALL_CONTEXTS   2

static inline __must_check bool invept(uint64_t type, uint64_t eptp)
{
	const struct {
		uint64_t eptp, reserved;
	} descriptor = {eptp, 0};
	bool failed;

	__asm__ volatile("invept %1, %2"
			 : "=@ccbe"(failed)
			 : "m"(descriptor), "r"(type)
			 : "memory");
	return !failed;
}

static inline __must_check bool invvpid(uint64_t type, uint16_t vpid)
{
	const struct {
		uint64_t vpid, linear;
	} descriptor = {vpid, 0};
	bool failed;

	__asm__ volatile("invvpid %1, %2"
			 : "=@ccbe"(failed)
			 : "m"(descriptor), "r"(type)
			 : "memory");
	return !failed;
}
