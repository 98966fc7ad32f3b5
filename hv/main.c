/* SPDX-License-Identifier: BSD-2-Clause */
/* main: the order of bring-up, and nothing else. */
#include "boot/handoff.h"
#include "drivers/acpi.h"
#include "drivers/apic.h"
#include "hv/config_live.h"
#include "hv/console.h"
#include "hv/cpu.h"
#include "hv/cpuid.h"
#include "hv/firmware.h"
#include "hv/log.h"
#include "hv/machine.h"
#include "hv/monitor/monitor.h"
#include "hv/panic.h"
#include "hv/sched.h"
#include "hv/smp.h"
#include "hv/speculation.h"
#include "hv/time.h"
#include "hv/trap.h"
#include "hv/vcpu_live.h"
#include "hv/version.h"
#include "hv/virt.h"
#include "hv/vm.h"
#include "mm/frame.h"
#include "mm/paging.h"

#define BOOT_STACK_SIZE 32768

static char boot_stack[BOOT_STACK_SIZE] __aligned(16);

uintptr_t __stack_chk_guard __attribute__((section(".data.ro_after_init"))) = 0x595e9fbd94fda766;

static void log_memory(const struct handoff *h)
{
	struct frame_stats s = frame_stats();

	log_info("mm: %llu MiB for guests, %llu MiB for the hypervisor",
		 (unsigned long long)(s.guest_total * PAGE_SIZE / MIB),
		 (unsigned long long)(s.hv_total * PAGE_SIZE / MIB));
	/* For whoever wants to know what is at an address: bench/counts.py. */
	log_debug("mm: image at %llx", (unsigned long long)h->image_base.v);
}

static struct cpuid_out host_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r = cpuid(leaf, subleaf);

	return (struct cpuid_out){ r.eax, r.ebx, r.ecx, r.edx };
}

/* The first place where a UART answers; what was said of the others comes after it. */
static void find_console(const struct handoff *h)
{
	struct machine_line l, missed;
	unsigned found = 0;

	while (machine_console(h, found, &l) && console_init(&l.c))
		found++;
	machine_use_console(&l.c);
	for (unsigned i = 0; i < found && machine_console(h, i, &missed); i++)
		log_warn("console: no UART at %llx, as %s would have it: the next place is tried",
			 (unsigned long long)missed.c.base, missed.from);
}

/* Runs on boot_stack, interrupts off. */
static void bring_up(void *arg)
{
	const struct handoff *h = arg;
	const struct acpi_info *acpi;

	if (frame_init(h) || paging_init(h))
		cpu_park(); /* nothing to print with yet; the boot stage said what it loaded */
	trap_init();
	if (cpu_create(0, 0))
		cpu_park();
	cpu_count = 1;
	cpu_load(cpus[0]);
	log_set_level(h->config.log_level);
	acpi = machine_describe(h);
	find_console(h);
	log_info("Faultline %s%s", HV_VERSION, HV_BUILD);
	log_memory(h);
	if (apic_init())
		hv_panic("no local APIC");
	if (time_init(acpi))
		log_warn("time: the clock is a guess");
	apic_cpu_init();
	apic_calibrate_timer();
	cpus[0]->apic_id = apic_id();
	cpus[0]->online = true;
	speculation_init();
	vcpu_live_init();
	cpuid_init(host_cpuid, vcpu_live_xcr0_allowed(), time_tsc_khz());
	if (machine_route_console(HOST_VEC_SERIAL))
		log_info("console: the serial port is polled");
	else
		console_use_interrupt();
	config_live_init(h);
	monitor_init(machine_control(h));
	if (!machine_route_line(machine_control(h), HOST_VEC_SERIAL))
		monitor_use_interrupt();
	virt_select();
	smp_init(h, acpi, sched_run);
	vm_init(h);
	if (!vm_running_count())
		console_focus(CONSOLE_MONITOR);
	firmware_init(h);
	paging_seal();
	sched_start();
	cpu_switch_stack(cpus[0]->stack_top, sched_run, cpus[0]);
}

_Noreturn void hv_main(const struct handoff *h)
{
	irq_disable();
	cpu_switch_stack(boot_stack + sizeof(boot_stack), bring_up, (void *)(uintptr_t)h);
}
