/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_smp: other CPUs: start-up, IPIs with every shorthand and mode, INIT and
 * SIPI in races.  In x2APIC mode; counts are exact, so an IPI that reached
 * another VM, or came from one, would show.
 */
#include "tests/guest/guest.h"

extern volatile uint32_t ap_next;

#define VEC	     0x80
#define SELF	     (1u << 18)
#define ALL	     (2u << 18)
#define OTHERS	     (3u << 18)
#define ASSERT	     (1u << 14)
#define LOGICAL	     (1u << 11)
#define INIT	     (5u << 8)
#define SIPI	     (6u << 8)
#define RACES	     100

static volatile uint32_t got[32];

static void on_ipi(struct frame *f)
{
	(void)f;
	__atomic_add_fetch(&got[apic_read(0x20)], 1, __ATOMIC_SEQ_CST);
	apic_eoi();
}

static void listen(unsigned cpu)
{
	(void)cpu;
	apic_use_x2apic();
	irq_enable();
}

static uint32_t total(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 32; i++)
		n += got[i];
	return n;
}

/* Sends and waits until @want have arrived; a little longer for ones too many. */
static void expect_ipis(uint32_t dest, uint32_t command, uint32_t want, uint32_t self,
			const char *name)
{
	uint64_t end;

	for (unsigned i = 0; i < 32; i++)
		got[i] = 0;
	irq_enable();
	apic_icr(dest, command);
	end = now_us() + 2000000;
	while (total() < want && now_us() < end)
		cpu_relax();
	delay_us(3000);
	irq_disable();
	is(total(), want, "ipi: %s: arrives as often as sent", name);
	is(got[0], self, "ipi: %s: at the sender", name);
}

static void test_ipis(unsigned cpus)
{
	irq_handler(VEC, on_ipi);
	for (unsigned i = 1; i < cpus; i++) {
		smp_run(i, listen);
		smp_wait(i);
	}
	expect_ipis(0, VEC | ASSERT | SELF, 1, 1, "self");
	expect_ipis(0, VEC | ASSERT | ALL, cpus, 1, "all");
	expect_ipis(0, VEC | ASSERT | OTHERS, cpus - 1, 0, "all but self");
	expect_ipis(1, VEC | ASSERT, 1, 0, "physical");
	expect_ipis(0xffffffff, VEC | ASSERT, cpus, 1, "broadcast");
	expect_ipis(0x6, VEC | ASSERT | LOGICAL, 2, 0, "logical");
	expect_ipis(200, VEC | ASSERT, 0, 0, "nobody");
	wrmsr(0x83f, VEC);
	irq_window();
	is(got[0], 1, "ipi: self-IPI register");
	irq_handler(VEC, NULL);
}

static volatile uint32_t nmi_got;

static void on_nmi(struct frame *f)
{
	(void)f;
	__atomic_add_fetch(&nmi_got, 1, __ATOMIC_SEQ_CST);
}

static void test_nmi(unsigned cpus)
{
	nmi_handler(on_nmi);
	idt[VEC_NMI].ist = 0; /* one stack would not do for all */
	apic_icr(0, 0x400 | ASSERT | OTHERS);
	ok(wait_for(&nmi_got, cpus - 1, 5000), "ipi: NMI to all others");
	nmi_handler(NULL);
}

/* A counter that a CPU in SIPI'd code at 0x9000 adds to: real mode, then halted. */
static void put_real_mode_code(void)
{
	static const uint8_t code[] = { 0xfa,			      /* cli */
					0x31, 0xc0, 0x8e, 0xd8,	      /* ds = 0 */
					0xf0, 0xff, 0x06, 0x00, 0x70, /* lock inc word [0x7000] */
					0xf4, 0xeb, 0xfd };	      /* hlt, again */

	memcpy((void *)0x9000, code, sizeof(code));
	*(volatile uint16_t *)0x7000 = 0;
}

static bool wait_count(uint16_t want)
{
	uint64_t end = now_us() + 3000000;

	while (*(volatile uint16_t *)0x7000 != want && now_us() < end)
		cpu_relax();
	return *(volatile uint16_t *)0x7000 == want;
}

/* The last CPU is taken away from its loop and started again and again. */
static void test_init_sipi(unsigned cpus)
{
	uint32_t id = cpus - 1;
	unsigned good = 0;

	put_real_mode_code();
	for (uint16_t i = 1; i <= RACES; i++) {
		apic_icr(id, INIT | ASSERT);
		apic_icr(id, SIPI | ASSERT | 9);
		apic_icr(id, SIPI | ASSERT | 9); /* the second finds it running: ignored */
		good += wait_count(i);
	}
	is(good, RACES, "init: INIT and SIPI start it each time, once");
	apic_icr(id, INIT | ASSERT);
	delay_us(2000);
	for (int i = 0; i < 50; i++)
		apic_icr(id, INIT | ASSERT);
	delay_us(2000);
	is(*(volatile uint16_t *)0x7000, RACES, "init: INIT alone starts nothing");
	apic_icr(id, SIPI | ASSERT | 9);
	ok(wait_count(RACES + 1), "init: SIPI after many INITs");
	apic_icr(id, SIPI | ASSERT | 9);
	delay_us(2000);
	is(*(volatile uint16_t *)0x7000, RACES + 1, "init: SIPI to a running CPU is ignored");
	/* While it changes control registers and takes interrupts, from two senders. */
	for (int i = 0; i < RACES; i++) {
		apic_icr(id, INIT | ASSERT);
		ap_next = id; /* so that it finds its own stack again */
		apic_icr(id, SIPI | ASSERT | 8);
		apic_icr(id, INIT | ASSERT);
		apic_icr(id, SIPI | ASSERT | 9);
	}
	delay_us(20000);
	ok(*(volatile uint16_t *)0x7000 > RACES + 1, "init: races with start-up code");
}

static volatile uint32_t shared;

static void add_many(unsigned cpu)
{
	(void)cpu;
	for (int i = 0; i < 10000; i++)
		__atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
}

static void test_shared(unsigned cpus)
{
	for (unsigned i = 1; i < cpus; i++)
		smp_run(i, add_many);
	add_many(0);
	for (unsigned i = 1; i < cpus; i++)
		smp_wait(i);
	is(shared, cpus * 10000, "smp: locked adds on all CPUs");
}

static void nmi_for_ever(unsigned cpu)
{
	(void)cpu;
	for (;;)
		apic_icr(0, 0x400 | ASSERT);
}

void make_noise(void)
{
	apic_enable();
	nmi_handler(on_nmi);
	smp_start();
	guest_printf("noise: begins\n");
	smp_run(1, nmi_for_ever);
	for (;;)
		cpu_relax();
}

void test_smp(void)
{
	unsigned cpus = cpu_count();

	if (cpus < 3) {
		skip("smp", "the VM has fewer than 3 CPUs");
		return;
	}
	smp_start();
	is(smp_started(), cpus - 1, "smp: all CPUs start");
	test_shared(cpus);
	test_ipis(cpus);
	test_nmi(cpus);
}

void test_init(void)
{
	if (cpu_count() >= 3)
		test_init_sipi(cpu_count());
}
