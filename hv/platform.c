/* SPDX-License-Identifier: BSD-2-Clause */
/* platform: the PC that a guest sees around its CPUs. */
#include "hv/platform.h"

#include "hv/console.h"
#include "hv/vm.h"

/* ISA IRQ 0 reaches I/O APIC pin 2, as the MADT says; pin 0 is not connected. */
#define PIT_IOAPIC_PIN 2

static uint64_t now_ns(void *ctx)
{
	return vm_now_ns(ctx);
}

static void set_irq(void *ctx, unsigned gsi, bool level)
{
	struct platform *p = &((struct vm *)ctx)->platform;

	if (gsi < PIC_INPUTS && gsi != PIC_CASCADE)
		pic_set_irq(&p->pic, gsi, level);
	ioapic_set_irq(&p->ioapic, gsi == PIT_IRQ ? PIT_IOAPIC_PIN : gsi, level);
}

/* ---- what devices ask of the VM: called with the device lock held -------------- */

static void uart_tx(void *ctx, uint8_t byte)
{
	console_guest_put(((struct vm *)ctx)->index, byte);
}

static void request_reset(void *ctx)
{
	struct vm *vm = ctx;

	vm_request(vm, vm_on_reboot(vm), "reboot");
}

static void request_power_off(void *ctx)
{
	vm_request(ctx, VM_REQ_STOP, "power-off");
}

static void request_exit(void *ctx, uint32_t code)
{
	vm_request(ctx, VM_REQ_STOP, "test exit %u", code);
}

/* The PIC's INTR goes to the first vCPU. */
static void pic_output(void *ctx, bool level)
{
	struct vm *vm = ctx;

	if (level && vm->vcpu[0])
		vcpu_kick(vm->vcpu[0], 0);
}

/* ---- what the APIC fabric asks; no lock held but possibly the device lock ------ */

static void bus_kick(void *ctx, unsigned idx)
{
	vcpu_kick(((struct vm *)ctx)->vcpu[idx], 0);
}

static void bus_init_ipi(void *ctx, unsigned idx)
{
	vcpu_kick(((struct vm *)ctx)->vcpu[idx], VCPU_REQ_INIT);
}

static void bus_sipi(void *ctx, unsigned idx, uint8_t vector)
{
	struct vcpu *v = ((struct vm *)ctx)->vcpu[idx];

	WRITE_ONCE(v->sipi_vector, vector);
	vcpu_kick(v, VCPU_REQ_SIPI);
}

static void bus_nmi(void *ctx, unsigned idx)
{
	vcpu_kick(((struct vm *)ctx)->vcpu[idx], VCPU_REQ_NMI);
}

static void bus_eoi(void *ctx, uint8_t vector)
{
	struct vm *vm = ctx;

	lock(&vm->device);
	ioapic_eoi(&vm->platform.ioapic, vector);
	unlock(&vm->device);
}

static const struct apic_bus_ops bus_ops = {
	.kick = bus_kick,
	.init = bus_init_ipi,
	.sipi = bus_sipi,
	.nmi = bus_nmi,
	.eoi = bus_eoi,
};

static enum hv_status claim_ports(struct vm *vm)
{
	struct platform *p = &vm->platform;
	const struct {
		uint16_t port, len;
		const struct dev_ops *ops;
		void *dev;
		bool wanted;
	} map[] = {
		{ PIC_MASTER_PORT, PIC_LEN, &pic_master_ops, &p->pic, true },
		{ PIC_SLAVE_PORT, PIC_LEN, &pic_slave_ops, &p->pic, true },
		{ PIC_ELCR_PORT, PIC_ELCR_LEN, &pic_elcr_ops, &p->pic, true },
		{ PIT_PORT, PIT_LEN, &pit_ops, &p->pit, true },
		{ PIT_PORT_B, PIT_PORT_B_LEN, &pit_port_b_ops, &p->pit, true },
		{ RTC_PORT, RTC_LEN, &rtc_ops, &p->rtc, true },
		{ ACPI_PM_PORT, ACPI_PM_LEN, &acpi_pm_ops, &p->pm, true },
		{ RESET_CF8_PORT, RESET_CF8_LEN, &reset_cf8_ops, &p->reset, true },
		{ RESET_KBD_DATA, RESET_BYTE_LEN, &reset_kbd_data_ops, &p->reset, true },
		{ RESET_KBD_COMMAND, RESET_BYTE_LEN, &reset_kbd_command_ops, &p->reset, true },
		{ RESET_SYSCTL_PORT, RESET_BYTE_LEN, &reset_sysctl_ops, &p->reset, true },
		{ UART_PORT, UART_LEN, &uart_ops, &p->uart, true },
		{ FWCFG_PORT, FWCFG_LEN, &fwcfg_ops, &p->fwcfg, vm->config.fw_cfg },
		{ TESTDEV_PORT, TESTDEV_LEN, &testdev_ops, &p->testdev, vm->config.test_exit },
	};
	enum hv_status st = HV_OK;

	for (size_t i = 0; i < ARRAY_SIZE(map) && !st; i++)
		if (map[i].wanted)
			st = bus_add(&p->ports, map[i].port, map[i].len, map[i].ops, map[i].dev);
	return st;
}

enum hv_status platform_create(struct vm *vm, uint64_t epoch)
{
	const struct config_vm *c = &vm->config;
	struct platform *p = &vm->platform;
	enum hv_status st;

	p->epoch = epoch;
	p->env = (struct dev_env){ vm, now_ns, set_irq };
	bus_init(&p->ports);
	bus_init(&p->mmio);
	apic_bus_init(&p->apic_bus, &bus_ops, vm);
	ioapic_init(&p->ioapic, &p->apic_bus);
	pic_init(&p->pic, pic_output, vm);
	pit_init(&p->pit, &p->env);
	rtc_init(&p->rtc, &p->env, epoch, c->ram_low, c->ram_high);
	acpi_pm_init(&p->pm, &p->env, request_power_off, vm);
	reset_dev_init(&p->reset, request_reset, vm);
	uart_init(&p->uart, &p->env, UART_IRQ, uart_tx, vm);
	fwcfg_init(&p->fwcfg, (uint16_t)c->vcpus, c->ram_low + c->ram_high);
	p->testdev = (struct testdev){ request_exit, vm };
	st = claim_ports(vm);
	return st ? st : bus_add(&p->mmio, IOAPIC_BASE, IOAPIC_LEN, &ioapic_ops, &p->ioapic);
}

void platform_reset(struct vm *vm)
{
	const struct config_vm *c = &vm->config;
	struct platform *p = &vm->platform;

	lock(&vm->device);
	ioapic_reset(&p->ioapic);
	pic_reset(&p->pic);
	pit_reset(&p->pit);
	rtc_reset(&p->rtc);
	acpi_pm_reset(&p->pm);
	reset_dev_reset(&p->reset);
	uart_reset(&p->uart);
	fwcfg_init(&p->fwcfg, (uint16_t)c->vcpus, c->ram_low + c->ram_high);
	unlock(&vm->device);
}

static uint64_t next_deadline(const struct platform *p)
{
	uint64_t d = min_u64(pit_next_deadline_ns(&p->pit), rtc_next_deadline_ns(&p->rtc));

	return min_u64(d, acpi_pm_next_deadline_ns(&p->pm));
}

uint64_t platform_io_read(struct vm *vm, uint16_t port, unsigned size)
{
	uint64_t val;

	lock(&vm->device);
	val = bus_read(&vm->platform.ports, port, size);
	unlock(&vm->device);
	return val;
}

void platform_io_write(struct vm *vm, uint16_t port, unsigned size, uint64_t val)
{
	struct platform *p = &vm->platform;
	bool sooner;

	lock(&vm->device);
	bus_write(&p->ports, port, size, val);
	sooner = next_deadline(p) < p->served_ns;
	unlock(&vm->device);
	/* Another vCPU may have set a timer that the first one, asleep, must serve. */
	if (sooner)
		vcpu_kick(vm->vcpu[0], 0);
}

uint64_t platform_mmio_read(struct vm *vm, uint64_t gpa, unsigned size)
{
	uint64_t val;

	lock(&vm->device);
	val = bus_read(&vm->platform.mmio, gpa, size);
	unlock(&vm->device);
	return val;
}

void platform_mmio_write(struct vm *vm, uint64_t gpa, unsigned size, uint64_t val)
{
	lock(&vm->device);
	bus_write(&vm->platform.mmio, gpa, size, val);
	unlock(&vm->device);
}

uint64_t platform_next_deadline(struct vm *vm)
{
	struct platform *p = &vm->platform;
	uint64_t d;

	lock(&vm->device);
	d = p->served_ns = next_deadline(p);
	unlock(&vm->device);
	return d;
}

void platform_poll(struct vm *vm)
{
	struct platform *p = &vm->platform;
	uint64_t now = vm_now_ns(vm);

	lock(&vm->device);
	if (pit_next_deadline_ns(&p->pit) <= now)
		pit_poll(&p->pit);
	if (rtc_next_deadline_ns(&p->rtc) <= now)
		rtc_poll(&p->rtc);
	if (acpi_pm_next_deadline_ns(&p->pm) <= now)
		acpi_pm_poll(&p->pm);
	unlock(&vm->device);
}

bool platform_pic_pending(struct vm *vm)
{
	return READ_ONCE(vm->platform.pic.output);
}

int platform_pic_ack(struct vm *vm)
{
	int vector = -1;

	lock(&vm->device);
	if (pic_intr(&vm->platform.pic))
		vector = pic_ack(&vm->platform.pic);
	unlock(&vm->device);
	return vector;
}

bool platform_console_input(struct vm *vm, uint8_t c)
{
	bool taken;

	lock(&vm->device);
	taken = uart_rx(&vm->platform.uart, c);
	unlock(&vm->device);
	return taken;
}

void platform_power_button(struct vm *vm)
{
	lock(&vm->device);
	acpi_pm_power_button(&vm->platform.pm);
	unlock(&vm->device);
}
