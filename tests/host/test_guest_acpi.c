/* SPDX-License-Identifier: BSD-2-Clause */
/* guest_acpi: by reading the tables the way a guest does, field by field at its offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/guest_acpi.h"

#define BASE GUEST_ACPI_BASE

static uint8_t buf[GUEST_ACPI_ROOM];
static uint8_t dsdt[100];
static const uint32_t ids[] = {0, 1, 254, 255, 0x1234};

static uint64_t get(uint64_t gpa, unsigned bytes)
{
	uint64_t v = 0;

	assert_true(gpa >= BASE && gpa + bytes <= BASE + sizeof(buf));
	memcpy(&v, buf + (gpa - BASE), bytes);
	return v;
}

static uint8_t sum(uint64_t gpa, uint64_t len)
{
	uint8_t s = 0;

	for (uint64_t i = 0; i < len; i++)
		s = (uint8_t)(s + get(gpa + i, 1));
	return s;
}

/* Checks signature, length and sum of a table. */
static uint64_t table(uint64_t gpa, const char *sig)
{
	assert_memory_equal(buf + (gpa - BASE), sig, 4);
	assert_int_equal(sum(gpa, get(gpa + 4, 4)), 0);
	return gpa;
}

static struct guest_acpi config(unsigned cpus)
{
	memset(buf, 0xaa, sizeof(buf));
	memset(dsdt, 0x5a, sizeof(dsdt));
	memcpy(dsdt, "DSDT", 4);
	memcpy(dsdt + 4, &(uint32_t){sizeof(dsdt)}, 4);
	dsdt[9] = 0;
	for (unsigned i = 0; i < sizeof(dsdt); i++)
		dsdt[9] = (uint8_t)(dsdt[9] - (i == 9 ? 0 : dsdt[i]));
	return (struct guest_acpi){.base = BASE,
				   .apic_ids = ids,
				   .cpus = cpus,
				   .dsdt = dsdt,
				   .dsdt_len = sizeof(dsdt)};
}

static uint64_t build(unsigned cpus)
{
	struct guest_acpi g = config(cpus);
	size_t len = 0;

	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &len), HV_OK);
	assert_true(len > 500 && len < 2000);
	assert_int_equal(buf[len], 0xaa);
	/* RSDP: both sums, revision 2, no RSDT. */
	assert_memory_equal(buf, "RSD PTR ", 8);
	assert_int_equal(sum(BASE, 20), 0);
	assert_int_equal(sum(BASE, 36), 0);
	assert_int_equal(get(BASE + 15, 1), 2);
	assert_int_equal(get(BASE + 16, 4), 0);
	assert_int_equal(get(BASE + 20, 4), 36);
	return table(get(BASE + 24, 8), "XSDT");
}

static void fadt(void **s)
{
	uint64_t xsdt = build(2), f = table(get(xsdt + 36, 8), "FACP");
	uint64_t facs = get(f + 36, 4);

	(void)s;
	assert_int_equal(get(xsdt + 4, 4), 36 + 2 * 8);
	assert_int_equal(get(f + 4, 4), 276);
	assert_int_equal(get(f + 8, 1), 6);
	assert_int_equal(facs % 64, 0);
	assert_memory_equal(buf + (facs - BASE), "FACS", 4);
	assert_int_equal(get(facs + 4, 4), 64);
	assert_int_equal(get(f + 132, 8), 0);
	table(get(f + 40, 4), "DSDT");
	assert_int_equal(get(f + 40, 4), get(f + 140, 8));
	assert_int_equal(get(f + 46, 2), 9);
	assert_int_equal(get(f + 48, 4), 0); /* no SMI command: always in ACPI mode */
	assert_int_equal(get(f + 56, 4), 0x600);
	assert_int_equal(get(f + 64, 4), 0x604);
	assert_int_equal(get(f + 76, 4), 0x608);
	assert_int_equal(get(f + 88, 4), 0x04000204); /* lengths: 4, 2, 0, 4 */
	assert_int_equal(get(f + 108, 1), 0x32);
	assert_int_equal(get(f + 109, 2), 0x0005); /* legacy devices, no VGA, no 8042 */
	assert_int_equal(get(f + 112, 4), 0x565);
	assert_int_equal(get(f + 116, 4), 0x01000801); /* I/O, 8 bits, byte access */
	assert_int_equal(get(f + 120, 8), 0xcf9);
	assert_int_equal(get(f + 128, 1), 6);
	assert_int_equal(get(f + 148, 4), 0x02002001);
	assert_int_equal(get(f + 152, 8), 0x600);
	assert_int_equal(get(f + 176, 8), 0x604);
	assert_int_equal(get(f + 208, 4), 0x03002001);
	assert_int_equal(get(f + 212, 8), 0x608);
}

static void madt(void **s)
{
	static const uint8_t want[] = {
		0,  8,	0,   0,	  1,	0,    0,    0,				    /* CPU 0 */
		0,  8,	1,   1,	  1,	0,    0,    0,				    /* CPU 1 */
		0,  8,	2,   254, 1,	0,    0,    0,				    /* CPU 2 */
		9,  16, 0,   0,	  255,	0,    0,    0,	 1,    0, 0, 0, 3, 0, 0, 0, /* CPU 3: x2APIC
										     */
		9,  16, 0,   0,	  0x34, 0x12, 0,    0,	 1,    0, 0, 0, 4, 0, 0, 0, 1,
		12, 0,	0,   0,	  0,	0xc0, 0xfe, 0,	 0,    0, 0, /* I/O APIC */
		2,  10, 0,   0,	  2,	0,    0,    0,	 0,    0,    /* IRQ 0 is pin 2 */
		2,  10, 0,   9,	  9,	0,    0,    0,	 0x0d, 0,    /* SCI: level, high */
		4,  6,	255, 0,	  0,	1,			     /* LINT1 is NMI */
		10, 12, 0,   0,	  255,	255,  255,  255, 1,    0, 0, 0,
	};
	uint64_t xsdt = build(5), m = table(get(xsdt + 44, 8), "APIC");

	(void)s;
	assert_int_equal(get(m + 36, 4), 0xfee00000);
	assert_int_equal(get(m + 40, 4), 1);
	assert_int_equal(get(m + 4, 4), 44 + sizeof(want));
	assert_memory_equal(buf + (m + 44 - BASE), want, sizeof(want));
	/* Without large IDs there is no x2APIC entry at all. */
	xsdt = build(2);
	m = table(get(xsdt + 44, 8), "APIC");
	assert_int_equal(get(m + 4, 4), 44 + 2 * 8 + 12 + 2 * 10 + 6);
}

static void checks_capacity(void **s)
{
	struct guest_acpi g = config(5);
	size_t need = 0, len = 0;

	(void)s;
	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &need), HV_OK);
	for (size_t cap = 0; cap <= need; cap++) {
		memset(buf, 0xaa, sizeof(buf));
		assert_int_equal(guest_acpi_build(&g, buf, cap, &len),
				 cap < need ? HV_NOMEM : HV_OK);
		assert_int_equal(buf[cap], 0xaa);
	}
	assert_int_equal(len, need);
}

static void checks_the_dsdt(void **s)
{
	struct guest_acpi g = config(1);
	size_t len;

	(void)s;
	g.dsdt_len = 35;
	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &len), HV_INVAL);
	g.dsdt_len = 99;
	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &len), HV_INVAL);
	g = config(1);
	dsdt[50] ^= 1;
	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &len), HV_INVAL);
	g = config(1);
	dsdt[0] = 'S';
	dsdt[9] = (uint8_t)(dsdt[9] + 'D' - 'S');
	assert_int_equal(guest_acpi_build(&g, buf, sizeof(buf), &len), HV_INVAL);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(fadt),
		cmocka_unit_test(madt),
		cmocka_unit_test(checks_capacity),
		cmocka_unit_test(checks_the_dsdt),
	};
	return cmocka_run_group_tests_name("guest_acpi", t, NULL, NULL);
}
