/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "drivers/acpi.h"

#define BASE	 0x7fe00000ULL
#define RSDP	 (BASE + 0x000)
#define RSDT	 (BASE + 0x100)
#define XSDT	 (BASE + 0x200)
#define MADT	 (BASE + 0x400)
#define FADT	 (BASE + 0x600)
#define HPET	 (BASE + 0x800)
#define SPCR	 (BASE + 0x900)
#define MEM_SIZE 0x2000

static uint8_t mem[MEM_SIZE];
static uint64_t readable; /* bytes from BASE */
static struct acpi_info info;

static bool read_mem(void *ctx, hpa_t at, void *dst, size_t len)
{
	assert_ptr_equal(ctx, mem);
	if (at.v < BASE || at.v - BASE > readable || len > readable - (at.v - BASE))
		return false;
	memcpy(dst, mem + (at.v - BASE), len);
	return true;
}

static uint8_t *at(uint64_t a)
{
	return mem + (a - BASE);
}

static void put(uint64_t a, uint64_t v, size_t n)
{
	memcpy(at(a), &v, n);
}

static void seal(uint64_t a, size_t len, size_t where)
{
	uint8_t sum = 0;

	at(a)[where] = 0;
	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + at(a)[i]);
	at(a)[where] = (uint8_t)(0 - sum);
}

static void table(uint64_t a, const char *signature, uint32_t len)
{
	memcpy(at(a), signature, 4);
	put(a + 4, len, 4);
	seal(a, len, 9);
}

static uint32_t length(uint64_t a)
{
	uint32_t len;

	memcpy(&len, at(a) + 4, 4);
	return len;
}

static void local_apic(uint64_t *a, uint8_t id, uint32_t flags)
{
	put(*a, (uint64_t)id << 24 | 8 << 8, 4);
	put(*a + 4, flags, 4);
	*a += 8;
}

static void x2apic(uint64_t *a, uint32_t id, uint32_t flags)
{
	put(*a, 16 << 8 | 9, 4);
	put(*a + 4, id, 4);
	put(*a + 8, flags, 4);
	*a += 16;
}

static void build_madt(void)
{
	uint64_t a = MADT + 44;

	local_apic(&a, 0, 1);
	put(a, 12 << 8 | 1, 2); /* an I/O APIC */
	a += 12;
	local_apic(&a, 2, 1);
	local_apic(&a, 4, 0); /* not enabled */
	local_apic(&a, 6, 2); /* online capable only */
	x2apic(&a, 0x100, 1);
	x2apic(&a, 0x102, 0);
	table(MADT, "APIC", (uint32_t)(a - MADT));
}

static void build_fadt(void)
{
	put(FADT + 64, 0x604, 4);
	put(FADT + 76, 0x608, 4);
	put(FADT + 112, BIT(8) | BIT(10), 4);
	put(FADT + 116, 1 | 8 << 8, 4);
	put(FADT + 120, 0xcf9, 8);
	put(FADT + 128, 6, 1);
	table(FADT, "FACP", 244);
}

static void build_rsdp(void)
{
	memcpy(at(RSDP), "RSD PTR ", 8);
	put(RSDP + 15, 2, 1);
	put(RSDP + 16, RSDT, 4);
	put(RSDP + 20, 36, 4);
	put(RSDP + 24, XSDT, 8);
	seal(RSDP, 20, 8);
	seal(RSDP, 36, 32);
}

static void build(void)
{
	memset(mem, 0, sizeof(mem));
	readable = sizeof(mem);
	build_madt();
	build_fadt();
	put(HPET + 40, 0 | 64 << 8, 4);
	put(HPET + 44, 0xfed00000, 8);
	table(HPET, "HPET", 56);
	put(SPCR + 40, 0 | 32 << 8, 4);
	put(SPCR + 44, 0xfe034000, 8);
	table(SPCR, "SPCR", 80);
	put(XSDT + 36, MADT, 8);
	put(XSDT + 44, FADT, 8);
	put(XSDT + 52, 0, 8);
	put(XSDT + 60, HPET, 8);
	put(XSDT + 68, SPCR, 8);
	table(XSDT, "XSDT", 76);
	put(RSDT + 36, MADT, 4);
	table(RSDT, "RSDT", 40);
	build_rsdp();
}

static enum hv_status parse(void)
{
	return acpi_parse(&(struct acpi_reader){mem, read_mem}, HPA(RSDP), &info);
}

static void assert_cpus(void)
{
	assert_true(info.have_madt);
	assert_int_equal(info.cpu_count, 3);
	assert_int_equal(info.cpu_apic_id[0], 0);
	assert_int_equal(info.cpu_apic_id[1], 2);
	assert_int_equal(info.cpu_apic_id[2], 0x100);
}

static void good_tables(void **s)
{
	(void)s;
	build();
	assert_int_equal(parse(), HV_OK);
	assert_cpus();
	assert_int_equal(info.cpus_beyond, 0);
	assert_int_equal(info.pm1a_cnt_port, 0x604);
	assert_int_equal(info.pm_timer_port, 0x608);
	assert_true(info.pm_timer_32bit);
	assert_true(info.reset_io);
	assert_int_equal(info.reset_port, 0xcf9);
	assert_int_equal(info.reset_value, 6);
	assert_int_equal(info.hpet_base, 0xfed00000);
	assert_true(info.have_spcr && info.spcr_mmio);
	assert_int_equal(info.spcr_base, 0xfe034000);
	assert_int_equal(info.spcr_stride, 4);
}

/* The RSDT has the MADT only. */
static void assert_rsdt_is_used(void)
{
	assert_int_equal(parse(), HV_OK);
	assert_cpus();
	assert_int_equal(info.hpet_base, 0);
}

static void old_root(void **s)
{
	(void)s;
	build();
	put(RSDP + 15, 0, 1);
	seal(RSDP, 20, 8);
	assert_rsdt_is_used();
	build();
	put(RSDP + 24, 0, 8);
	seal(RSDP, 36, 32);
	assert_rsdt_is_used();
	build();
	at(RSDP)[32]++; /* the extended checksum */
	assert_rsdt_is_used();
	build();
	put(RSDP + 20, 35, 4);
	seal(RSDP, 36, 32);
	assert_rsdt_is_used();
}

static void no_root(void **s)
{
	(void)s;
	build();
	assert_int_equal(acpi_parse(&(struct acpi_reader){mem, read_mem}, HPA_NONE, &info), HV_NOENT);
	assert_int_equal(acpi_parse(&(struct acpi_reader){mem, read_mem}, HPA(0), &info), HV_NOENT);
	for (unsigned i = 0; i < 20; i++) {
		build();
		at(RSDP)[i] ^= 0x10;
		assert_int_equal(parse(), HV_NOENT);
	}
	for (unsigned i = 0; i < 76; i++) {
		build();
		at(XSDT)[i] ^= 0x10;
		assert_int_equal(parse(), HV_NOENT);
		assert_int_equal(info.cpu_count, 0);
	}
	build();
	table(XSDT, "RSDT", 76);
	assert_int_equal(parse(), HV_NOENT);
}

static void wrong_checksums(void **s)
{
	static const uint64_t tables[] = {MADT, FADT, HPET, SPCR};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
		build();
		at(tables[i])[length(tables[i]) - 1]++;
		assert_int_equal(parse(), HV_OK);
		assert_int_equal(info.have_madt, i != 0);
		assert_int_equal(info.reset_io, i != 1);
		assert_int_equal(!!info.hpet_base, i != 2);
		assert_int_equal(info.have_spcr, i != 3);
	}
}

/* Every table at every length, its checksum right, and nothing read beyond it. */
static void every_truncation(void **s)
{
	static const struct {
		uint64_t base;
		const char *signature;
	} tables[] = {{MADT, "APIC"}, {FADT, "FACP"}, {HPET, "HPET"}, {SPCR, "SPCR"}, {XSDT, "XSDT"}};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
		build();
		for (uint32_t len = length(tables[i].base); len--;) {
			build();
			table(tables[i].base, tables[i].signature, len);
			/* The sum of less than a header is no matter; it must be refused for that. */
			assert_int_equal(parse(), i == 4 && len < 36 ? HV_NOENT : HV_OK);
			if (len < 36 && i == 0)
				assert_false(info.have_madt);
			if (len < 36 && i == 1)
				assert_false(info.reset_io || info.pm_timer_port);
			if (i != 2 && i != 4)
				assert_int_equal(info.hpet_base, 0xfed00000);
			if (i == 2 && len < 52)
				assert_int_equal(info.hpet_base, 0);
			if (i == 3 && len < 52)
				assert_false(info.have_spcr);
			assert_true(info.cpu_count <= 3);
		}
	}
}

/* The memory itself ends somewhere. */
static void unreadable_memory(void **s)
{
	(void)s;
	build();
	for (readable = 0; readable < 0x1000; readable++) {
		enum hv_status st = parse();

		if (readable < XSDT - BASE)
			assert_true(st == HV_NOENT || info.hpet_base == 0);
		if (readable >= SPCR - BASE + 80)
			assert_true(info.have_spcr);
	}
}

static void absurd_lengths(void **s)
{
	(void)s;
	build();
	put(MADT + 4, 0xffffffff, 4);
	put(XSDT + 4, 76, 4);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.have_madt);
	build();
	put(XSDT + 4, 0xffffffff, 4);
	assert_int_equal(parse(), HV_NOENT);
	build();
	put(XSDT + 36, UINT64_MAX - 8, 8);
	table(XSDT, "XSDT", 76);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.have_madt);
	assert_true(info.have_spcr);
}

static void bad_madt_entries(void **s)
{
	(void)s;
	/* Length 0 or 1 would never get on; one that reaches beyond the end is none. */
	for (uint8_t len = 0; len < 2; len++) {
		build();
		put(MADT + 53, len, 1);
		seal(MADT, length(MADT), 9);
		assert_int_equal(parse(), HV_OK);
		assert_int_equal(info.cpu_count, 1);
	}
	build();
	put(MADT + 53, 0xff, 1);
	seal(MADT, length(MADT), 9);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(info.cpu_count, 1);
	/* Shorter than its type: skipped. */
	build();
	memset(at(MADT + 44), 0, 8);
	put(MADT + 44, 4 << 8, 2);
	put(MADT + 48, 4 << 8, 2);
	seal(MADT, length(MADT), 9);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(info.cpu_count, 2);
	assert_int_equal(info.cpu_apic_id[0], 2);
}

static void more_cpus_than_fit(void **s)
{
	uint64_t a = MADT + 44;

	(void)s;
	build();
	memset(at(FADT), 0, 0x400);
	for (uint32_t i = 0; i < ACPI_MAX_CPUS + 3; i++)
		x2apic(&a, i, 1);
	table(MADT, "APIC", (uint32_t)(a - MADT));
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(info.cpu_count, ACPI_MAX_CPUS);
	assert_int_equal(info.cpus_beyond, 3);
}

/* Roots that list themselves, and the same table again and again. */
static void loops_and_repeats(void **s)
{
	(void)s;
	build();
	for (unsigned i = 0; i < 30; i++)
		put(XSDT + 36 + 8 * i, i & 1 ? XSDT : MADT, 8);
	table(XSDT, "XSDT", 36 + 30 * 8);
	assert_int_equal(parse(), HV_OK);
	assert_cpus();
	build();
	put(XSDT + 36, RSDP, 8);
	put(XSDT + 44, RSDT, 8);
	table(XSDT, "XSDT", 52);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.have_madt);
}

static void fadt_variants(void **s)
{
	(void)s;
	build();
	put(FADT + 64, 0x10604, 4);
	put(FADT + 76, 0x10608, 4);
	put(FADT + 120, 0x10cf9, 8);
	table(FADT, "FACP", 244);
	assert_int_equal(parse(), HV_OK);
	assert_int_equal(info.pm1a_cnt_port, 0);
	assert_int_equal(info.pm_timer_port, 0);
	assert_false(info.reset_io);
	build();
	put(FADT + 112, 0, 4); /* no reset register, 24-bit timer */
	table(FADT, "FACP", 244);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.reset_io || info.pm_timer_32bit);
	assert_int_equal(info.pm_timer_port, 0x608);
	build();
	put(FADT + 116, 0, 1); /* the reset register is in memory */
	table(FADT, "FACP", 244);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.reset_io);
	/* ACPI 1.0: it ends before the reset register. */
	build();
	table(FADT, "FACP", 116);
	assert_int_equal(parse(), HV_OK);
	assert_false(info.reset_io);
	assert_int_equal(info.pm_timer_port, 0x608);
}

static void spcr_variants(void **s)
{
	static const struct {
		uint8_t type, space, width;
		uint64_t address;
		bool have, mmio;
		uint32_t stride;
	} v[] = {
		{0, 1, 8, 0x3f8, true, false, 1},	{1, 1, 8, 0x2f8, true, false, 1},
		{0x12, 0, 32, 0xfe000000, true, true, 4}, {0, 0, 8, 0xfe000000, true, true, 1},
		{3, 0, 32, 0xfe000000, false, false, 0}, {0, 2, 8, 0x3f8, false, false, 0},
		{0, 1, 8, 0, false, false, 0},		{0, 1, 8, 0x10000, false, false, 0},
		{0, 1, 8, 0xfff9, false, false, 0},	{0, 1, 32, 0xfff8, true, false, 1},
	};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(v); i++) {
		build();
		put(SPCR + 36, v[i].type, 1);
		put(SPCR + 40, v[i].space | (uint64_t)v[i].width << 8, 4);
		put(SPCR + 44, v[i].address, 8);
		table(SPCR, "SPCR", 80);
		assert_int_equal(parse(), HV_OK);
		assert_int_equal(info.have_spcr, v[i].have);
		assert_int_equal(info.spcr_mmio, v[i].mmio);
		assert_int_equal(info.spcr_stride, v[i].stride);
		assert_int_equal(info.spcr_base, v[i].have ? v[i].address : 0);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(good_tables),	     cmocka_unit_test(old_root),
		cmocka_unit_test(no_root),	     cmocka_unit_test(wrong_checksums),
		cmocka_unit_test(every_truncation),  cmocka_unit_test(unreadable_memory),
		cmocka_unit_test(absurd_lengths),    cmocka_unit_test(bad_madt_entries),
		cmocka_unit_test(more_cpus_than_fit), cmocka_unit_test(loops_and_repeats),
		cmocka_unit_test(fadt_variants),     cmocka_unit_test(spcr_variants),
	};
	return cmocka_run_group_tests_name("acpi", t, NULL, NULL);
}
