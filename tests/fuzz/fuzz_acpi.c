/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_acpi: any bytes as physical memory with ACPI tables in it, and tables of
 * any content whose signatures, lengths and checksums are right.
 *
 *   make build/fuzz/fuzz_acpi && build/fuzz/fuzz_acpi -max_total_time=60 -max_len=8192
 */
#include "drivers/acpi.h"
#include "hv/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RSDP	   0x1000ULL
#define ROOT	   0x1100ULL
#define TABLES	   0x2000ULL
#define TABLE_STEP 0x800
#define TABLE_MAX  6
#define MEM_SIZE   (TABLES + TABLE_MAX * TABLE_STEP)

struct mem {
	const uint8_t *data;
	size_t size;
	uint64_t reads;
};

static bool read_mem(void *ctx, hpa_t at, void *dst, size_t len)
{
	struct mem *m = ctx;

	m->reads++;
	if (at.v > m->size || len > m->size - at.v)
		return false;
	memcpy(dst, m->data + at.v, len);
	return true;
}

static void parse(const uint8_t *data, size_t size, uint64_t rsdp)
{
	struct mem m = { data, size, 0 };
	struct acpi_info info;
	enum hv_status st = acpi_parse(&(struct acpi_reader){ &m, read_mem }, HPA(rsdp), &info);

	HV_ASSERT(st == HV_OK || (st == HV_NOENT && !info.have_madt && !info.cpu_count));
	HV_ASSERT(info.cpu_count <= ACPI_MAX_CPUS);
	HV_ASSERT(!info.cpus_beyond || info.cpu_count == ACPI_MAX_CPUS);
	HV_ASSERT(!info.cpu_count || info.have_madt);
	HV_ASSERT(!info.reset_io || info.reset_port);
	HV_ASSERT(!info.have_spcr || (info.spcr_base && (info.spcr_stride == 1 || info.spcr_stride == 4)));
	HV_ASSERT(!info.have_spcr || info.spcr_mmio || info.spcr_base < 0x10000);
	/* At most 256 tables of 256 KiB, in pieces of 64 bytes, with their entries. */
	HV_ASSERT(m.reads < 256 * (4096 + 3 * 128 * KIB));
}

static void seal(uint8_t *at, size_t len, size_t where)
{
	uint8_t sum = 0;

	at[where] = 0;
	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + at[i]);
	at[where] = (uint8_t)(0 - sum);
}

static void table(uint8_t *at, const char *signature, uint32_t len)
{
	memcpy(at, signature, 4);
	memcpy(at + 4, &len, 4);
	seal(at, len, 9);
}

/* Bytes 0 and 1 of each table: which one, and how long. */
static size_t build(uint8_t *mem, const uint8_t *data, size_t size)
{
	static const char signatures[4][5] = { "APIC", "FACP", "HPET", "SPCR" };
	uint64_t root = ROOT, at = TABLES;
	uint32_t count = 0;

	memcpy(mem + RSDP, "RSD PTR ", 8);
	mem[RSDP + 15] = 2;
	mem[RSDP + 20] = 36;
	memcpy(mem + RSDP + 24, &root, 8);
	seal(mem + RSDP, 20, 8);
	seal(mem + RSDP, 36, 32);
	for (; count < TABLE_MAX && size > 2; count++, at += TABLE_STEP) {
		size_t len = min_u64(36 + data[1] * 8u, TABLE_STEP), n = min_u64(len - 36, size - 2);

		memcpy(mem + at + 36, data + 2, n);
		table(mem + at, signatures[data[0] & 3], (uint32_t)len);
		memcpy(mem + ROOT + 36 + 8 * count, &at, 8);
		data += 2 + n;
		size -= 2 + n;
	}
	table(mem + ROOT, "XSDT", 36 + 8 * count);
	return MEM_SIZE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t mem[MEM_SIZE];

	if (size < 2)
		return 0;
	if (data[0] & 1) {
		memset(mem, 0, sizeof(mem));
		parse(mem, build(mem, data + 1, size - 1), RSDP);
	} else {
		parse(data + 2, size - 2, data[1]);
	}
	return 0;
}
