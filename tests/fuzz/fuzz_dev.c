/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_dev: sequences of port, MMIO and MSR accesses of any value and size on
 * a whole set of devices, with time that passes in between.
 *
 * Checked besides the sanitizers: a deadline that is due is served by one poll,
 * interrupt lines go only where they exist, a pending vector is legal and above
 * the priority, the PIC's output agrees with its registers.  Run:
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_dev.c \
 *     hv/dev/[a-z]*.c hv/bus.c tests/host/hosted.c -o /tmp/fuzz_dev
 *   /tmp/fuzz_dev -max_len=4096 -max_total_time=60
 */
#include <string.h>

#include "hv/assert.h"
#include "hv/bus.h"
#include "hv/dev/acpi_pm.h"
#include "hv/dev/fwcfg.h"
#include "hv/dev/ioapic.h"
#include "hv/dev/lapic.h"
#include "hv/dev/pic.h"
#include "hv/dev/pit.h"
#include "hv/dev/reset.h"
#include "hv/dev/rtc.h"
#include "hv/dev/testdev.h"
#include "hv/dev/uart.h"

#define CPUS 3

struct machine {
	struct dev_env env;
	struct lapic_env lapic_env;
	uint64_t now;
	struct apic_bus apics;
	struct lapic cpu[CPUS];
	struct ioapic ioapic;
	struct pic pic;
	struct pit pit;
	struct rtc rtc;
	struct acpi_pm pm;
	struct reset_dev reset;
	struct uart uart;
	struct fwcfg fwcfg;
	struct testdev test;
	struct bus port, mmio;
	bool intr;
};

/* What the fuzzer chose, taken in order; 0 once it has run out. */
struct input {
	const uint8_t *p;
	size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	if (bytes > in->left)
		bytes = (unsigned)in->left;
	memcpy(&v, in->p, bytes);
	in->p += bytes;
	in->left -= bytes;
	return v;
}

static uint64_t now_ns(void *ctx)
{
	return ((struct machine *)ctx)->now;
}

static uint64_t guest_tsc(void *ctx)
{
	return ((struct machine *)ctx)->now * 3;
}

static void set_irq(void *ctx, unsigned gsi, bool level)
{
	struct machine *m = ctx;

	HV_ASSERT(gsi < 16);
	pic_set_irq(&m->pic, gsi, level);
	ioapic_set_irq(&m->ioapic, gsi == 0 ? 2 : gsi, level);
}

static void on_intr(void *ctx, bool level)
{
	((struct machine *)ctx)->intr = level;
}

static void on_vcpu(void *ctx, unsigned idx)
{
	(void)ctx;
	HV_ASSERT(idx < CPUS);
}

static void on_init(void *ctx, unsigned idx)
{
	struct machine *m = ctx;

	HV_ASSERT(idx < CPUS);
	lapic_reset_init(&m->cpu[idx]);
}

static void on_sipi(void *ctx, unsigned idx, uint8_t vector)
{
	(void)vector;
	on_vcpu(ctx, idx);
}

static void on_eoi(void *ctx, uint8_t vector)
{
	ioapic_eoi(&((struct machine *)ctx)->ioapic, vector);
}

static void on_byte(void *ctx, uint8_t byte)
{
	(void)ctx;
	(void)byte;
}

static void on_exit_code(void *ctx, uint32_t code)
{
	(void)ctx;
	HV_ASSERT(code & 1);
}

static void on_event(void *ctx)
{
	(void)ctx;
}

static void add(struct bus *b, uint64_t base, uint64_t len, const struct dev_ops *ops, void *dev)
{
	HV_ASSERT(bus_add(b, base, len, ops, dev) == HV_OK);
}

static void connect(struct machine *m)
{
	add(&m->port, PIC_MASTER_PORT, PIC_LEN, &pic_master_ops, &m->pic);
	add(&m->port, PIC_SLAVE_PORT, PIC_LEN, &pic_slave_ops, &m->pic);
	add(&m->port, PIC_ELCR_PORT, PIC_ELCR_LEN, &pic_elcr_ops, &m->pic);
	add(&m->port, PIT_PORT, PIT_LEN, &pit_ops, &m->pit);
	add(&m->port, PIT_PORT_B, PIT_PORT_B_LEN, &pit_port_b_ops, &m->pit);
	add(&m->port, RTC_PORT, RTC_LEN, &rtc_ops, &m->rtc);
	add(&m->port, ACPI_PM_PORT, ACPI_PM_LEN, &acpi_pm_ops, &m->pm);
	add(&m->port, RESET_CF8_PORT, RESET_CF8_LEN, &reset_cf8_ops, &m->reset);
	add(&m->port, RESET_KBD_DATA, RESET_BYTE_LEN, &reset_kbd_data_ops, &m->reset);
	add(&m->port, RESET_KBD_COMMAND, RESET_BYTE_LEN, &reset_kbd_command_ops, &m->reset);
	add(&m->port, RESET_SYSCTL_PORT, RESET_BYTE_LEN, &reset_sysctl_ops, &m->reset);
	add(&m->port, UART_PORT, UART_LEN, &uart_ops, &m->uart);
	add(&m->port, FWCFG_PORT, FWCFG_LEN, &fwcfg_ops, &m->fwcfg);
	add(&m->port, TESTDEV_PORT, TESTDEV_LEN, &testdev_ops, &m->test);
	add(&m->mmio, IOAPIC_BASE, IOAPIC_LEN, &ioapic_ops, &m->ioapic);
}

static void create(struct machine *m)
{
	static const struct apic_bus_ops ops = {
		.kick = on_vcpu, .init = on_init, .sipi = on_sipi, .nmi = on_vcpu, .eoi = on_eoi};

	memset(m, 0, sizeof(*m));
	m->env = (struct dev_env){.ctx = m, .now_ns = now_ns, .set_irq = set_irq};
	m->lapic_env = (struct lapic_env){
		.ctx = m, .now_ns = now_ns, .guest_tsc = guest_tsc, .tsc_khz = 3000000};
	apic_bus_init(&m->apics, &ops, m);
	for (unsigned i = 0; i < CPUS; i++) {
		lapic_init(&m->cpu[i], &m->apics, &m->lapic_env, i, i);
		HV_ASSERT(apic_bus_add(&m->apics, &m->cpu[i]));
	}
	ioapic_init(&m->ioapic, &m->apics);
	pic_init(&m->pic, on_intr, m);
	pit_init(&m->pit, &m->env);
	rtc_init(&m->rtc, &m->env, 1700000000, GIB, GIB);
	acpi_pm_init(&m->pm, &m->env, on_event, m);
	reset_dev_init(&m->reset, on_event, m);
	uart_init(&m->uart, &m->env, UART_IRQ, on_byte, m);
	fwcfg_init(&m->fwcfg, CPUS, GIB);
	m->test = (struct testdev){.exit = on_exit_code, .ctx = m};
	connect(m);
}

/* Serves everything that is due; what is due afterwards must lie ahead. */
static void poll_all(struct machine *m)
{
	acpi_pm_poll(&m->pm);
	pit_poll(&m->pit);
	rtc_poll(&m->rtc);
	HV_ASSERT(acpi_pm_next_deadline_ns(&m->pm) > m->now);
	HV_ASSERT(pit_next_deadline_ns(&m->pit) > m->now);
	HV_ASSERT(rtc_next_deadline_ns(&m->rtc) > m->now);
	for (unsigned i = 0; i < CPUS; i++) {
		lapic_timer_poll(&m->cpu[i]);
		HV_ASSERT(lapic_next_deadline_ns(&m->cpu[i]) > m->now);
	}
}

/* Sleeps until the next deadline, as an idle vCPU does, unless it is too far. */
static void sleep_to_deadline(struct machine *m)
{
	uint64_t due = min_u64(acpi_pm_next_deadline_ns(&m->pm), pit_next_deadline_ns(&m->pit));

	due = min_u64(due, rtc_next_deadline_ns(&m->rtc));
	for (unsigned i = 0; i < CPUS; i++)
		due = min_u64(due, lapic_next_deadline_ns(&m->cpu[i]));
	if (due < 1ULL << 60)
		m->now = max_u64(m->now, due);
}

static void access_bus(struct bus *b, struct input *in, unsigned op, uint64_t addr)
{
	unsigned size = 1u << (op >> 4 & 3);

	if (op & 8)
		bus_write(b, addr, size, take(in, size));
	else
		HV_ASSERT((bus_read(b, addr, size) & ~mask_bytes(size)) == 0);
}

static void access_lapic(struct lapic *l, struct input *in, unsigned op)
{
	unsigned size = 1u << (op >> 4 & 3);
	uint64_t off = take(in, 2) & (LAPIC_LEN - 1), v;

	if (op & 0x80)
		off &= 0xff0;
	if (off + size > LAPIC_LEN)
		return;
	if (op & 8)
		lapic_ops.write(l, off, size, take(in, size));
	else
		lapic_ops.read(l, off, size);
	if (op & 0x40 && off & 1)
		(void)!lapic_msr_write(l, 0x7f0 + (unsigned)(off >> 4), take(in, 8));
	else if (op & 0x40)
		(void)!lapic_msr_read(l, 0x7f0 + (unsigned)(off >> 4), &v);
}

static void lapic_other(struct lapic *l, struct input *in, unsigned op)
{
	static const uint64_t mode[] = {0, LAPIC_BASE_ENABLE, LAPIC_BASE_EXTD,
					LAPIC_BASE_ENABLE | LAPIC_BASE_EXTD};
	int v;

	switch (op >> 4 & 7) {
	case 0:
		(void)!lapic_base_write(l, take(in, 8));
		break;
	case 1:
		(void)!lapic_base_write(l, LAPIC_BASE | mode[op >> 7 | (op >> 2 & 2)]);
		break;
	case 2:
		lapic_tsc_deadline_write(l, take(in, op & 8 ? 8 : 5));
		break;
	case 3:
		lapic_accept(l, (uint8_t)take(in, 1), op & 8);
		break;
	case 4:
		lapic_cr8_write(l, take(in, 1));
		break;
	default:
		v = lapic_pending(l);
		if (v < 0)
			break;
		HV_ASSERT(v >= 16 && v < 256 && (v >> 4) > (lapic_ppr(l) >> 4));
		lapic_ack(l, (uint8_t)v);
		HV_ASSERT(lapic_ppr(l) >> 4 == v >> 4);
		break;
	}
}

static void step(struct machine *m, struct input *in)
{
	static const uint16_t base[] = {0x20, 0xa0,  0x4d0, 0x40, 0x60,	 0x70,	0x600, 0xcf8,
					0x92, 0x3f8, 0x510, 0xf4, 0x3fc, 0x604, 0x41,  0x71};
	unsigned op = (unsigned)take(in, 1), which = (unsigned)take(in, 1);
	struct lapic *l = &m->cpu[which % CPUS];

	switch (op & 7) {
	case 0:
	case 1:
		access_bus(&m->port, in, op, base[which & 15] + (which >> 4 & 7u) - (which >> 7));
		break;
	case 2:
		access_bus(&m->mmio, in, op,
			   IOAPIC_BASE + (op & 0x80 ? (which & 3u) * 0x10 : take(in, 2)));
		break;
	case 3:
		access_lapic(l, in, op);
		break;
	case 4:
		lapic_other(l, in, op);
		break;
	case 5:
		m->now += op & 8 ? take(in, 5) : take(in, 3);
		break;
	case 6:
		uart_rx(&m->uart, (uint8_t)which);
		if (m->intr && op & 8)
			pic_ack(&m->pic);
		apic_bus_msi(&m->apics, LAPIC_BASE | take(in, 3), (uint32_t)take(in, 2));
		break;
	default:
		sleep_to_deadline(m);
		break;
	}
	HV_ASSERT(pic_intr(&m->pic) == m->intr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine m;
	struct input in = {data, size};

	create(&m);
	while (in.left) {
		step(&m, &in);
		poll_all(&m);
		if (m.now > 1ULL << 61)
			break;
	}
	return 0;
}
