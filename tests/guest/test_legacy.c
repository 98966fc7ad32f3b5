/* SPDX-License-Identifier: BSD-2-Clause */
/* test_legacy: PIC, PIT, I/O APIC, RTC and UART interrupts, as an old kernel uses them. */
#include "tests/guest/guest.h"

#define PIC_BASE 0xb0
#define IOAPIC_SEL (*(volatile uint32_t *)0xfec00000UL)
#define IOAPIC_WIN (*(volatile uint32_t *)0xfec00010UL)

static volatile uint32_t ticks;

static void pic_init(uint8_t mask)
{
	outb(0x20, 0x11);
	outb(0xa0, 0x11);
	outb(0x21, PIC_BASE);
	outb(0xa1, PIC_BASE + 8);
	outb(0x21, 4);
	outb(0xa1, 2);
	outb(0x21, 1);
	outb(0xa1, 1);
	outb(0x21, mask);
	outb(0xa1, 0xff);
}

static void pit_rate(uint16_t divisor)
{
	outb(0x43, 0x34);
	outb(0x40, (uint8_t)divisor);
	outb(0x40, (uint8_t)(divisor >> 8));
}

static void on_pic_tick(struct frame *f)
{
	(void)f;
	ticks++;
	outb(0x20, 0x20);
}

static void halt_for(uint32_t want, unsigned ms)
{
	uint64_t end = now_us() + ms * 1000ULL;

	while (ticks < want && now_us() < end)
		irq_enable_and_halt();
}

/* Virtual wire: the PIC's INTR through LINT0 as ExtINT. */
static void test_pic(void)
{
	ticks = 0;
	irq_handler(PIC_BASE, on_pic_tick);
	apic_write(0x350, 0x700);
	pic_init(0xfe);
	pit_rate(1193); /* 1 kHz */
	halt_for(5, 5000);
	ok(ticks >= 5, "pic: PIT ticks through LINT0");
	outb(0x21, 0xff);
	irq_window();
	ticks = 0;
	irq_enable();
	delay_us(5000);
	irq_disable();
	is(ticks, 0, "pic: masked");
	apic_write(0x350, 0x10700);
	irq_handler(PIC_BASE, NULL);
}

static void on_tick(struct frame *f)
{
	(void)f;
	ticks++;
	apic_eoi();
}

static void ioapic_route(unsigned pin, uint32_t low)
{
	IOAPIC_SEL = 0x11 + 2 * pin;
	IOAPIC_WIN = 0;
	IOAPIC_SEL = 0x10 + 2 * pin;
	IOAPIC_WIN = low;
}

static void test_ioapic(void)
{
	ticks = 0;
	irq_handler(0xc0, on_tick);
	ioapic_route(2, 0xc0); /* the PIT's, by the MADT's override */
	halt_for(5, 5000);
	ok(ticks >= 5, "ioapic: PIT ticks at pin 2");
	ioapic_route(2, 0x100c0);
	irq_window();
	pit_rate(0);
	irq_handler(0xc0, NULL);
}

/* The UART's THRE interrupt is level-triggered here: no EOI storm, no loss. */
static volatile uint32_t uart_irqs;

static void on_uart(struct frame *f)
{
	(void)f;
	uart_irqs++;
	inb(0x3fa); /* IIR: clears THRE */
	apic_eoi();
}

static void test_uart(void)
{
	irq_handler(0xc1, on_uart);
	ioapic_route(4, 0xc1 | 1 << 15); /* level */
	outb(0x3fc, 0x0b);
	irq_enable();
	outb(0x3f9, 2); /* THRE: empty already, so at once */
	ok(wait_for(&uart_irqs, 1, 2000), "uart: THRE interrupt when it is enabled");
	outb(0x3f8, '#');
	outb(0x3f8, '\r');
	outb(0x3f8, '\n');
	delay_us(2000);
	ok(uart_irqs >= 2, "uart: THRE interrupt after a byte");
	outb(0x3f9, 0);
	delay_us(1000);
	irq_disable();
	ioapic_route(4, 0x100c1);
	irq_handler(0xc1, NULL);
}

static void test_rtc(void)
{
	uint8_t s;
	uint64_t end;

	outb(0x70, 0);
	s = inb(0x71);
	end = now_us() + 2500000;
	while (inb(0x71) == s && now_us() < end) {
		outb(0x70, 0);
		cpu_relax();
	}
	ok(inb(0x71) != s, "rtc: the seconds go on");
	outb(0x70, 0x0f);
	outb(0x71, 0x5c);
	outb(0x70, 0x0f);
	is(inb(0x71), 0x5c, "cmos: memory keeps");
	outb(0x70, 0x32);
	is(inb(0x71), 0x20, "cmos: century");
}

void test_legacy_irq(void)
{
	test_pic();
	test_ioapic();
	test_uart();
	test_rtc();
}
