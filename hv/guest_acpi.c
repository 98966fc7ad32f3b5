/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_acpi: ACPI tables for a guest.
 *
 * Called from: construction of a VM.  Invariant: every address in a table is
 * base plus the offset at which the table was put, every checksum sums to 0.
 * Pure (tests/host/test_guest_acpi.c).  Spec: ACPI 6.4, 5.2; the fields bear the
 * specification's names.
 */
#include "hv/dev/acpi_pm.h"
#include "hv/dev/ioapic.h"
#include "hv/dev/lapic.h"
#include "hv/dev/pit.h"
#include "hv/dev/reset.h"
#include "hv/dev/rtc.h"
#include "hv/guest_acpi.h"

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt_address, length;
	uint64_t xsdt_address;
	uint8_t extended_checksum, reserved[3];
} __packed;
_Static_assert(sizeof(struct rsdp) == 36, "ACPI 5.2.5.3");
#define RSDP_V1_LEN 20

struct header {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem_id[6], oem_table_id[8];
	uint32_t oem_revision;
	char creator_id[4];
	uint32_t creator_revision;
} __packed;
_Static_assert(sizeof(struct header) == 36, "ACPI 5.2.6");

struct gas {
	uint8_t address_space_id, register_bit_width, register_bit_offset, access_size;
	uint64_t address;
} __packed;
_Static_assert(sizeof(struct gas) == 12, "ACPI 5.2.3.2");

struct fadt {
	struct header h;
	uint32_t firmware_ctrl, dsdt;
	uint8_t reserved1, preferred_pm_profile;
	uint16_t sci_int;
	uint32_t smi_cmd;
	uint8_t acpi_enable, acpi_disable, s4bios_req, pstate_cnt;
	uint32_t pm1a_evt_blk, pm1b_evt_blk, pm1a_cnt_blk, pm1b_cnt_blk;
	uint32_t pm2_cnt_blk, pm_tmr_blk, gpe0_blk, gpe1_blk;
	uint8_t pm1_evt_len, pm1_cnt_len, pm2_cnt_len, pm_tmr_len;
	uint8_t gpe0_blk_len, gpe1_blk_len, gpe1_base, cst_cnt;
	uint16_t p_lvl2_lat, p_lvl3_lat, flush_size, flush_stride;
	uint8_t duty_offset, duty_width, day_alrm, mon_alrm, century;
	uint16_t iapc_boot_arch;
	uint8_t reserved2;
	uint32_t flags;
	struct gas reset_reg;
	uint8_t reset_value;
	uint16_t arm_boot_arch;
	uint8_t minor_version;
	uint64_t x_firmware_ctrl, x_dsdt;
	struct gas x_pm1a_evt_blk, x_pm1b_evt_blk, x_pm1a_cnt_blk, x_pm1b_cnt_blk;
	struct gas x_pm2_cnt_blk, x_pm_tmr_blk, x_gpe0_blk, x_gpe1_blk;
	struct gas sleep_control_reg, sleep_status_reg;
	uint64_t hypervisor_vendor;
} __packed;
_Static_assert(offsetof(struct fadt, sci_int) == 46, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, pm1a_evt_blk) == 56, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, pm_tmr_blk) == 76, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, century) == 108, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, flags) == 112, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, reset_value) == 128, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, x_dsdt) == 140, "ACPI 5.2.9");
_Static_assert(offsetof(struct fadt, x_pm_tmr_blk) == 208, "ACPI 5.2.9");
_Static_assert(sizeof(struct fadt) == 276, "ACPI 5.2.9");

#define FADT_REVISION		  6
#define FADT_MINOR		  4
#define BOOT_LEGACY_DEVICES	  BIT(0)
#define BOOT_VGA_NOT_PRESENT	  BIT(2)
#define FLAG_WBINVD		  BIT(0)
#define FLAG_PROC_C1		  BIT(2)
#define FLAG_SLP_BUTTON		  BIT(5) /* no fixed sleep button */
#define FLAG_FIX_RTC		  BIT(6) /* no fixed RTC wake status */
#define FLAG_TMR_VAL_EXT	  BIT(8)
#define FLAG_RESET_REG_SUP	  BIT(10)
#define PROFILE_ENTERPRISE_SERVER 4
#define GAS_IO			  1
#define LAT_UNSUPPORTED_C2	  101
#define LAT_UNSUPPORTED_C3	  1001
#define RESET_VALUE		  0x06

struct facs {
	char signature[4];
	uint32_t length, hardware_signature, firmware_waking_vector, global_lock, flags;
	uint64_t x_firmware_waking_vector;
	uint8_t version, reserved[3];
	uint32_t ospm_flags;
	uint8_t reserved2[24];
} __packed;
_Static_assert(sizeof(struct facs) == 64, "ACPI 5.2.10");

struct madt {
	struct header h;
	uint32_t local_interrupt_controller_address, flags;
} __packed;
_Static_assert(sizeof(struct madt) == 44, "ACPI 5.2.12");
#define PCAT_COMPAT BIT(0)

struct madt_lapic {
	uint8_t type, length, processor_uid, apic_id;
	uint32_t flags;
} __packed;
_Static_assert(sizeof(struct madt_lapic) == 8, "type 0");

struct madt_ioapic {
	uint8_t type, length, ioapic_id, reserved;
	uint32_t address, gsi_base;
} __packed;
_Static_assert(sizeof(struct madt_ioapic) == 12, "type 1");

struct madt_override {
	uint8_t type, length, bus, source;
	uint32_t gsi;
	uint16_t flags;
} __packed;
_Static_assert(sizeof(struct madt_override) == 10, "type 2");

struct madt_lapic_nmi {
	uint8_t type, length, processor_uid;
	uint16_t flags;
	uint8_t lint;
} __packed;
_Static_assert(sizeof(struct madt_lapic_nmi) == 6, "type 4");

struct madt_x2apic {
	uint8_t type, length;
	uint16_t reserved;
	uint32_t x2apic_id, flags, processor_uid;
} __packed;
_Static_assert(sizeof(struct madt_x2apic) == 16, "type 9");

struct madt_x2apic_nmi {
	uint8_t type, length;
	uint16_t flags;
	uint32_t processor_uid;
	uint8_t lint, reserved[3];
} __packed;
_Static_assert(sizeof(struct madt_x2apic_nmi) == 12, "type 10");

enum {
	MADT_LAPIC = 0,
	MADT_IOAPIC = 1,
	MADT_OVERRIDE = 2,
	MADT_LAPIC_NMI = 4,
	MADT_X2APIC = 9,
	MADT_X2APIC_NMI = 10
};

#define CPU_ENABLED	BIT(0)
#define ACTIVE_HIGH	1
#define LEVEL_TRIGGERED (3 << 2)
#define TIMER_PIN	2
#define LINT_NMI	1
/* Larger IDs do not fit type 0; 0xff there means "all processors" in NMI entries. */
#define XAPIC_ID_LIMIT 255

/* The buffer as it fills up. */
struct out {
	uint8_t *buf;
	size_t cap, len;
	uint64_t base;
	bool full;
};

static void put(struct out *o, const void *p, size_t len)
{
	if (o->full || len > o->cap - o->len) {
		o->full = true;
		return;
	}
	memcpy(o->buf + o->len, p, len);
	o->len += len;
}

static void align(struct out *o, size_t to)
{
	static const uint8_t zero[64];

	put(o, zero, -o->len & (to - 1));
}

static uint8_t checksum(const uint8_t *p, size_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum += *p++;
	return (uint8_t)-sum;
}

static void init_header(struct header *h, const char *signature, size_t len, uint8_t revision)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->signature, signature, 4);
	h->length = (uint32_t)len;
	h->revision = revision;
	memcpy(h->oem_id, "FAULTL", 6);
	memcpy(h->oem_table_id, "FLINEVM ", 8);
	h->oem_revision = 1;
	memcpy(h->creator_id, "FLIN", 4);
	h->creator_revision = 1;
}

/* Fixes length and checksum of the table that began at @start. */
static void finish(struct out *o, size_t start)
{
	uint8_t *p = o->buf + start;
	uint32_t len = (uint32_t)(o->len - start);
	uint8_t sum;

	if (o->full)
		return;
	memcpy(p + offsetof(struct header, length), &len, sizeof(len));
	p[offsetof(struct header, checksum)] = 0;
	sum = checksum(p, len);
	p[offsetof(struct header, checksum)] = sum;
}

static struct gas io_register(uint32_t port, uint8_t bytes)
{
	return (struct gas){
		.address_space_id = GAS_IO,
		.register_bit_width = (uint8_t)(bytes * 8),
		.access_size = (uint8_t)(bytes == 4 ? 3 : bytes), /* 1, 2, 3: byte, word, dword */
		.address = port,
	};
}

static void put_fadt(struct out *o, uint64_t facs, uint64_t dsdt)
{
	struct fadt f = {
		.firmware_ctrl = (uint32_t)facs,
		.dsdt = (uint32_t)dsdt,
		.preferred_pm_profile = PROFILE_ENTERPRISE_SERVER,
		.sci_int = ACPI_SCI_IRQ,
		.pm1a_evt_blk = ACPI_PM1A_EVT,
		.pm1a_cnt_blk = ACPI_PM1A_CNT,
		.pm_tmr_blk = ACPI_PM_TMR,
		.pm1_evt_len = ACPI_PM1A_EVT_LEN,
		.pm1_cnt_len = ACPI_PM1A_CNT_LEN,
		.pm_tmr_len = ACPI_PM_TMR_LEN,
		.p_lvl2_lat = LAT_UNSUPPORTED_C2,
		.p_lvl3_lat = LAT_UNSUPPORTED_C3,
		.century = RTC_CENTURY,
		.iapc_boot_arch = BOOT_LEGACY_DEVICES | BOOT_VGA_NOT_PRESENT,
		.flags = FLAG_WBINVD | FLAG_PROC_C1 | FLAG_SLP_BUTTON | FLAG_FIX_RTC |
			 FLAG_TMR_VAL_EXT | FLAG_RESET_REG_SUP,
		.reset_reg = io_register(RESET_CF8_PORT + 1, 1),
		.reset_value = RESET_VALUE,
		.minor_version = FADT_MINOR,
		.x_dsdt = dsdt,
		.x_pm1a_evt_blk = io_register(ACPI_PM1A_EVT, ACPI_PM1A_EVT_LEN),
		.x_pm1a_cnt_blk = io_register(ACPI_PM1A_CNT, ACPI_PM1A_CNT_LEN),
		.x_pm_tmr_blk = io_register(ACPI_PM_TMR, ACPI_PM_TMR_LEN),
	};
	size_t start = o->len;

	/* The event block is two words: it must not be accessed as one dword. */
	f.x_pm1a_evt_blk.access_size = 2;
	init_header(&f.h, "FACP", sizeof(f), FADT_REVISION);
	put(o, &f, sizeof(f));
	finish(o, start);
}

static void put_facs(struct out *o)
{
	struct facs f = {.signature = {'F', 'A', 'C', 'S'}, .length = sizeof(f), .version = 2};

	put(o, &f, sizeof(f));
}

static void put_cpu(struct out *o, unsigned uid, uint32_t apic_id)
{
	struct madt_lapic small = {MADT_LAPIC, sizeof(small), (uint8_t)uid, (uint8_t)apic_id,
				   CPU_ENABLED};
	struct madt_x2apic large = {MADT_X2APIC, sizeof(large), 0, apic_id, CPU_ENABLED, uid};

	if (apic_id < XAPIC_ID_LIMIT)
		put(o, &small, sizeof(small));
	else
		put(o, &large, sizeof(large));
}

static void put_override(struct out *o, uint8_t irq, uint32_t gsi, uint16_t flags)
{
	struct madt_override e = {MADT_OVERRIDE, sizeof(e), 0, irq, gsi, flags};

	put(o, &e, sizeof(e));
}

static void put_madt(struct out *o, const struct guest_acpi *g)
{
	struct madt m = {.local_interrupt_controller_address = (uint32_t)LAPIC_BASE,
			 .flags = PCAT_COMPAT};
	struct madt_ioapic io = {MADT_IOAPIC, sizeof(io), 0, 0, (uint32_t)IOAPIC_BASE, 0};
	struct madt_lapic_nmi nmi = {MADT_LAPIC_NMI, sizeof(nmi), 0xff, 0, LINT_NMI};
	struct madt_x2apic_nmi nmi_x2 = {MADT_X2APIC_NMI, sizeof(nmi_x2), 0,
					 0xffffffff,	  LINT_NMI,	  {0}};
	size_t start = o->len;
	bool large = false;

	init_header(&m.h, "APIC", sizeof(m), 5);
	put(o, &m, sizeof(m));
	for (unsigned i = 0; i < g->cpus; i++) {
		put_cpu(o, i, g->apic_ids[i]);
		large |= g->apic_ids[i] >= XAPIC_ID_LIMIT;
	}
	put(o, &io, sizeof(io));
	put_override(o, PIT_IRQ, TIMER_PIN, 0);
	put_override(o, ACPI_SCI_IRQ, ACPI_SCI_IRQ, ACTIVE_HIGH | LEVEL_TRIGGERED);
	put(o, &nmi, sizeof(nmi));
	if (large)
		put(o, &nmi_x2, sizeof(nmi_x2));
	finish(o, start);
}

static void put_xsdt(struct out *o, uint64_t fadt, uint64_t madt)
{
	struct header h;
	size_t start = o->len;

	init_header(&h, "XSDT", sizeof(h), 1);
	put(o, &h, sizeof(h));
	put(o, &fadt, sizeof(fadt));
	put(o, &madt, sizeof(madt));
	finish(o, start);
}

/* The RSDP has its room at the start of the buffer since the beginning. */
static void set_rsdp(struct out *o, uint64_t xsdt)
{
	struct rsdp r = {.revision = 2, .length = sizeof(r), .xsdt_address = xsdt};

	memcpy(r.signature, "RSD PTR ", 8);
	memcpy(r.oem_id, "FAULTL", 6);
	r.checksum = checksum((const uint8_t *)&r, RSDP_V1_LEN);
	r.extended_checksum = checksum((const uint8_t *)&r, sizeof(r));
	memcpy(o->buf, &r, sizeof(r));
}

static bool dsdt_valid(const struct guest_acpi *g)
{
	struct header h;

	if (g->dsdt_len < sizeof(h))
		return false;
	memcpy(&h, g->dsdt, sizeof(h));
	return !memcmp(h.signature, "DSDT", 4) && h.length == g->dsdt_len &&
	       checksum(g->dsdt, g->dsdt_len) == 0;
}

enum hv_status guest_acpi_build(const struct guest_acpi *g, void *buf, size_t cap, size_t *len)
{
	struct out o = {.buf = buf, .cap = cap, .base = g->base};
	struct rsdp room = {0};
	uint64_t facs, dsdt, fadt, madt, xsdt;

	if (!dsdt_valid(g))
		return HV_INVAL;
	put(&o, &room, sizeof(room));
	align(&o, 64);
	facs = o.base + o.len;
	put_facs(&o);
	dsdt = o.base + o.len;
	put(&o, g->dsdt, g->dsdt_len);
	align(&o, 16);
	fadt = o.base + o.len;
	put_fadt(&o, facs, dsdt);
	align(&o, 16);
	madt = o.base + o.len;
	put_madt(&o, g);
	align(&o, 16);
	xsdt = o.base + o.len;
	put_xsdt(&o, fadt, madt);
	if (o.full)
		return HV_NOMEM;
	set_rsdp(&o, xsdt);
	*len = o.len;
	return HV_OK;
}
