/* SPDX-License-Identifier: BSD-2-Clause */
/* time: the host's clock, from the TSC. */
#include "hv/time.h"

#include "drivers/acpi.h"
#include "hv/io.h"
#include "hv/log.h"
#include "mm/paging.h"

#define MEASURE_MS   20
#define MAX_TURNS    400000000ULL

#define PM_TIMER_HZ  3579545ULL
#define PIT_HZ	     1193182ULL
#define HPET_PERIOD  0x04
#define HPET_CONFIG  0x10
#define HPET_COUNTER 0xf0

static uint64_t tsc_khz, tsc_zero;

/* A counter that runs at a known rate, for measuring the TSC against. */
struct reference {
	const char *name;
	uint64_t hz;
	uint32_t mask;
	uint32_t (*read)(void);
};

static volatile uint8_t *hpet;
static uint16_t pm_port;

static uint32_t read_hpet(void)
{
	return *(volatile uint32_t *)(hpet + HPET_COUNTER);
}

static uint32_t read_pm_timer(void)
{
	return inl(pm_port);
}

/* Channel 2 counts down from 0xffff; its value is latched and made to count up. */
static uint32_t read_pit(void)
{
	uint32_t v;

	outb(0x43, 0x80);
	v = inb(0x42);
	v |= (uint32_t)inb(0x42) << 8;
	return 0xffff - v;
}

static bool find_hpet(const struct acpi_info *acpi, struct reference *r)
{
	uint32_t femtoseconds;

	if (!acpi->hpet_base)
		return false;
	hpet = paging_map_device(HPA(acpi->hpet_base), 0x400);
	if (!hpet)
		return false;
	femtoseconds = *(volatile uint32_t *)(hpet + HPET_PERIOD);
	if (!femtoseconds || femtoseconds > 100000000)
		return false;
	*(volatile uint32_t *)(hpet + HPET_CONFIG) |= 1;
	*r = (struct reference){ "HPET", 1000000000000000ULL / femtoseconds, 0xffffffff, read_hpet };
	return true;
}

static void find_reference(const struct acpi_info *acpi, struct reference *r)
{
	if (find_hpet(acpi, r))
		return;
	if (acpi->pm_timer_port) {
		pm_port = acpi->pm_timer_port;
		*r = (struct reference){ "PM timer", PM_TIMER_HZ, 0xffffff, read_pm_timer };
		return;
	}
	outb(0x61, (uint8_t)((inb(0x61) & ~2) | 1));
	outb(0x43, 0xb4); /* channel 2, both bytes, mode 2 */
	outb(0x42, 0xff);
	outb(0x42, 0xff);
	*r = (struct reference){ "PIT", PIT_HZ, 0xffff, read_pit };
}

/* TSC kHz against @r over MEASURE_MS, or 0 when the reference does not count. */
static uint64_t measure(const struct reference *r)
{
	uint64_t want = r->hz * MEASURE_MS / 1000, turns = 0, t0, t1;
	uint32_t c0 = r->read(), c1 = c0;

	t0 = rdtsc();
	do {
		c1 = r->read();
		if (++turns > MAX_TURNS / 100 && c1 == c0)
			return 0;
	} while (((c1 - c0) & r->mask) < want && turns < MAX_TURNS);
	t1 = rdtsc();
	if (c1 == c0)
		return 0;
	return mul_div(t1 - t0, r->hz, (uint64_t)((c1 - c0) & r->mask) * 1000);
}

static uint64_t khz_from_cpuid(void)
{
	struct cpuid_regs r;

	if (cpuid(0, 0).eax >= 0x15) {
		r = cpuid(0x15, 0);
		if (r.eax && r.ebx && r.ecx)
			return mul_div(r.ecx, r.ebx, (uint64_t)r.eax * 1000);
	}
	if ((cpuid(1, 0).ecx & BIT(31)) && cpuid(0x40000000, 0).eax >= 0x40000010)
		return cpuid(0x40000010, 0).eax;
	return 0;
}

enum hv_status time_init(const struct acpi_info *acpi)
{
	struct reference r = { "CPUID", 0, 0, NULL };

	tsc_zero = rdtsc();
	tsc_khz = khz_from_cpuid();
	if (!tsc_khz) {
		find_reference(acpi, &r);
		tsc_khz = measure(&r);
	}
	if (!tsc_khz) {
		tsc_khz = 1000000;
		log_err("time: %s does not count; assuming a TSC of 1 GHz", r.name);
		return HV_TIMEOUT;
	}
	log_info("time: TSC %llu.%03llu MHz by %s", (unsigned long long)(tsc_khz / 1000),
		 (unsigned long long)(tsc_khz % 1000), r.name);
	return HV_OK;
}

uint64_t time_tsc_khz(void)
{
	return tsc_khz;
}

uint64_t time_tsc_to_ns(uint64_t tsc)
{
	return tsc > tsc_zero ? mul_div(tsc - tsc_zero, 1000000, tsc_khz) : 0;
}

uint64_t time_ns_to_tsc(uint64_t ns)
{
	uint64_t ticks = mul_div(ns, tsc_khz, 1000000);

	return ticks > ~0ULL - tsc_zero ? ~0ULL : tsc_zero + ticks;
}

uint64_t time_now_ns(void)
{
	return tsc_khz ? time_tsc_to_ns(rdtsc()) : 0;
}

void time_delay_us(uint64_t us)
{
	uint64_t end = rdtsc() + us * tsc_khz / 1000;

	while (rdtsc() < end)
		cpu_relax();
}
