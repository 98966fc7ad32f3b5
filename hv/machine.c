/* SPDX-License-Identifier: BSD-2-Clause */
/* machine: what the physical machine is made of, and how to end it. */
#include "hv/machine.h"

#include "drivers/apic.h"
#include "drivers/ioapic.h"
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/firmware.h"
#include "hv/log.h"
#include "hv/time.h"
#include "hv/vcpu.h"
#include "mm/frame.h"

#define COM2 0x2f8

#define STOP_TIMEOUT_MS 500

static const struct handoff *handoff __attribute__((section(".data.ro_after_init")));
static struct acpi_info acpi __attribute__((section(".data.ro_after_init")));
static struct config_console console __attribute__((section(".data.ro_after_init")));
static bool stopping;
static uint32_t stopped;

/* Tables may lie anywhere the firmware has memory; the direct map covers it all. */
static bool read_physical(void *ctx, hpa_t at, void *dst, size_t len)
{
	(void)ctx;
	if (at.v >= handoff->ram_top || len > handoff->ram_top - at.v)
		return false;
	memcpy(dst, hpa_to_ptr(at), len);
	return true;
}

const struct acpi_info *machine_describe(const struct handoff *h)
{
	handoff = h;
	if (acpi_parse(&(struct acpi_reader){ NULL, read_physical }, h->rsdp, &acpi))
		acpi.have_madt = false;
	return &acpi;
}

bool machine_console(const struct handoff *h, unsigned index, struct machine_line *l)
{
	static const uint16_t ports[] = { 0x3f8, COM2, 0x3e8, 0x2e8 };

	l->c = h->config.console;
	if (l->c.kind != CONSOLE_AUTO && !index--) {
		l->from = "the configuration";
		return true;
	}
	/* Without a console is what was asked for. */
	if (l->c.kind == CONSOLE_NONE)
		return false;
	l->c.kind = CONSOLE_PORT;
	l->c.stride = 1;
	if (acpi.have_spcr && !index--) {
		l->from = "ACPI's SPCR table";
		l->c.kind = acpi.spcr_mmio ? CONSOLE_MMIO : CONSOLE_PORT;
		l->c.base = acpi.spcr_base;
		l->c.stride = acpi.spcr_stride;
		return true;
	}
	l->from = "the PC's ports";
	l->c.base = ports[index % ARRAY_SIZE(ports)];
	return index < ARRAY_SIZE(ports);
}

void machine_use_console(const struct config_console *c)
{
	console = *c;
}

const struct config_console *machine_control(const struct handoff *h)
{
	static struct config_console control;

	control = h->config.control;
	if (control.kind == CONSOLE_AUTO) {
		control.kind = CONSOLE_PORT;
		control.base = COM2;
	}
	if (control.kind == console.kind && control.base == console.base) {
		log_warn("control: %llx is the console's line", (unsigned long long)control.base);
		control.kind = CONSOLE_NONE;
	}
	return &control;
}

enum hv_status machine_route_console(uint8_t vector)
{
	return machine_route_line(&console, vector);
}

enum hv_status machine_route_line(const struct config_console *c, uint8_t vector)
{
	if (c->kind != CONSOLE_PORT)
		return HV_NOENT;
	switch (c->base) {
	case 0x3f8:
	case 0x3e8:
		return ioapic_route_isa(&acpi, 4, vector);
	case COM2:
	case 0x2e8:
		return ioapic_route_isa(&acpi, 3, vector);
	default:
		return HV_NOENT;
	}
}

bool machine_stopping(void)
{
	return __atomic_load_n(&stopping, __ATOMIC_ACQUIRE);
}

void machine_stop_this_cpu(void)
{
	vcpu_unload_current();
	if (virt)
		virt->cpu_disable(this_cpu());
	__atomic_fetch_add(&stopped, 1, __ATOMIC_ACQ_REL);
	cpu_park();
}

/* Waits (bounded) until every other CPU has left VMX or SVM operation. */
static void stop_others(void)
{
	__atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < cpu_count; i++)
		if (cpus[i] != this_cpu())
			apic_send_ipi(cpus[i]->apic_id, HOST_VEC_KICK);
	for (int ms = 0; ms < STOP_TIMEOUT_MS; ms++) {
		if (__atomic_load_n(&stopped, __ATOMIC_ACQUIRE) + 1 >= cpu_count)
			return;
		time_delay_us(1000);
	}
	log_warn("machine: not every CPU has stopped");
}

static void legacy_reset(void)
{
	struct dtable_reg none = { 0, 0 };

	if (acpi.reset_io)
		outb(acpi.reset_port, acpi.reset_value);
	time_delay_us(50000);
	outb(0xcf9, 0x06);
	time_delay_us(50000);
	outb(0x64, 0xfe);
	time_delay_us(50000);
	__asm__ volatile("lidt %0; int3" : : "m"(none));
}

static _Noreturn void end(enum firmware_reset how)
{
	static bool ending;

	irq_disable();
	/* Two VMs may stop at the same time, each the last: one is enough. */
	if (__atomic_exchange_n(&ending, true, __ATOMIC_ACQ_REL))
		machine_stop_this_cpu();
	console_flush();
	stop_others();
	vcpu_unload_current();
	if (virt)
		virt->cpu_disable(this_cpu());
	firmware_reset(how);
	if (how == FIRMWARE_RESET_COLD)
		legacy_reset();
	log_err("machine: the firmware did not %s the machine; do it by hand",
		how == FIRMWARE_RESET_COLD ? "reset" : "switch off");
	console_flush();
	cpu_park();
}

void machine_reset(void)
{
	end(FIRMWARE_RESET_COLD);
}

void machine_poweroff(void)
{
	end(FIRMWARE_RESET_SHUTDOWN);
}
