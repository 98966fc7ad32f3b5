/* SPDX-License-Identifier: BSD-2-Clause */
/* test_timers: the APIC timer in its three modes, in xAPIC and x2APIC mode. */
#include "tests/guest/guest.h"

#define VEC		 0x70
#define LVT_TIMER	 0x320
#define INITIAL		 0x380
#define CURRENT		 0x390
#define DIVIDE		 0x3e0
#define PERIODIC	 (1u << 17)
#define DEADLINE	 (2u << 17)
#define MASKED		 (1u << 16)
#define MSR_TSC_DEADLINE 0x6e0
#define MS		 1000000u /* counts at 1 GHz, divided by 1 */

static volatile uint32_t fired;
static volatile uint64_t fired_us;

static void on_timer(struct frame *f)
{
	(void)f;
	fired++;
	fired_us = now_us();
	apic_eoi();
}

static void halt_until(uint32_t count, unsigned ms)
{
	uint64_t end = now_us() + ms * 1000ULL;

	while (fired < count && now_us() < end)
		irq_enable_and_halt();
}

static void test_one_shot(const char *mode)
{
	uint64_t start;

	fired = 0;
	apic_write(DIVIDE, 0xb);
	apic_write(LVT_TIMER, VEC);
	start = now_us();
	apic_write(INITIAL, 3 * MS);
	halt_until(1, 2000);
	is(fired, 1, "%s one-shot: fires", mode);
	ok(fired_us - start >= 2990, "%s one-shot: not early", mode);
	is(apic_read(CURRENT), 0, "%s one-shot: stays at 0", mode);
	irq_enable();
	delay_us(5000);
	irq_disable();
	is(fired, 1, "%s one-shot: once", mode);
	apic_write(INITIAL, 4000 * MS); /* long, as the host may be busy */
	apic_write(INITIAL, 0);
	irq_enable();
	delay_us(4000);
	irq_disable();
	is(fired, 1, "%s one-shot: stopped by 0", mode);
	apic_write(INITIAL, 4000 * MS);
	ok(apic_read(CURRENT) < 4000 * MS && apic_read(CURRENT), "%s one-shot: counts", mode);
	apic_write(INITIAL, 0);
	/* Masked: counts, but no interrupt; with IF clear it waits. */
	apic_write(LVT_TIMER, VEC | MASKED);
	apic_write(INITIAL, MS);
	irq_enable();
	delay_us(3000);
	irq_disable();
	is(fired, 1, "%s one-shot: masked", mode);
	apic_write(LVT_TIMER, VEC);
	apic_write(INITIAL, MS);
	delay_us(3000);
	is(fired, 1, "%s one-shot: IF clear", mode);
	irq_window();
	is(fired, 2, "%s one-shot: delivered when IF is set", mode);
}

static void test_periodic(const char *mode)
{
	uint64_t start = now_us();

	fired = 0;
	apic_write(DIVIDE, 0x0); /* by 2 */
	apic_write(LVT_TIMER, VEC | PERIODIC);
	apic_write(INITIAL, MS / 2);
	halt_until(5, 5000);
	ok(fired >= 5, "%s periodic: goes on", mode);
	ok(now_us() - start >= 4990, "%s periodic: not early", mode);
	apic_write(LVT_TIMER, VEC | MASKED);
	apic_write(INITIAL, 0);
	irq_window();
}

static void test_deadline(const char *mode)
{
	fired = 0;
	apic_write(LVT_TIMER, VEC | DEADLINE);
	is(rdmsr(MSR_TSC_DEADLINE), 0, "%s deadline: disarmed", mode);
	wrmsr(MSR_TSC_DEADLINE, rdtsc() + 100000);
	halt_until(1, 5000);
	is(fired, 1, "%s deadline: fires", mode);
	is(rdmsr(MSR_TSC_DEADLINE), 0, "%s deadline: disarmed after", mode);
	wrmsr(MSR_TSC_DEADLINE, 1); /* in the past */
	halt_until(2, 5000);
	is(fired, 2, "%s deadline: in the past fires at once", mode);
	wrmsr(MSR_TSC_DEADLINE, rdtsc() + (1ULL << 40));
	ok(rdmsr(MSR_TSC_DEADLINE), "%s deadline: armed reads back", mode);
	wrmsr(MSR_TSC_DEADLINE, 0);
	is(rdmsr(MSR_TSC_DEADLINE), 0, "%s deadline: 0 disarms", mode);
	wrmsr(MSR_TSC_DEADLINE, rdtsc() + (1ULL << 40));
	apic_write(LVT_TIMER, VEC);
	is(rdmsr(MSR_TSC_DEADLINE), 0, "%s deadline: a change of mode disarms", mode);
	wrmsr(MSR_TSC_DEADLINE, rdtsc() + 1000);
	is(rdmsr(MSR_TSC_DEADLINE), 0, "%s deadline: ignored in other modes", mode);
}

static void test_priority(const char *mode)
{
	fired = 0;
	apic_write(0x80, 0x70); /* TPR: class 7 is held off */
	apic_write(LVT_TIMER, VEC);
	apic_write(DIVIDE, 0xb);
	apic_write(INITIAL, 1000);
	irq_enable();
	delay_us(2000);
	irq_disable();
	is(fired, 0, "%s TPR holds the timer off", mode);
	ok(apic_read(0x200 + 0x10 * (VEC / 32)) & BIT(VEC % 32), "%s IRR shows it", mode);
	apic_write(0x80, 0);
	irq_window();
	is(fired, 1, "%s TPR lets it through", mode);
}

void test_timers(void)
{
	irq_handler(VEC, on_timer);
	for (int x2 = 0; x2 < 2; x2++) {
		const char *mode = x2 ? "x2apic" : "xapic";

		if (x2)
			apic_use_x2apic();
		test_one_shot(mode);
		test_periodic(mode);
		test_deadline(mode);
		test_priority(mode);
	}
	irq_handler(VEC, NULL);
}
