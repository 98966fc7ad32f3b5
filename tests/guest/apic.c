/* SPDX-License-Identifier: BSD-2-Clause */
/* apic: the test guest's local APIC and its other CPUs. */
#include "tests/guest/guest.h"

#define APIC_BASE_MSR 0x1b
#define XAPIC	      0xfee00000UL
#define CPUS_MAX      32

extern char ap_boot[], ap_boot_end[];
void guest_ap_main(unsigned cpu);

static void (*volatile work[CPUS_MAX])(unsigned cpu);
static volatile uint32_t started;

bool apic_in_x2apic(void)
{
	return rdmsr(APIC_BASE_MSR) & BIT(10);
}

uint32_t apic_read(uint32_t off)
{
	return apic_in_x2apic() ? (uint32_t)rdmsr(0x800 + off / 16) :
				  *(volatile uint32_t *)(XAPIC + off);
}

void apic_write(uint32_t off, uint32_t val)
{
	if (apic_in_x2apic())
		wrmsr(0x800 + off / 16, val);
	else
		*(volatile uint32_t *)(XAPIC + off) = val;
}

void apic_icr(uint32_t dest, uint32_t command)
{
	if (apic_in_x2apic()) {
		wrmsr(0x830, (uint64_t)dest << 32 | command);
		return;
	}
	apic_write(0x310, dest << 24);
	apic_write(0x300, command);
}

void apic_enable(void)
{
	apic_write(0xf0, 0x1ff);
	apic_write(0x80, 0);
}

void apic_use_x2apic(void)
{
	wrmsr(APIC_BASE_MSR, rdmsr(APIC_BASE_MSR) | BIT(10));
	apic_enable();
}

void apic_eoi(void)
{
	apic_write(0xb0, 0);
}

unsigned cpu_count(void)
{
	return cpuid(0xb, 1).ebx & 0xffff;
}

unsigned smp_started(void)
{
	return started;
}

void guest_ap_main(unsigned cpu)
{
	load_idt(idt, sizeof(idt) - 1);
	apic_enable();
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		void (*fn)(unsigned) = work[cpu];

		if (fn) {
			fn(cpu);
			work[cpu] = NULL;
		}
		cpu_relax();
	}
}

void smp_start(void)
{
	if (started)
		return;
	memcpy((void *)0x8000, ap_boot, (size_t)(ap_boot_end - ap_boot));
	apic_icr(0, 0xc4500); /* INIT to all but self */
	delay_us(10000);
	apic_icr(0, 0xc4608); /* SIPI, page 8 */
	wait_for(&started, cpu_count() - 1, 10000);
}

void smp_run(unsigned cpu, void (*fn)(unsigned cpu))
{
	work[cpu] = fn;
}

void smp_wait(unsigned cpu)
{
	while (work[cpu])
		cpu_relax();
}
