/* SPDX-License-Identifier: BSD-2-Clause */
/* smp: finds the machine's CPUs and brings them into the hypervisor. */
#include "hv/smp.h"

#include "drivers/apic.h"
#include "hv/cpu.h"
#include "hv/log.h"
#include "hv/state.h"
#include "hv/time.h"
#include "mm/frame.h"
#include "mm/paging.h"

#define START_TIMEOUT_MS 500

extern char ap_start[], ap_params[], ap_start_end[];

/* Mirrors the data at ap_params in hv/ap_start.S. */
struct __packed ap_params {
	uint32_t gdt_base;
	uint32_t far_offset;
	uint16_t far_selector;
	uint16_t pad;
	uint32_t cr3, cr4;
};

struct __packed ap_target {
	uint64_t stack, arg, entry;
};

static void (*run_fn)(void *);

static void ap_main(void *arg)
{
	struct cpu *c = arg;

	cpu_load(c);
	paging_enable_cpu_features();
	apic_cpu_init();
	__atomic_store_n(&c->online, true, __ATOMIC_RELEASE);
	run_fn(c);
}

/* The trampoline's own labels, relative to its start. */
#define AP_GDT_OFFSET  ((uint32_t)(ap_params - ap_start) - 8 - 24)

static void prepare_trampoline(hpa_t page)
{
	uint32_t at = (uint32_t)page.v, params = (uint32_t)(ap_params - ap_start);
	struct ap_params *p;
	char *t = hpa_to_ptr(page);

	memcpy(t, ap_start, (size_t)(ap_start_end - ap_start));
	p = (struct ap_params *)(void *)(t + params);
	p->gdt_base = at + AP_GDT_OFFSET;
	p->far_offset += at;
	p->cr3 = (uint32_t)paging_cr3();
	p->cr4 = (uint32_t)(CR4_PAE | (read_cr4() & CR4_LA57));
}

static bool start_one(hpa_t page, struct cpu *c)
{
	struct ap_target *t = (void *)((char *)hpa_to_ptr(page) + (ap_start_end - ap_start) -
				       sizeof(struct ap_target));

	*t = (struct ap_target){ (uint64_t)c->stack_top, (uint64_t)c, (uint64_t)ap_main };
	apic_start_cpu(c->apic_id, page);
	for (int ms = 0; ms < START_TIMEOUT_MS; ms++) {
		if (__atomic_load_n(&c->online, __ATOMIC_ACQUIRE))
			return true;
		time_delay_us(1000);
	}
	return false;
}

static void start_all(hpa_t page, const uint32_t *ids, uint32_t n, uint32_t limit)
{
	uint32_t self = apic_id(), parked = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == self)
			continue;
		if (cpu_count >= limit) {
			parked++;
			continue;
		}
		if (cpu_create(cpu_count, ids[i])) {
			log_warn("smp: no memory for CPU with APIC ID %u", ids[i]);
			parked++;
			continue;
		}
		if (!start_one(page, cpus[cpu_count])) {
			log_warn("smp: CPU with APIC ID %u did not start within %u ms", ids[i],
				 START_TIMEOUT_MS);
			/* Or it wakes up late, on the stack of the next one. */
			apic_send_init(ids[i]);
			cpus[cpu_count] = NULL;
			continue;
		}
		cpu_count++;
	}
	if (parked)
		log_info("smp: %u more CPUs are parked (limit %u)", parked, limit);
}

void smp_init(const struct handoff *h, const struct acpi_info *acpi, void (*run)(void *))
{
	const uint32_t *ids = acpi->have_madt ? acpi->cpu_apic_id : h->cpu_apic_id;
	uint32_t n = acpi->have_madt ? acpi->cpu_count : h->cpu_count, limit = CPU_MAX;

	run_fn = run;
	if (h->config.max_cpus && h->config.max_cpus < limit)
		limit = h->config.max_cpus;
	if (n <= 1) {
		log_info("smp: one CPU");
		return;
	}
	if (!hpa_valid(h->trampoline)) {
		log_warn("smp: no low memory to start CPUs with: using one of %u", n);
		return;
	}
	if (paging_map_trampoline(h->trampoline)) {
		log_warn("smp: no page tables for the trampoline: using one of %u CPUs", n);
		return;
	}
	prepare_trampoline(h->trampoline);
	start_all(h->trampoline, ids, n, limit);
	paging_unmap_trampoline(h->trampoline);
	log_info("smp: %u CPUs (%s)", cpu_count, acpi->have_madt ? "MADT" : "MP services");
}

void smp_kick(uint32_t id)
{
	WRITE_ONCE(cpus[id]->need_resched, true);
	if (cpus[id] != this_cpu())
		apic_send_ipi(cpus[id]->apic_id, HOST_VEC_KICK);
}
