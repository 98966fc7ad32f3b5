/* SPDX-License-Identifier: BSD-2-Clause */
/* ioapic: the physical I/O APIC. */
#include "drivers/ioapic.h"

#include "drivers/apic.h"
#include "mm/paging.h"

#define DEFAULT_BASE 0xfec00000ULL
#define REG_SELECT   0x00
#define REG_WINDOW   0x10
#define REG_VERSION  1
#define REG_REDIRECTION(pin) (0x10 + 2 * (pin))

static uint32_t get_reg(volatile uint8_t *io, uint32_t r)
{
	*(volatile uint32_t *)(io + REG_SELECT) = r;
	return *(volatile uint32_t *)(io + REG_WINDOW);
}

static void set_reg(volatile uint8_t *io, uint32_t r, uint32_t v)
{
	*(volatile uint32_t *)(io + REG_SELECT) = r;
	*(volatile uint32_t *)(io + REG_WINDOW) = v;
}

enum hv_status ioapic_route_isa(const struct acpi_info *acpi, unsigned irq, uint8_t vector)
{
	uint32_t pin = acpi->isa_gsi[irq] - acpi->ioapic_gsi_base, version;
	volatile uint8_t *io;

	io = paging_map_device(HPA(acpi->ioapic_base ? acpi->ioapic_base : DEFAULT_BASE), PAGE_SIZE);
	if (!io)
		return HV_NOMEM;
	version = get_reg(io, REG_VERSION);
	if (version == 0xffffffff || pin > (version >> 16 & 0xff))
		return HV_NOENT;
	/* An 8-bit destination reaches the boot CPU on every machine but very odd ones. */
	set_reg(io, REG_REDIRECTION(pin) + 1, apic_id() << 24);
	set_reg(io, REG_REDIRECTION(pin), vector);
	return HV_OK;
}
