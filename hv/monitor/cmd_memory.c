/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_memory: memory and faults, from the monitor. */
#include "hv/lowmem.h"
#include "hv/monitor/session.h"
#include "hv/vm_load.h"
#include "hv/vm_mutate.h"
#include "mm/fault_fast.h"
#include "mm/frame.h"

static void machine_memory(struct session *s)
{
	struct frame_stats f = frame_stats();

	out_object(&s->out, "machine");
	out_u64(&s->out, "guest_kib", f.guest_total * PAGE_SIZE / KIB);
	out_u64(&s->out, "guest_free_kib", lowmem_free() / KIB);
	out_u64(&s->out, "hypervisor_kib", f.hv_total * PAGE_SIZE / KIB);
	out_u64(&s->out, "hypervisor_free_kib", f.hv_free * PAGE_SIZE / KIB);
	out_object_end(&s->out);
}

static void of_vm(struct session *s, struct vm *vm)
{
	static const struct out_column columns[] = {
		{ "base", 18 }, { "end", 18 }, { "kind", 6 },
	};

	struct region_map map;

	vm_copy_regions(vm, &map);
	out_str(&s->out, "name", "%s", vm->config.name);
	out_u64(&s->out, "resident_kib", vm->stats.resident / KIB);
	out_u64(&s->out, "demand_faults", vm->stats.demand_faults);
	out_bool(&s->out, "log", vm->npt.log);
	out_table(&s->out, "regions", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < map.count; i++) {
		const struct region *r = &map.r[i];

		out_row(&s->out);
		out_hex(&s->out, "base", r->base);
		out_hex(&s->out, "end", r->base + r->len);
		out_str(&s->out, "kind", "%s", r->kind == REGION_RAM ? "ram" : "device");
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

static void mem(struct session *s)
{
	static const struct out_column columns[] = {
		{ "name", 20 }, { "memory_kib", -12 }, { "resident_kib", -12 }, { "demand_faults", -13 },
	};

	if (s->vm) {
		of_vm(s, s->vm);
		return;
	}
	machine_memory(s);
	out_table(&s->out, "vms", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		const struct vm *vm = vms[i];

		if (!vm)
			continue;
		out_row(&s->out);
		out_str(&s->out, "name", "%s", vm->config.name);
		out_u64(&s->out, "memory_kib", (vm->config.ram_low + vm->config.ram_high) / KIB);
		out_u64(&s->out, "resident_kib", vm->stats.resident / KIB);
		out_u64(&s->out, "demand_faults", vm->stats.demand_faults);
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

static void images(struct session *s)
{
	static const struct out_column columns[] = { { "path", 40 }, { "bytes", -12 } };
	const char *path;
	uint64_t bytes;

	out_table(&s->out, "images", columns, ARRAY_SIZE(columns));
	for (unsigned i = 0; vm_load_file(i, &path, &bytes); i++) {
		out_row(&s->out);
		out_str(&s->out, "path", "%s", path);
		out_u64(&s->out, "bytes", bytes);
		out_row_end(&s->out);
	}
	out_table_end(&s->out);
}

/* ---- working set ------------------------------------------------------------------ */

#define SPANS_AT_ONCE 2048 /* 2 MiB each */
_Static_assert(SPANS_AT_ONCE * sizeof(uint16_t) == PAGE_SIZE, "one page of counts");

static void age_region(struct session *s, struct vm *vm, const struct region *r, uint16_t *used,
		       uint64_t *sum)
{
	const uint64_t step = SPANS_AT_ONCE * 2 * MIB;

	for (uint64_t at = r->base; at < r->base + r->len; at += step) {
		uint64_t len = min_u64(step, r->base + r->len - at), pages = 0;

		memset(used, 0, PAGE_SIZE);
		if (vm_age(vm, GPA(at), len, used, &pages))
			return;
		*sum += pages;
		for (unsigned i = 0; i < SPANS_AT_ONCE; i++) {
			if (!used[i])
				continue;
			out_row(&s->out);
			out_hex(&s->out, "span", align_down(at, 2 * MIB) + i * 2 * MIB);
			out_u64(&s->out, "pages_used", used[i]);
			out_row_end(&s->out);
		}
	}
}

static void working_set(struct session *s)
{
	static const struct out_column columns[] = { { "span", 18 }, { "pages_used", -10 } };
	struct vm *vm = s->vm;
	struct region_map map;
	uint64_t sum = 0;
	uint16_t *used;

	vm_copy_regions(vm, &map);
	used = hv_pages_alloc(0);
	if (!used) {
		out_refuse(&s->out, "no memory for the counts");
		return;
	}
	out_table(&s->out, "spans", columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < map.count; i++)
		if (map.r[i].kind == REGION_RAM)
			age_region(s, vm, &map.r[i], used, &sum);
	out_table_end(&s->out);
	hv_pages_free(used, 0);
	out_u64(&s->out, "used_kib", sum * PAGE_SIZE / KIB);
	out_remark(&s->out, "pages used since this was last asked");
}

static void discard(struct session *s)
{
	struct vm *vm = s->vm;
	uint64_t gpa, len, count = 0;
	enum hv_status st;

	if (s->argc != 3 || words_number(s->argv[1], 0, ~0ULL, &gpa) ||
	    words_number(s->argv[2], 1, ~0ULL, &len)) {
		out_refuse(&s->out, "NAME ADDRESS LENGTH are needed, in bytes; 0x, K, M and G are understood");
		return;
	}
	st = vm_discard(vm, GPA(gpa), len, &count);
	if (st)
		out_refuse(&s->out, "%s: whole pages inside the VM's memory are allowed", hv_status_name(st));
	else
		out_done(&s->out, "vm '%s': %llu pages removed, they read as zero", vm->config.name,
			 (unsigned long long)count);
}

/* ---- the log of writes --------------------------------------------------------------- */

static void log_on(struct session *s)
{
	struct vm *vm = s->vm;
	enum hv_status st;

	st = vm_log_enable(vm, vm_log_best_mode(vm), s->argc > 1 && !strcmp(s->argv[1], "--eager"));
	if (st)
		out_refuse(&s->out, "vm '%s': %s", vm->config.name,
			   st == HV_EXIST ? "writes are logged already" : hv_status_name(st));
	else
		out_done(&s->out, "vm '%s': writes are logged", vm->config.name);
}

static void log_off(struct session *s)
{
	struct vm *vm = s->vm;

	if (vm_log_disable(vm))
		out_refuse(&s->out, "vm '%s': writes are not logged", vm->config.name);
	else
		out_done(&s->out, "vm '%s': writes are logged no more", vm->config.name);
}

/* How many pages are dirty; --clear: and begins anew. */
static void log_count(struct session *s)
{
	struct vm *vm = s->vm;
	unsigned flags = s->argc > 1 && !strcmp(s->argv[1], "--clear") ? DIRTY_GET | DIRTY_CLEAR : DIRTY_GET;
	uint64_t end, pages = 0, *bitmap;
	enum hv_status st = HV_OK;

	if (!vm->npt.log) {
		out_refuse(&s->out, "vm '%s': writes are not logged: dirty on first", vm->config.name);
		return;
	}
	bitmap = hv_pages_alloc(0);
	if (!bitmap) {
		out_refuse(&s->out, "no memory for the bitmap");
		return;
	}
	end = vm->dirty.pages * PAGE_SIZE; /* npt.log goes when the VM stops or is reset */
	for (uint64_t at = 0; at < end && !st; at += VM_HARVEST_MAX) {
		uint64_t count = 0;

		st = vm_log_harvest(vm, GPA(at), min_u64(VM_HARVEST_MAX, end - at), flags, bitmap, &count);
		pages += count;
	}
	hv_pages_free(bitmap, 0);
	if (st)
		out_refuse(&s->out, "%s", hv_status_name(st));
	else
		out_u64(&s->out, "dirty_kib", pages * PAGE_SIZE / KIB);
}

/* ---- faults ---------------------------------------------------------------------------- */

static const char *const kinds[] = { "slow", "write", "access", "spurious" };

/* Asked for, and not done yet: a paused vCPU does it when it goes on. */
static bool is_cleared(const struct vcpu *v)
{
	return READ_ONCE(v->requests) & VCPU_REQ_UNTIME;
}

static struct histogram cycles_of(const struct vm *vm, unsigned kind)
{
	struct histogram sum = { 0 };

	for (unsigned i = 0; i < vm->vcpu_count; i++)
		if (!is_cleared(vm->vcpu[i]))
			histogram_merge(&sum, &vm->vcpu[i]->stats.fault_cycles[kind]);
	return sum;
}

static void bars(struct out *o, const char *kind, const struct histogram *h)
{
	static const char full[] = "########################################";
	unsigned first = 0, last = HISTOGRAM_BUCKETS - 1;
	uint64_t most = 0;

	for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
		most = max_u64(most, h->bucket[k]);
	while (first < last && !h->bucket[first])
		first++;
	while (last > first && !h->bucket[last])
		last--;
	out_remark(o, "%s, in cycles from:", kind);
	for (unsigned k = first; k <= last; k++) {
		uint64_t n = h->bucket[k], len = mul_div(n, sizeof(full) - 1, most);

		out_remark(o, "  %10llu %-40.*s %llu", (unsigned long long)histogram_least(k),
			   (int)(n ? max_u64(len, 1) : 0), full, (unsigned long long)n);
	}
}

static void latency(struct out *o, const struct vm *vm)
{
	static const struct out_column columns[] = {
		{ "kind", 10 }, { "count", -12 }, { "p50", -10 }, { "p99", -10 }, { "max", -12 },
	};

	out_table(o, "latency", columns, ARRAY_SIZE(columns));
	for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct histogram h = cycles_of(vm, k);

		if (!histogram_count(&h))
			continue;
		out_row(o);
		out_str(o, "kind", "%s", kinds[k]);
		out_u64(o, "count", histogram_count(&h));
		out_u64(o, "p50", histogram_percentile(&h, 50));
		out_u64(o, "p99", histogram_percentile(&h, 99));
		out_u64(o, "max", h.max);
		out_u64s(o, "buckets", h.bucket, HISTOGRAM_BUCKETS);
		out_row_end(o);
	}
	out_table_end(o);
	for (unsigned k = 0; o->format == OUT_TEXT && k < ARRAY_SIZE(kinds); k++) {
		struct histogram h = cycles_of(vm, k);

		if (histogram_count(&h))
			bars(o, kinds[k], &h);
	}
}

static bool is_timed(const struct vm *vm)
{
	return READ_ONCE(vm->vcpu[0]->time_faults);
}

static void show_faults(struct out *o, const struct vm *vm)
{
	uint64_t sum[4] = { 0 }, all = 0;

	for (unsigned i = 0; i < vm->vcpu_count; i++)
		for (unsigned k = 0; k < 4; k++)
			sum[k] += vm->vcpu[i]->stats.fast_faults[k];
	out_str(o, "name", "%s", vm->config.name);
	for (unsigned k = 0; k < 4; k++) {
		out_u64(o, kinds[k], sum[k]);
		all += sum[k];
	}
	out_u64(o, "demand", vm->stats.demand_faults);
	out_milli(o, "fast_share", all ? (all - sum[FAST_NONE]) * 1000 / all : 0);
	out_bool(o, "timed", is_timed(vm));
	latency(o, vm);
}

static void time_faults(struct session *s, struct vm *vm, bool on)
{
	for (unsigned i = 0; i < vm->vcpu_count; i++) {
		WRITE_ONCE(vm->vcpu[i]->time_faults, on);
		vcpu_kick(vm->vcpu[i], 0);
	}
	out_done(&s->out, "vm '%s': faults are timed%s", vm->config.name, on ? "" : " no more");
}

static void clear_times(struct session *s, struct vm *vm)
{
	for (unsigned i = 0; i < vm->vcpu_count; i++)
		vcpu_kick(vm->vcpu[i], VCPU_REQ_UNTIME);
	out_done(&s->out, "vm '%s': how long faults took is forgotten", vm->config.name);
}

static void faults(struct session *s)
{
	struct vm *vm = s->vm;

	if (s->argc == 1)
		show_faults(&s->out, vm);
	else if (s->argc == 2 && !strcmp(s->argv[1], "--clear"))
		clear_times(s, vm);
	else if (s->argc == 3 && !strcmp(s->argv[1], "--time") && !strcmp(s->argv[2], "on"))
		time_faults(s, vm, true);
	else if (s->argc == 3 && !strcmp(s->argv[1], "--time") && !strcmp(s->argv[2], "off"))
		time_faults(s, vm, false);
	else
		out_refuse(&s->out, "after NAME, --time on, --time off or --clear are allowed");
}
_Static_assert(FAST_NONE == 0 && FAST_WRITE == 1 && FAST_ACCESS == 2 && FAST_SPURIOUS == 3, "kinds");

const struct command memory_commands[] = {
	{ "mem images", "", "files that VMs can be made of", "mem images", images, NO_VM, 0 },
	{ "mem used", "NAME", "pages used since last asked, by 2 MiB", "mem used web", working_set, OF_VM, 1 },
	{ "mem discard", "NAME ADDRESS LENGTH", "takes pages away, they read as zero",
	  "mem discard web 0x4000000 2M", discard, OF_VM, 3 },
	{ "mem", "[NAME]", "memory of the machine, or a VM's regions", "mem web", mem, OF_VM_IF_NAMED, 1 },
	{ "dirty on", "NAME [--eager]", "logs the VM's writes from now on", "dirty on web", log_on, OF_VM, 2 },
	{ "dirty off", "NAME", "ends that", "dirty off web", log_off, OF_VM, 1 },
	{ "dirty count", "NAME [--clear]", "how much was written since",
	  "dirty count web --clear", log_count, OF_VM, 2 },
	{ "faults", "NAME [--time on|off | --clear]", "nested faults by kind, and how long they took",
	  "faults web --time on", faults, OF_VM, 3 },
	{ 0 },
};
