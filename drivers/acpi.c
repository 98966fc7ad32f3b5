/* SPDX-License-Identifier: BSD-2-Clause */
/* acpi: reads what we need from the firmware's ACPI tables.  Pure. */
#include "drivers/acpi.h"

struct __packed sdt {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem[18];
	char creator[8];
};
_Static_assert(sizeof(struct sdt) == 36, "ACPI 5.2.6");

struct __packed rsdp {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length;
	uint64_t xsdt;
	uint8_t checksum2;
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct rsdp) == 36, "ACPI 5.2.5.3");

#define RSDP_V1_SIZE   20
#define MAX_TABLE      (256 * KIB)
#define MAX_TABLES     256
enum { MADT_LOCAL_APIC = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2, MADT_LOCAL_X2APIC = 9 };

#define GAS_MEMORY     0
#define GAS_IO	       1
#define PORTS	       0x10000 /* how many I/O ports there are */
#define UART_PORTS     8

struct __packed gas {
	uint8_t space, width, offset, access;
	uint64_t address;
};
_Static_assert(sizeof(struct gas) == 12, "ACPI 5.2.3.2");

static bool sum_is_zero(const struct acpi_reader *r, uint64_t at, uint64_t len)
{
	uint8_t buf[64], sum = 0;

	for (uint64_t off = 0; off < len; off += sizeof(buf)) {
		size_t n = (size_t)min_u64(sizeof(buf), len - off);

		if (!r->read(r->ctx, HPA(at + off), buf, n))
			return false;
		for (size_t i = 0; i < n; i++)
			sum = (uint8_t)(sum + buf[i]);
	}
	return !sum;
}

/* Reads @len bytes at @off of the table, zero-filled beyond its end. */
static void field(const struct acpi_reader *r, uint64_t at, const struct sdt *h, uint32_t off,
		  void *dst, uint32_t len)
{
	memset(dst, 0, len);
	if (off <= h->length && len <= h->length - off && !r->read(r->ctx, HPA(at + off), dst, len))
		memset(dst, 0, len);
}

static void add_cpu(struct acpi_info *out, uint32_t id, uint32_t flags)
{
	if (!(flags & 1))
		return;
	if (out->cpu_count < ACPI_MAX_CPUS)
		out->cpu_apic_id[out->cpu_count++] = id;
	else
		out->cpus_beyond++;
}

/* One interrupt-controller structure, which lies inside the table. */
static void parse_madt_entry(const struct acpi_reader *r, uint64_t at, const struct sdt *h,
			     uint32_t off, struct acpi_info *out)
{
	uint32_t id, flags;
	uint8_t e[16];

	field(r, at, h, off, e, 2);
	switch (e[0]) {
	case MADT_LOCAL_APIC:
		field(r, at, h, off, e, 8);
		memcpy(&flags, e + 4, 4);
		if (e[1] >= 8)
			add_cpu(out, e[3], flags);
		break;
	case MADT_IOAPIC:
		field(r, at, h, off, e, 12);
		if (e[1] < 12 || out->ioapic_base)
			break;
		memcpy(&id, e + 4, 4);
		out->ioapic_base = id;
		memcpy(&out->ioapic_gsi_base, e + 8, 4);
		break;
	case MADT_OVERRIDE:
		field(r, at, h, off, e, 10);
		if (e[1] >= 10 && !e[2] && e[3] < ACPI_ISA_IRQS)
			memcpy(&out->isa_gsi[e[3]], e + 4, 4);
		break;
	case MADT_LOCAL_X2APIC:
		field(r, at, h, off, e, 16);
		memcpy(&id, e + 4, 4);
		memcpy(&flags, e + 8, 4);
		if (e[1] >= 16)
			add_cpu(out, id, flags);
		break;
	}
}

static void parse_madt(const struct acpi_reader *r, uint64_t at, const struct sdt *h,
		       struct acpi_info *out)
{
	uint32_t off = 44;
	uint8_t e[2];

	/* A second one, or the same one listed twice, would double the CPUs. */
	if (out->have_madt)
		return;
	out->have_madt = true;
	while (off + 2 <= h->length) {
		field(r, at, h, off, e, 2);
		if (e[1] < 2 || e[1] > h->length - off)
			break;
		parse_madt_entry(r, at, h, off, out);
		off += e[1];
	}
}

static void parse_fadt(const struct acpi_reader *r, uint64_t at, const struct sdt *h,
		       struct acpi_info *out)
{
	uint32_t pm_tmr, pm1a, flags;
	struct gas reset;

	field(r, at, h, 64, &pm1a, 4);
	field(r, at, h, 76, &pm_tmr, 4);
	field(r, at, h, 112, &flags, 4);
	field(r, at, h, 116, &reset, sizeof(reset));
	out->pm_timer_port = pm_tmr < PORTS ? (uint16_t)pm_tmr : 0;
	out->pm_timer_32bit = flags & BIT(8);
	out->pm1a_cnt_port = pm1a < PORTS ? (uint16_t)pm1a : 0;
	if ((flags & BIT(10)) && reset.space == GAS_IO && reset.address && reset.address < PORTS) {
		out->reset_io = true;
		out->reset_port = (uint16_t)reset.address;
		field(r, at, h, 128, &out->reset_value, 1);
	}
}

static void parse_hpet(const struct acpi_reader *r, uint64_t at, const struct sdt *h,
		       struct acpi_info *out)
{
	struct gas g;

	field(r, at, h, 40, &g, sizeof(g));
	if (g.space == GAS_MEMORY)
		out->hpet_base = g.address;
}

static void parse_spcr(const struct acpi_reader *r, uint64_t at, const struct sdt *h,
		       struct acpi_info *out)
{
	struct gas g;
	uint8_t type;

	field(r, at, h, 36, &type, 1);
	field(r, at, h, 40, &g, sizeof(g));
	/* 0: 16550, 1: 16450-like, 0x12: 16550 with a parameterized stride. */
	if ((type > 1 && type != 0x12) || g.space > GAS_IO || !g.address ||
	    (g.space == GAS_IO && g.address > PORTS - UART_PORTS))
		return;
	out->have_spcr = true;
	out->spcr_mmio = g.space == GAS_MEMORY;
	out->spcr_base = g.address;
	out->spcr_stride = out->spcr_mmio && g.width >= 32 ? 4 : 1;
}

static void parse_table(const struct acpi_reader *r, uint64_t at, struct acpi_info *out)
{
	static const struct {
		char signature[5];
		void (*parse)(const struct acpi_reader *, uint64_t, const struct sdt *,
			      struct acpi_info *);
	} known[] = { { "APIC", parse_madt }, { "FACP", parse_fadt }, { "HPET", parse_hpet },
		      { "SPCR", parse_spcr } };
	struct sdt h;

	if (!at || !r->read(r->ctx, HPA(at), &h, sizeof(h)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (memcmp(h.signature, known[i].signature, 4))
			continue;
		if (h.length < sizeof(h) || h.length > MAX_TABLE || !sum_is_zero(r, at, h.length))
			return;
		known[i].parse(r, at, &h, out);
	}
}

/* The extended part has a checksum of its own. */
static bool has_xsdt(const struct acpi_reader *r, hpa_t at, struct rsdp *p)
{
	return p->revision >= 2 && r->read(r->ctx, at, p, sizeof(*p)) && p->xsdt &&
	       p->length >= sizeof(*p) && p->length <= PAGE_SIZE && sum_is_zero(r, at.v, p->length);
}

enum hv_status acpi_parse(const struct acpi_reader *r, hpa_t rsdp_at, struct acpi_info *out)
{
	struct rsdp p = { 0 };
	uint64_t root, entry;
	unsigned width = 4;
	struct sdt h;
	uint32_t entry32;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < ACPI_ISA_IRQS; i++)
		out->isa_gsi[i] = i;
	if (!hpa_valid(rsdp_at) || !r->read(r->ctx, rsdp_at, &p, RSDP_V1_SIZE) ||
	    memcmp(p.signature, "RSD PTR ", 8) || !sum_is_zero(r, rsdp_at.v, RSDP_V1_SIZE))
		return HV_NOENT;
	root = p.rsdt;
	if (has_xsdt(r, rsdp_at, &p)) {
		root = p.xsdt;
		width = 8;
	}
	if (!r->read(r->ctx, HPA(root), &h, sizeof(h)) || h.length < sizeof(h) ||
	    h.length > MAX_TABLE || memcmp(h.signature, width == 8 ? "XSDT" : "RSDT", 4) ||
	    !sum_is_zero(r, root, h.length))
		return HV_NOENT;
	for (uint32_t i = 0; i < (h.length - sizeof(h)) / width && i < MAX_TABLES; i++) {
		if (width == 8) {
			field(r, root, &h, (uint32_t)sizeof(h) + i * 8, &entry, 8);
		} else {
			field(r, root, &h, (uint32_t)sizeof(h) + i * 4, &entry32, 4);
			entry = entry32;
		}
		parse_table(r, entry, out);
	}
	return HV_OK;
}
