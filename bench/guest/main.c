/* SPDX-License-Identifier: BSD-2-Clause */
/* main: runs the rows that the command line names, in the order they are listed in here. */
#include "bench/guest/bench.h"

void guest_main(uint32_t magic, uint32_t info);

static const struct {
	const char *name;
	void (*run)(void);
} rows[] = {
	{"exit.cpuid", bench_exit_cpuid},
	{"exit.hypercall", bench_exit_hypercall},
	{"exit.pio", bench_exit_pio},
	/* These need memory that is fresh. */
	{"fault.demand4k", bench_demand4k},
	{"fault.demand2m", bench_demand2m},
	{"fault.wp", bench_wp},
	{"fault.access", bench_access},
	{"log.4k", bench_log4k},
	{"log.2m", bench_log2m},
	{"vm.teardown", bench_teardown},
};

void guest_main(uint32_t magic, uint32_t info)
{
	(void)magic;
	load_default_idt();
	apic_enable();
	measure_init(guest_asked_for(info, "backend=vmx") ? "vmx" : "svm");
	guest_printf("# bench: begins\n");
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (guest_asked_for(info, rows[i].name))
			rows[i].run();
	guest_printf("# bench: ends\n");
	guest_end();
}
