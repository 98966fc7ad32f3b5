/* SPDX-License-Identifier: BSD-2-Clause */
/* vcpu_live: guest state that stays in the CPU across exits. */
#include "hv/vcpu_live.h"

#include "hv/io.h"
#include "hv/xcr0.h"
#include "mm/frame.h"

#define MSR_TSC_AUX 0xc0000103

#define FXSAVE_SIZE 512
#define FCW_RESET   0x37f
#define MXCSR_RESET 0x1f80
#define MXCSR_AT    24

#define DR6_RESET   0xffff0ff0ULL

static bool have_xsave __attribute__((section(".data.ro_after_init")));
static bool have_rdtscp __attribute__((section(".data.ro_after_init")));
static uint64_t xcr0_allowed __attribute__((section(".data.ro_after_init")));
static uint32_t area_size __attribute__((section(".data.ro_after_init")));

void vcpu_live_init(void)
{
	struct cpuid_regs d;

	have_rdtscp = cpuid(0x80000001, 0).edx & BIT(27);
	have_xsave = cpuid(1, 0).ecx & BIT(26);
	xcr0_allowed = XCR0_X87 | XCR0_SSE;
	area_size = FXSAVE_SIZE;
	if (!have_xsave)
		return;
	d = cpuid(0xd, 0);
	xcr0_allowed = xcr0_guest_mask(d.eax | (uint64_t)d.edx << 32);
	area_size = d.ecx;
}

uint64_t vcpu_live_xcr0_allowed(void)
{
	return xcr0_allowed;
}

enum hv_status vcpu_live_create(struct vcpu *v)
{
	v->xsave = hv_pages_alloc(frame_order(area_size));
	return v->xsave ? HV_OK : HV_NOMEM;
}

void vcpu_live_destroy(struct vcpu *v)
{
	hv_pages_free(v->xsave, frame_order(area_size));
}

void vcpu_live_reset(struct vcpu *v)
{
	uint8_t *x = v->xsave;
	uint16_t fcw = FCW_RESET;
	uint32_t mxcsr = MXCSR_RESET;

	memset(x, 0, PAGE_SIZE << frame_order(area_size));
	memcpy(x, &fcw, sizeof(fcw));
	memcpy(x + MXCSR_AT, &mxcsr, sizeof(mxcsr));
	v->xcr0 = XCR0_X87;
	memset(v->dr, 0, sizeof(v->dr));
	v->dr6 = DR6_RESET;
}

static void load_debug_registers(const struct vcpu *v)
{
	__asm__ volatile("mov %0, %%db0\nmov %1, %%db1\nmov %2, %%db2\nmov %3, %%db3\nmov %4, %%db6"
			 :
			 : "r"(v->dr[0]), "r"(v->dr[1]), "r"(v->dr[2]), "r"(v->dr[3]), "r"(v->dr6));
}

static void save_debug_registers(struct vcpu *v)
{
	__asm__ volatile("mov %%db0, %0\nmov %%db1, %1\nmov %%db2, %2\nmov %%db3, %3\nmov %%db6, %4"
			 : "=r"(v->dr[0]), "=r"(v->dr[1]), "=r"(v->dr[2]), "=r"(v->dr[3]), "=r"(v->dr6));
}

void vcpu_live_restore(struct vcpu *v)
{
	if (have_xsave) {
		xsetbv(xcr0_allowed);
		__asm__ volatile("xrstor64 %0"
				 :
				 : "m"(*(char *)v->xsave), "a"((uint32_t)xcr0_allowed), "d"(0)
				 : "memory");
		xsetbv(v->xcr0);
	} else {
		__asm__ volatile("fxrstor64 %0" : : "m"(*(char *)v->xsave) : "memory");
	}
	load_debug_registers(v);
	if (have_rdtscp)
		wrmsr(MSR_TSC_AUX, v->msrs.tsc_aux);
}

void vcpu_live_save(struct vcpu *v)
{
	if (have_xsave) {
		/* Not every CPU lets us intercept XSETBV: what is loaded is the truth. */
		v->xcr0 = xgetbv();
		xsetbv(xcr0_allowed);
		__asm__ volatile("xsave64 %0"
				 : "=m"(*(char *)v->xsave)
				 : "a"((uint32_t)xcr0_allowed), "d"(0)
				 : "memory");
	} else {
		__asm__ volatile("fxsave64 %0" : "=m"(*(char *)v->xsave) : : "memory");
	}
	save_debug_registers(v);
	if (have_rdtscp)
		v->msrs.tsc_aux = rdmsr(MSR_TSC_AUX);
}

bool vcpu_live_set_xcr0(struct vcpu *v, uint64_t value)
{
	if (!xcr0_valid(value, xcr0_allowed))
		return false;
	v->xcr0 = value;
	xsetbv(value);
	return true;
}
