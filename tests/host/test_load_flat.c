/* SPDX-License-Identifier: BSD-2-Clause */
/* load_flat, and the CPU states of load.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/host/fake_ram.h"
#include "hv/load_flat.h"

struct flat {
	struct fake_ram ram;
	struct fake_file file;
	struct config_vm vm;
	struct load_result out;
	struct hv_error err;
	uint8_t data[4096];
};

static int setup(void **s)
{
	struct flat *f = calloc(1, sizeof(*f));

	fake_ram_init(&f->ram, calloc(1, FAKE_RAM_KEPT), 16 * MIB, 0);
	memset(f->data, 0xf4, sizeof(f->data));
	fake_file_init(&f->file, "flat.bin", f->data, sizeof(f->data));
	*s = f;
	return 0;
}

static enum hv_status load(struct flat *f, enum config_flat_mode mode, uint64_t at, uint64_t entry)
{
	struct load_image img = {.kernel = &f->file.blob, .cmdline = ""};

	fake_ram_clear(&f->ram);
	f->err.text[0] = 0;
	f->vm.flat_mode = mode;
	f->vm.flat_load = at;
	f->vm.flat_entry = entry;
	return load_flat(&f->ram.env, &f->vm, &img, &f->out, &f->err);
}

static void real_mode(void **s)
{
	struct flat *f = *s;

	assert_int_equal(load(f, FLAT_REAL, 0x7c00, 0x7c10), HV_OK);
	assert_memory_equal(f->ram.byte + 0x7c00, f->data, sizeof(f->data));
	assert_int_equal(f->out.regs.rip, 0x7c10);
	assert_int_equal(f->out.regs.rflags, 2);
	assert_int_equal(f->out.sregs.seg[SEG_CS].selector, 0);
	assert_int_equal(f->out.sregs.seg[SEG_CS].attr, 0x9b);
	assert_int_equal(f->out.sregs.seg[SEG_SS].limit, 0xffff);
	assert_int_equal(f->out.sregs.cr0 & (CR0_PE | CR0_PG), 0);
	assert_int_equal(f->out.sregs.idtr.limit, 0x3ff);
	assert_int_equal(load(f, FLAT_REAL, 0x52340, 0x52345), HV_OK);
	assert_int_equal(f->out.sregs.seg[SEG_CS].selector, 0x5000);
	assert_int_equal(f->out.sregs.seg[SEG_CS].base, 0x50000);
	assert_int_equal(f->out.regs.rip, 0x2345);
	assert_int_equal(load(f, FLAT_REAL, 0x100000, 0x100000), HV_RANGE);
	assert_non_null(strstr(f->err.text, "flat.bin"));
	assert_non_null(strstr(f->err.text, "0x100000"));
}

static void protected_mode(void **s)
{
	struct flat *f = *s;

	assert_int_equal(load(f, FLAT_PROTECTED, 0x200000, 0x200ffc), HV_OK);
	assert_int_equal(f->out.regs.rip, 0x200ffc);
	assert_int_equal(f->out.sregs.seg[SEG_CS].attr, 0xc09b);
	assert_int_equal(f->out.sregs.seg[SEG_DS].attr, 0xc093);
	assert_int_equal(f->out.sregs.seg[SEG_DS].limit, 0xffffffff);
	assert_int_equal(f->out.sregs.cr0 & (CR0_PE | CR0_PG), CR0_PE);
	assert_int_equal(f->out.sregs.efer, 0);
	assert_int_equal(f->ram.count, 1);
}

static void long_mode(void **s)
{
	struct flat *f = *s;

	assert_int_equal(load(f, FLAT_LONG, 0x100000, 0x100000), HV_OK);
	assert_int_equal(f->out.sregs.seg[SEG_CS].attr, 0xa09b);
	assert_int_equal(f->out.sregs.cr0 & (CR0_PE | CR0_PG), CR0_PE | CR0_PG);
	assert_int_equal(f->out.sregs.cr4 & CR4_PAE, CR4_PAE);
	assert_int_equal(f->out.sregs.efer, EFER_LME | EFER_LMA);
	assert_int_equal(fake_ram_u64(&f->ram, f->out.sregs.gdtr.base + 0x10),
			 0x00af9b000000ffffULL);
	assert_int_equal(fake_ram_u64(&f->ram, f->out.sregs.gdtr.base + 0x18),
			 0x00cf93000000ffffULL);
	assert_int_equal(f->out.sregs.gdtr.limit, 31);
	/* Walk every 2 MiB page of 4 GiB. */
	for (uint64_t a = 0; a < 5 * GIB; a += 2 * MIB) {
		uint64_t e = fake_ram_u64(&f->ram, f->out.sregs.cr3 + (a >> 39) * 8);

		e = fake_ram_u64(&f->ram, (e & ~0xfffULL) + (a >> 30) * 8);
		if (a >= 4 * GIB) {
			assert_int_equal(e, 0);
			continue;
		}
		e = fake_ram_u64(&f->ram, (e & ~0xfffULL) + (a >> 21 & 511) * 8);
		assert_int_equal(e, a | 0x83);
	}
}

static void refuses_bad_places(void **s)
{
	static const uint64_t bad[] = {0x8f001,	     0x90000, 0x9f000,	    0xa0000,
				       0xff001,	     0xffff0, 16 * MIB - 1, 16 * MIB,
				       4 * GIB,	     ~0ULL,   ~0ULL - 4095, 16 * MIB - 4095,
				       0xc0000000ULL};
	struct flat *f = *s;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(load(f, FLAT_PROTECTED, bad[i], bad[i]), HV_RANGE);
		assert_non_null(strstr(f->err.text, "flat.bin"));
		assert_int_equal(f->ram.count, 0);
	}
	assert_int_equal(load(f, FLAT_PROTECTED, 0x8f000, 0x8f000), HV_OK);
	assert_int_equal(load(f, FLAT_PROTECTED, 16 * MIB - 4096, 16 * MIB - 1), HV_OK);
	assert_int_equal(load(f, FLAT_PROTECTED, 0x200000, 0x1fffff), HV_RANGE);
	assert_int_equal(load(f, FLAT_PROTECTED, 0x200000, 0x201000), HV_RANGE);
	assert_int_equal(load(f, (enum config_flat_mode)7, 0x200000, 0x200000), HV_INVAL);
	fake_file_init(&f->file, "flat.bin", f->data, 0);
	assert_int_equal(load(f, FLAT_PROTECTED, 0x200000, 0x200000), HV_INVAL);
	fake_file_init(&f->file, "flat.bin", NULL, ~0ULL);
	assert_int_equal(load(f, FLAT_PROTECTED, 0x200000, 0x200000), HV_RANGE);
}

static void passes_write_failures_on(void **s)
{
	struct flat *f = *s;

	for (f->ram.fail_at = 1; load(f, FLAT_LONG, 0x100000, 0x100000) != HV_OK; f->ram.fail_at++)
		assert_int_equal(f->ram.count, f->ram.fail_at);
	assert_int_equal(f->ram.fail_at, 1 + 1 + 1 + 1 + 32 + 1);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(real_mode, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(protected_mode, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(long_mode, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(refuses_bad_places, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(passes_write_failures_on, setup, fake_ram_teardown),
	};
	return cmocka_run_group_tests_name("load_flat", t, NULL, NULL);
}
