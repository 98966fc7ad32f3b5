/* SPDX-License-Identifier: BSD-2-Clause */
/* load_multiboot and load_elf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/host/fake_ram.h"
#include "hv/load_elf.h"
#include "hv/load_multiboot.h"

#define INFO	 0x90000
#define FILE_LEN 0x3000
#define HDR_AT	 0x1000

struct mb_test {
	struct fake_ram ram;
	struct fake_file kernel, module[2];
	struct load_image img;
	struct load_result out;
	struct hv_error err;
	uint8_t file[FILE_LEN];
};

static void put(struct mb_test *t, unsigned at, unsigned bytes, uint64_t v)
{
	memcpy(t->file + at, &v, bytes);
}

static void put_header(struct mb_test *t, unsigned at, uint32_t flags)
{
	put(t, at, 4, 0x1badb002);
	put(t, at + 4, 4, flags);
	put(t, at + 8, 4, (uint32_t) - (0x1badb002 + flags));
}

static void start(struct mb_test *t)
{
	for (unsigned i = 0; i < FILE_LEN; i++)
		t->file[i] = (uint8_t)(i * 5 + 3);
	put_header(t, HDR_AT, 0x3);
	fake_file_init(&t->kernel, "kernel", t->file, FILE_LEN);
	t->img = (struct load_image){.kernel = &t->kernel.blob, .cmdline = "a b"};
}

/* Program header @i; 32-bit. */
static void phdr32(struct mb_test *t, unsigned i, const uint32_t (*v)[8])
{
	memcpy(t->file + 0x34 + i * 32, v, sizeof(*v));
}

/* Text at 1 MiB (virtual 0xc0100000), data with BSS at 2 MiB. */
static void elf32(struct mb_test *t)
{
	const uint32_t text[] = {1, 0x1000, 0xc0100000, 0x100000, 0x1000, 0x1000, 5, 0};
	const uint32_t data[] = {1, 0x2000, 0xc0200000, 0x200000, 0x800, 0x4000, 6, 0};
	const uint32_t note[] = {4, 0xffffffff, 0, 0, 0xffffffff, 1, 4, 0};

	start(t);
	memset(t->file, 0, 0x34);
	put(t, 0, 4, 0x464c457f);
	put(t, 4, 3, 0x010101);
	put(t, 16, 2, 2);
	put(t, 18, 2, 3);
	put(t, 20, 4, 1);
	put(t, 24, 4, 0xc0100010);
	put(t, 28, 4, 0x34);
	put(t, 40, 2, 52);
	put(t, 42, 2, 32);
	put(t, 44, 2, 3);
	phdr32(t, 0, &text);
	phdr32(t, 1, &note);
	phdr32(t, 2, &data);
}

/* One segment at 1 MiB, entered at its physical address. */
static void elf64(struct mb_test *t)
{
	start(t);
	memset(t->file, 0, 0x40 + 56);
	put(t, 0, 4, 0x464c457f);
	put(t, 4, 3, 0x010102);
	put(t, 16, 2, 2);
	put(t, 18, 2, 62);
	put(t, 20, 4, 1);
	put(t, 24, 8, 0x100020);
	put(t, 32, 8, 0x40);
	put(t, 52, 2, 64);
	put(t, 54, 2, 56);
	put(t, 56, 2, 1);
	put(t, 0x40, 4, 1);
	put(t, 0x48, 8, 0x1000);
	put(t, 0x50, 8, 0xffffffff80100000ULL);
	put(t, 0x58, 8, 0x100000);
	put(t, 0x60, 8, 0x2000);
	put(t, 0x68, 8, 0x3000);
}

/* Loaded by the header's own fields at 1 MiB, with a page of BSS. */
static void aout(struct mb_test *t)
{
	start(t);
	put_header(t, HDR_AT, 0x10003);
	put(t, HDR_AT + 12, 4, 0x101000); /* header_addr: file offset 0 is at 1 MiB */
	put(t, HDR_AT + 16, 4, 0x100800); /* load_addr */
	put(t, HDR_AT + 20, 4, 0x102800); /* load_end_addr */
	put(t, HDR_AT + 24, 4, 0x103800); /* bss_end_addr */
	put(t, HDR_AT + 28, 4, 0x101020); /* entry_addr */
}

static int setup(void **s)
{
	struct mb_test *t = calloc(1, sizeof(*t));

	fake_ram_init(&t->ram, calloc(1, FAKE_RAM_KEPT), 16 * MIB, 2 * GIB);
	*s = t;
	return 0;
}

static enum hv_status load(struct mb_test *t)
{
	enum hv_status st;

	fake_ram_clear(&t->ram);
	t->err.text[0] = 0;
	st = load_multiboot(&t->ram.env, &t->img, &t->out, &t->err);
	if (st && st != HV_IO)
		assert_true(!strncmp(t->err.text, "kernel: ", 8) ||
			    !strncmp(t->err.text, "module", 6));
	return st;
}

static void loads_elf32(void **s)
{
	struct mb_test *t = *s;
	const uint8_t *info = t->ram.byte + INFO;

	elf32(t);
	assert_true(load_multiboot_probe(&t->kernel.blob));
	assert_int_equal(load(t), HV_OK);
	assert_memory_equal(t->ram.byte + 0x100000, t->file + 0x1000, 0x1000);
	assert_memory_equal(t->ram.byte + 0x200000, t->file + 0x2000, 0x800);
	assert_int_equal(t->ram.byte[0x200800], 0);
	assert_int_equal(t->out.regs.rip, 0x100010);
	assert_int_equal(t->out.regs.gpr[GPR_RAX], 0x2badb002);
	assert_int_equal(t->out.regs.gpr[GPR_RBX], INFO);
	assert_int_equal(t->out.sregs.seg[SEG_CS].attr, 0xc09b);
	assert_int_equal(t->out.sregs.cr0 & (CR0_PE | CR0_PG), CR0_PE);
	assert_int_equal(fake_ram_u32(&t->ram, INFO), 0x24d);
	assert_int_equal(fake_ram_u32(&t->ram, INFO + 4), 639);
	assert_int_equal(fake_ram_u32(&t->ram, INFO + 8), 15 * 1024);
	assert_string_equal(t->ram.byte + fake_ram_u32(&t->ram, INFO + 16), "kernel a b");
	assert_string_equal(t->ram.byte + fake_ram_u32(&t->ram, INFO + 64), "Faultline");
	assert_int_equal(fake_ram_u32(&t->ram, INFO + 20), 0);
	/* Six entries of 24 bytes, each saying 20; the last is RAM above 4 GiB. */
	assert_int_equal(fake_ram_u32(&t->ram, INFO + 44), 6 * 24);
	assert_int_equal(fake_ram_u32(&t->ram, fake_ram_u32(&t->ram, INFO + 48)), 20);
	assert_int_equal(fake_ram_u64(&t->ram, fake_ram_u32(&t->ram, INFO + 48) + 5 * 24 + 4),
			 4 * GIB);
	assert_non_null(info);
}

static void loads_elf64(void **s)
{
	struct mb_test *t = *s;

	elf64(t);
	assert_int_equal(load(t), HV_OK);
	assert_memory_equal(t->ram.byte + 0x100000, t->file + 0x1000, 0x2000);
	assert_int_equal(t->out.regs.rip, 0x100020);
	assert_int_equal(t->out.sregs.efer, 0);
	put(t, 24, 8, 0xffffffff80100020ULL); /* a virtual entry is translated */
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(t->out.regs.rip, 0x100020);
	put(t, 24, 8, 0x103000);
	assert_int_equal(load(t), HV_INVAL);
	put(t, 24, 8, ~0ULL);
	assert_int_equal(load(t), HV_INVAL);
}

static void loads_by_addresses(void **s)
{
	struct mb_test *t = *s;

	aout(t);
	assert_int_equal(load(t), HV_OK);
	assert_memory_equal(t->ram.byte + 0x100800, t->file + 0x800, 0x2000);
	assert_int_equal(t->out.regs.rip, 0x101020);
	put(t, HDR_AT + 20, 4, 0); /* all of the file */
	put(t, HDR_AT + 24, 4, 0); /* no BSS */
	assert_int_equal(load(t), HV_OK);
	assert_memory_equal(t->ram.byte + 0x100800, t->file + 0x800, FILE_LEN - 0x800);
	put(t, HDR_AT + 28, 4, 0x103000);
	assert_int_equal(load(t), HV_INVAL);
	/* Address fields win over ELF headers. */
	elf32(t);
	memcpy(t->file + HDR_AT + 12, &(uint32_t[]){0x301000, 0x301000, 0, 0, 0x301000}, 20);
	put_header(t, HDR_AT, 0x10000);
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(t->out.regs.rip, 0x301000);
}

static void refuses_bad_addresses(void **s)
{
	static const struct {
		unsigned field;
		uint32_t v;
		enum hv_status st;
	} bad[] = {
		{12, 0x1007ff, HV_INVAL},   {12, 0xffffffff, HV_INVAL}, {16, 0x101001, HV_INVAL},
		{16, 0xfffff, HV_INVAL},    {16, 0, HV_INVAL},		{20, 0x1007ff, HV_INVAL},
		{20, 0x103001, HV_INVAL},   {20, 0xffffffff, HV_INVAL}, {24, 0x1027ff, HV_INVAL},
		{24, 0xffffffff, HV_RANGE}, {24, 0x1000001, HV_RANGE},	{28, 0x1007ff, HV_INVAL},
		{28, 0x103800, HV_INVAL},
	};
	struct mb_test *t = *s;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		aout(t);
		put(t, HDR_AT + bad[i].field, 4, bad[i].v);
		assert_int_equal(load(t), bad[i].st);
	}
	aout(t);
	put(t, HDR_AT + 24, 4, 0x1000000);
	assert_int_equal(load(t), HV_OK);
}

static void refuses_bad_elf(void **s)
{
	struct mb_test *t = *s;
	static const struct {
		unsigned at, bytes;
		uint64_t v;
		enum hv_status st;
	} bad[] = {
		{4, 1, 0, HV_NOTSUP},	       {4, 1, 3, HV_NOTSUP},
		{5, 1, 2, HV_NOTSUP},	       {16, 2, 3, HV_NOTSUP},
		{18, 2, 40, HV_NOTSUP},	       {24, 4, 0x99, HV_INVAL},
		{28, 4, 0xffffffff, HV_INVAL}, {28, 4, FILE_LEN - 8, HV_INVAL},
		{42, 2, 31, HV_INVAL},	       {42, 2, 0xffff, HV_INVAL},
		{44, 2, 0, HV_INVAL},	       {44, 2, 257, HV_INVAL},
		{44, 2, 0xffff, HV_INVAL},     {0x38, 4, 0x2001, HV_INVAL},
		{0x38, 4, ~0u, HV_INVAL},      {0x44, 4, 0x1001, HV_INVAL},
		{0x44, 4, ~0u, HV_INVAL},      {0x40, 4, 0xffffffff, HV_RANGE},
		{0x40, 4, 0x9f000, HV_RANGE},  {0x40, 4, 0x8f001, HV_RANGE},
		{0x40, 4, 0xfff001, HV_RANGE}, {0x40, 4, 0x201000, HV_EXIST},
		{0x40, 4, 0x1ff001, HV_EXIST}, {0x40, 4, 0x203fff, HV_EXIST},
		{0x48, 4, 0xf00001, HV_RANGE}, {0x48, 4, 0xffffffff, HV_RANGE},
		{0x48, 4, 0x100001, HV_EXIST},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		elf32(t);
		put(t, bad[i].at, bad[i].bytes, bad[i].v);
		assert_int_equal(load(t), bad[i].st);
	}
	elf32(t);
	put(t, 0x40, 4, 0x204000); /* touching is not overlapping */
	assert_int_equal(load(t), HV_OK);
	elf64(t);
	put(t, 0x58, 8, ~0ULL - 0xfff);
	assert_int_equal(load(t), HV_RANGE);
	elf64(t);
	put(t, 0x68, 8, ~0ULL);
	assert_int_equal(load(t), HV_RANGE);
	elf64(t);
	put(t, 32, 8, ~0ULL - 8);
	assert_int_equal(load(t), HV_INVAL);
	elf64(t);
	put(t, 0x48, 8, ~0ULL);
	assert_int_equal(load(t), HV_INVAL);
}

static void limits_segments(void **s)
{
	struct mb_test *t = *s;

	for (unsigned n = 1; n <= LOAD_ELF_SEGMENTS + 1; n++) {
		elf32(t);
		put(t, 44, 2, n);
		for (unsigned i = 0; i < n; i++)
			phdr32(t, i,
			       &(const uint32_t[]){1, 0x1000, 0xc0100000 + i * 0x1000,
						   0x100000 + i * 0x1000, 16, 0x1000, 5, 0});
		assert_int_equal(load(t), n <= LOAD_ELF_SEGMENTS ? HV_OK : HV_RANGE);
	}
}

static void finds_the_header(void **s)
{
	struct mb_test *t = *s;

	for (unsigned at = 0; at < 8192 + 8; at++) {
		start(t);
		put(t, HDR_AT, 4, 0);
		put_header(t, at, 0x10000);
		assert_int_equal(load_multiboot_probe(&t->kernel.blob),
				 at % 4 == 0 && at + 12 <= 8192);
	}
	start(t);
	put(t, HDR_AT + 8, 4, 0);
	assert_int_equal(load(t), HV_INVAL);
	put_header(t, HDR_AT, 0x3);
	assert_int_equal(load(t), HV_INVAL); /* neither ELF nor addresses */
	for (unsigned bit = 0; bit < 32; bit++) {
		elf32(t);
		put_header(t, HDR_AT, BIT(bit));
		if (bit != 16)
			assert_int_equal(load(t), bit >= 3 && bit < 16 ? HV_NOTSUP : HV_OK);
	}
}

static void loads_modules(void **s)
{
	struct mb_test *t = *s;
	static const uint8_t data[5000] = "module data";

	elf32(t);
	fake_file_init(&t->module[0], "module0", data, sizeof(data));
	fake_file_init(&t->module[1], "module1 x", data, 1);
	t->img.module[0] = &t->module[0].blob;
	t->img.module[1] = &t->module[1].blob;
	t->img.module_count = 2;
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(fake_ram_u32(&t->ram, INFO + 20), 2);
	uint32_t list = fake_ram_u32(&t->ram, INFO + 24);

	assert_int_equal(fake_ram_u32(&t->ram, list), 0x204000);
	assert_int_equal(fake_ram_u32(&t->ram, list + 4), 0x204000 + sizeof(data));
	assert_string_equal(t->ram.byte + fake_ram_u32(&t->ram, list + 8), "module0");
	assert_int_equal(fake_ram_u32(&t->ram, list + 16), 0x206000);
	assert_string_equal(t->ram.byte + fake_ram_u32(&t->ram, list + 24), "module1 x");
	assert_memory_equal(t->ram.byte + 0x204000, data, sizeof(data));
	/* Too large by a byte, and by so much that ends wrap. */
	fake_file_init(&t->module[0], "module0", NULL, 16 * MIB - 0x204000 + 1);
	t->img.module_count = 1;
	assert_int_equal(load(t), HV_RANGE);
	fake_file_init(&t->module[0], "module0", NULL, 16 * MIB - 0x204000);
	assert_int_equal(load(t), HV_OK);
	fake_file_init(&t->module[0], "module0", NULL, ~0ULL - 0x204000);
	assert_int_equal(load(t), HV_RANGE);
	fake_file_init(&t->module[0], "module0", NULL, ~0ULL);
	assert_int_equal(load(t), HV_RANGE);
	t->img.module_count = CONFIG_MAX_MODULES + 1;
	assert_int_equal(load(t), HV_RANGE);
}

static void limits_strings(void **s)
{
	struct mb_test *t = *s;
	static char line[0x7000];

	elf32(t);
	t->img.cmdline = line;
	memset(line, 'x', 0x7000 - 18); /* "kernel ", its end and the loader's name make 18 */
	assert_int_equal(load(t), HV_OK);
	line[0x7000 - 18] = 'x';
	assert_int_equal(load(t), HV_RANGE);
}

static void survives_truncation_everywhere(void **s)
{
	static void (*const make[])(struct mb_test *) = {elf32, elf64, aout};
	struct mb_test *t = *s;

	for (unsigned m = 0; m < ARRAY_SIZE(make); m++) {
		for (uint64_t len = 0; len<FILE_LEN; len += len> 0x1100 ? 61 : 1) {
			uint8_t *part = malloc(len ? len : 1);

			make[m](t);
			memcpy(part, t->file, len);
			fake_file_init(&t->kernel, "kernel", part, len);
			/* The ELF64 file needs its last byte. */
			assert_int_equal(load(t), len >= 0x2800 && m != 1 ? HV_OK : HV_INVAL);
			free(part);
		}
	}
}

static void passes_write_failures_on(void **s)
{
	struct mb_test *t = *s;
	static const uint8_t data[16];
	unsigned n;

	elf32(t);
	fake_file_init(&t->module[0], "module0", data, sizeof(data));
	t->img.module[0] = &t->module[0].blob;
	t->img.module_count = 1;
	assert_int_equal(load(t), HV_OK);
	n = t->ram.count;
	for (t->ram.fail_at = 1; t->ram.fail_at <= n; t->ram.fail_at++)
		assert_int_equal(load(t), HV_IO);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(loads_elf32, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(loads_elf64, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(loads_by_addresses, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(refuses_bad_addresses, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(refuses_bad_elf, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(limits_segments, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(finds_the_header, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(loads_modules, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(limits_strings, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(survives_truncation_everywhere, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(passes_write_failures_on, setup, fake_ram_teardown),
	};
	return cmocka_run_group_tests_name("load_multiboot", t, NULL, NULL);
}
