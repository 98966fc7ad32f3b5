/* SPDX-License-Identifier: BSD-2-Clause */
/* apic: the physical local APICs. */
#include "drivers/apic.h"

#include "hv/cpu.h"
#include "hv/io.h"
#include "hv/time.h"
#include "mm/paging.h"

#define MSR_APIC_BASE	 0x1b
#define APIC_BASE_X2APIC BIT64(10)
#define APIC_BASE_ENABLE BIT64(11)
#define MSR_TSC_DEADLINE 0x6e0
#define MSR_X2APIC	 0x800

/* Register offsets in the xAPIC page; an x2APIC MSR is 0x800 + offset / 16. */
enum {
	APIC_ID = 0x20, APIC_EOI = 0xb0, APIC_SVR = 0xf0, APIC_TPR = 0x80, APIC_LVT_CMCI = 0x2f0,
	APIC_ICR = 0x300, APIC_ICR_HIGH = 0x310, APIC_LVT_TIMER = 0x320, APIC_LVT_THERMAL = 0x330,
	APIC_LVT_PERF = 0x340, APIC_LVT_LINT0 = 0x350, APIC_LVT_LINT1 = 0x360,
	APIC_LVT_ERROR = 0x370, APIC_TIMER_INIT = 0x380, APIC_TIMER_CURRENT = 0x390,
	APIC_TIMER_DIVIDE = 0x3e0, APIC_VERSION = 0x30,
};

#define SVR_ENABLE	   BIT(8)
#define LVT_MASKED	   BIT(16)
#define LVT_TSC_DEADLINE   (2u << 17)
#define ICR_INIT	   (5u << 8)
#define ICR_SIPI	   (6u << 8)
#define ICR_NMI		   (4u << 8)
#define ICR_ASSERT	   BIT(14)
#define ICR_ALL_BUT_SELF   (3u << 18)
#define ICR_PENDING	   BIT(12)
#define DIVIDE_BY_1	   0xb
#define ICR_WAIT_TURNS	   100000

static bool x2apic, tsc_deadline;
static volatile uint8_t *regs;
static uint64_t timer_khz;

static uint32_t get_reg(unsigned r)
{
	return x2apic ? (uint32_t)rdmsr(MSR_X2APIC + r / 16) : *(volatile uint32_t *)(regs + r);
}

static void set_reg(unsigned r, uint32_t v)
{
	if (x2apic)
		wrmsr(MSR_X2APIC + r / 16, v);
	else
		*(volatile uint32_t *)(regs + r) = v;
}

static void send(uint32_t dest, uint32_t command)
{
	unsigned turns = ICR_WAIT_TURNS;

	if (x2apic) {
		/* WRMSR to the APIC is not serializing: order earlier stores before it. */
		__asm__ volatile("mfence; lfence" : : : "memory");
		wrmsr(MSR_X2APIC + APIC_ICR / 16, (uint64_t)dest << 32 | command);
		return;
	}
	while ((get_reg(APIC_ICR) & ICR_PENDING) && --turns)
		cpu_relax();
	set_reg(APIC_ICR_HIGH, dest << 24);
	set_reg(APIC_ICR, command);
}

enum hv_status apic_init(void)
{
	uint64_t base = rdmsr(MSR_APIC_BASE);

	if (!(cpuid(1, 0).edx & BIT(9)))
		return HV_NOTSUP;
	/* Where firmware left x2APIC on it stays; where it can be had we take it. */
	x2apic = (base & APIC_BASE_X2APIC) || (cpuid(1, 0).ecx & BIT(21));
	tsc_deadline = cpuid(1, 0).ecx & BIT(24);
	if (!x2apic) {
		regs = paging_map_device(HPA(base & 0x000ffffffffff000ULL), PAGE_SIZE);
		if (!regs)
			return HV_NOMEM;
	}
	outb(0x21, 0xff);
	outb(0xa1, 0xff);
	return HV_OK;
}

void apic_cpu_init(void)
{
	uint64_t base = rdmsr(MSR_APIC_BASE) | APIC_BASE_ENABLE;

	wrmsr(MSR_APIC_BASE, base);
	if (x2apic)
		wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
	set_reg(APIC_SVR, SVR_ENABLE | HOST_VEC_SPURIOUS);
	set_reg(APIC_TPR, 0);
	set_reg(APIC_LVT_LINT0, LVT_MASKED);
	set_reg(APIC_LVT_LINT1, LVT_MASKED);
	set_reg(APIC_LVT_ERROR, LVT_MASKED);
	if ((get_reg(APIC_VERSION) >> 16 & 0xff) >= 4)
		set_reg(APIC_LVT_PERF, LVT_MASKED);
	set_reg(APIC_LVT_TIMER, HOST_VEC_TIMER | (tsc_deadline ? LVT_TSC_DEADLINE : 0));
	set_reg(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
	/* The mode write must be seen before the first deadline (SDM 10.5.4.1). */
	__asm__ volatile("mfence" : : : "memory");
	for (unsigned i = 0; i < 8; i++)
		apic_eoi();
}

void apic_calibrate_timer(void)
{
	uint32_t before;

	if (tsc_deadline)
		return;
	set_reg(APIC_LVT_TIMER, HOST_VEC_TIMER | LVT_MASKED);
	set_reg(APIC_TIMER_INIT, 0xffffffff);
	before = get_reg(APIC_TIMER_CURRENT);
	time_delay_us(10000);
	timer_khz = (before - get_reg(APIC_TIMER_CURRENT)) / 10;
	set_reg(APIC_TIMER_INIT, 0);
	set_reg(APIC_LVT_TIMER, HOST_VEC_TIMER);
}

uint32_t apic_id(void)
{
	return x2apic ? get_reg(APIC_ID) : get_reg(APIC_ID) >> 24;
}

bool apic_is_x2apic(void)
{
	return x2apic;
}

void apic_eoi(void)
{
	set_reg(APIC_EOI, 0);
}

void apic_send_ipi(uint32_t dest, uint8_t vector)
{
	send(dest, ICR_ASSERT | vector);
}

void apic_nmi_others(void)
{
	if (x2apic || regs)
		send(0, ICR_ALL_BUT_SELF | ICR_ASSERT | ICR_NMI);
}

void apic_send_init(uint32_t dest)
{
	send(dest, ICR_INIT | ICR_ASSERT);
}

void apic_start_cpu(uint32_t dest, hpa_t page)
{
	apic_send_init(dest);
	time_delay_us(10000);
	for (int i = 0; i < 2; i++) {
		send(dest, ICR_SIPI | ICR_ASSERT | (uint32_t)(page.v >> PAGE_SHIFT));
		time_delay_us(300);
	}
}

void apic_timer_arm(uint64_t tsc)
{
	uint64_t now, ticks;

	if (tsc_deadline) {
		wrmsr(MSR_TSC_DEADLINE, tsc);
		return;
	}
	if (!tsc) {
		set_reg(APIC_TIMER_INIT, 0);
		return;
	}
	now = rdtsc();
	ticks = tsc > now ? mul_div(tsc - now, timer_khz, time_tsc_khz()) : 0;
	/* A count of zero would stop the timer; beyond 32 bits we just fire early. */
	set_reg(APIC_TIMER_INIT, ticks > 0xffffffff ? 0xffffffff : (uint32_t)ticks + 1);
}
