/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/host/fake_ram.h"
#include "hv/load_linux.h"

#define SETUP_SECTS 3
#define PAYLOAD	    ((SETUP_SECTS + 1) * 512)
#define KERNEL_LEN  0x5000
#define FILE_LEN    (PAYLOAD + KERNEL_LEN)
#define BP	    0x90000

struct linux_test {
	struct fake_ram ram;
	struct fake_file kernel, initrd;
	struct load_image img;
	struct load_result out;
	struct hv_error err;
	uint8_t file[FILE_LEN];
};

static void put(struct linux_test *t, unsigned at, unsigned bytes, uint64_t v)
{
	memcpy(t->file + at, &v, bytes);
}

/* A kernel that wants 16 MiB, is 20 KiB long and needs 1 MiB to start. */
static void good_kernel(struct linux_test *t)
{
	memset(t->file, 0, sizeof(t->file));
	for (unsigned i = 0; i < KERNEL_LEN; i++)
		t->file[PAYLOAD + i] = (uint8_t)(i * 7 + 1);
	put(t, 0x1f1, 1, SETUP_SECTS);
	put(t, 0x1f4, 4, KERNEL_LEN / 16);
	put(t, 0x1fe, 2, 0xaa55);
	put(t, 0x200, 2, 0x6aeb); /* header ends at 0x26c */
	put(t, 0x202, 4, 0x53726448);
	put(t, 0x206, 2, 0x020f);
	put(t, 0x211, 1, 0x81);
	put(t, 0x22c, 4, 0x7fffffff);
	put(t, 0x230, 4, 0x200000);
	put(t, 0x234, 1, 1);
	put(t, 0x236, 2, 0x7f);
	put(t, 0x238, 4, 2047);
	put(t, 0x250, 8, 0x1234);
	put(t, 0x258, 8, 0x1000000);
	put(t, 0x260, 4, 0x100000);
	put(t, 0x268, 4, 0xabcd1234);
	fake_file_init(&t->kernel, "vmlinuz", t->file, sizeof(t->file));
	t->img = (struct load_image){.kernel = &t->kernel.blob, .cmdline = "console=ttyS0"};
}

static int setup(void **s)
{
	struct linux_test *t = calloc(1, sizeof(*t));

	fake_ram_init(&t->ram, calloc(1, FAKE_RAM_KEPT), 32 * MIB, 0);
	good_kernel(t);
	*s = t;
	return 0;
}

static enum hv_status load(struct linux_test *t)
{
	enum hv_status st;

	fake_ram_clear(&t->ram);
	t->err.text[0] = 0;
	st = load_linux(&t->ram.env, &t->img, &t->out, &t->err);
	/* Every refusal of a file explains itself, by the file's name. */
	if (st && st != HV_IO)
		assert_true(!strncmp(t->err.text, "vmlinuz: ", 9) ||
			    !strncmp(t->err.text, "initrd: ", 8));
	return st;
}

static void loads(void **s)
{
	struct linux_test *t = *s;

	assert_true(load_linux_probe(&t->kernel.blob));
	assert_int_equal(load(t), HV_OK);
	assert_memory_equal(t->ram.byte + 0x1000000, t->file + PAYLOAD, KERNEL_LEN);
	assert_int_equal(t->out.regs.rip, 0x1000200);
	assert_int_equal(t->out.regs.gpr[GPR_RSI], BP);
	assert_int_equal(t->out.regs.rflags, 2);
	assert_int_equal(t->out.sregs.seg[SEG_CS].selector, 0x10);
	assert_int_equal(t->out.sregs.seg[SEG_DS].selector, 0x18);
	assert_int_equal(t->out.sregs.efer, EFER_LME | EFER_LMA);
	assert_string_equal(t->ram.byte + fake_ram_u32(&t->ram, BP + 0x228), "console=ttyS0");
	/* The zero page. */
	assert_int_equal(t->ram.byte[BP + 0x210], 0xff);
	assert_int_equal(t->ram.byte[BP + 0x211], 0x01);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x202), 0x53726448);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x214), 0x1000000);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x218), 0);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x21c), 0);
	assert_int_equal(fake_ram_u64(&t->ram, BP + 0x250), 0);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x268), 0xabcd1234);
	assert_int_equal(fake_ram_u64(&t->ram, BP + 0x070), 0xe0000);
	assert_int_equal(t->ram.byte[BP + 0x1e8], 5);
	assert_int_equal(fake_ram_u64(&t->ram, BP + 0x2d0 + 3 * 20), 0x100000);
	assert_int_equal(fake_ram_u64(&t->ram, BP + 0x2d0 + 3 * 20 + 8), 31 * MIB);
	for (unsigned i = 0; i < 0x70; i++)
		assert_int_equal(t->ram.byte[BP + i], 0);
	assert_int_equal(t->ram.byte[BP + 0x1ef], 0); /* sentinel */
}

static void places_the_kernel(void **s)
{
	struct linux_test *t = *s;

	/* No room at 16 MiB, where it would move itself to. */
	t->ram.env.ram_low = 16 * MIB;
	assert_int_equal(load(t), HV_RANGE);
	assert_non_null(strstr(t->err.text, "0x1000000"));
	/* Exactly enough, and a byte less. */
	t->ram.env.ram_low = 17 * MIB;
	assert_int_equal(load(t), HV_OK);
	put(t, 0x260, 4, 0x100001);
	assert_int_equal(load(t), HV_RANGE);
	put(t, 0x260, 4, 0xffffffff);
	assert_int_equal(load(t), HV_RANGE);
	put(t, 0x260, 4, 0); /* then its own length counts */
	assert_int_equal(load(t), HV_OK);
	/* Preferred addresses that wrap or lie in low memory. */
	put(t, 0x258, 8, ~0ULL);
	assert_int_equal(load(t), HV_RANGE);
	put(t, 0x258, 8, 0x90000);
	assert_int_equal(load(t), HV_RANGE);
	t->ram.env.ram_low = MIB;
	assert_int_equal(load(t), HV_RANGE);
}

static void places_the_initrd(void **s)
{
	struct linux_test *t = *s;
	static const uint8_t data[5000] = "initrd";

	fake_file_init(&t->initrd, "initrd", data, sizeof(data));
	t->img.initrd = &t->initrd.blob;
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x218), 32 * MIB - 0x2000);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x21c), sizeof(data));
	assert_memory_equal(t->ram.byte + 32 * MIB - 0x2000, data, sizeof(data));
	put(t, 0x22c, 4, 0x17fffff);
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x218), 0x1800000 - 0x2000);
	put(t, 0x22c, 4, 0xffffffff);
	t->ram.env.ram_low = 0xc0000000;
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x218), 0xc0000000 - 0x2000);
	/* All the room there is, and a page more. */
	fake_file_init(&t->initrd, "initrd", NULL, 0xc0000000 - 0x1100000);
	assert_int_equal(load(t), HV_OK);
	fake_file_init(&t->initrd, "initrd", NULL, 0xc0000000 - 0x1100000 + 1);
	assert_int_equal(load(t), HV_RANGE);
	assert_non_null(strstr(t->err.text, "0x1100000"));
	fake_file_init(&t->initrd, "initrd", NULL, ~0ULL);
	assert_int_equal(load(t), HV_RANGE);
	fake_file_init(&t->initrd, "initrd", NULL, 0);
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(fake_ram_u32(&t->ram, BP + 0x218), 0);
	put(t, 0x22c, 4, 0);
	fake_file_init(&t->initrd, "initrd", data, 1);
	assert_int_equal(load(t), HV_RANGE);
}

static void checks_the_command_line(void **s)
{
	struct linux_test *t = *s;
	static char line[60000];

	memset(line, 'x', 2047);
	t->img.cmdline = line;
	assert_int_equal(load(t), HV_OK);
	line[2047] = 'x';
	assert_int_equal(load(t), HV_RANGE);
	assert_non_null(strstr(t->err.text, "2048"));
	put(t, 0x238, 4, 0xffffffff);
	assert_int_equal(load(t), HV_OK);
	memset(line, 'x', sizeof(line) - 1);
	assert_int_equal(load(t), HV_RANGE);
	put(t, 0x238, 4, 0);
	assert_int_equal(load(t), HV_RANGE);
	t->img.cmdline = "";
	assert_int_equal(load(t), HV_OK);
}

static void refuses_other_protocols(void **s)
{
	struct linux_test *t = *s;

	put(t, 0x206, 2, 0x020b);
	assert_int_equal(load(t), HV_NOTSUP);
	assert_non_null(strstr(t->err.text, "2.11"));
	good_kernel(t);
	put(t, 0x236, 2, 0x7e);
	assert_int_equal(load(t), HV_NOTSUP);
	good_kernel(t);
	put(t, 0x211, 1, 0);
	assert_int_equal(load(t), HV_NOTSUP);
	good_kernel(t);
	put(t, 0x1fe, 2, 0);
	assert_false(load_linux_probe(&t->kernel.blob));
	assert_int_equal(load(t), HV_INVAL);
	good_kernel(t);
	put(t, 0x202, 4, 0);
	assert_int_equal(load(t), HV_INVAL);
	/* Length of the header: from that of 2.12 up to the next field of the zero page. */
	for (unsigned b = 0; b < 256; b++) {
		good_kernel(t);
		put(t, 0x201, 1, b);
		assert_int_equal(load(t), b < 0x66 || b > 0x8e ? HV_INVAL : HV_OK);
	}
	good_kernel(t);
	put(t, 0x1f4, 4, KERNEL_LEN / 16 + 1);
	assert_int_equal(load(t), HV_INVAL);
	put(t, 0x1f4, 4, 0xffffffff);
	assert_int_equal(load(t), HV_INVAL);
	put(t, 0x1f4, 4, 0);
	assert_int_equal(load(t), HV_OK);
	put(t, 0x1f1, 1, 255);
	assert_int_equal(load(t), HV_INVAL);
	put(t, 0x1f1, 1, 0); /* means 4 */
	assert_int_equal(load(t), HV_OK);
	assert_int_equal(t->ram.byte[0x1000000], t->file[5 * 512]);
}

static void survives_truncation_everywhere(void **s)
{
	struct linux_test *t = *s;

	for (uint64_t len = 0; len < FILE_LEN; len++) {
		/* A copy of exactly that length, so that the sanitizer sees any overrun. */
		uint8_t *part = malloc(len ? len : 1);

		memcpy(part, t->file, len);
		fake_file_init(&t->kernel, "vmlinuz", part, len);
		assert_int_equal(load(t), len > FILE_LEN - 16 ? HV_OK : HV_INVAL);
		free(part);
		if (len > PAYLOAD)
			len += 96;
	}
}

static void passes_write_failures_on(void **s)
{
	struct linux_test *t = *s;
	static const uint8_t data[16];
	unsigned n;

	fake_file_init(&t->initrd, "initrd", data, sizeof(data));
	t->img.initrd = &t->initrd.blob;
	assert_int_equal(load(t), HV_OK);
	n = t->ram.count;
	for (t->ram.fail_at = 1; t->ram.fail_at <= n; t->ram.fail_at++)
		assert_int_equal(load(t), HV_IO);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(loads, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(places_the_kernel, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(places_the_initrd, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(checks_the_command_line, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(refuses_other_protocols, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(survives_truncation_everywhere, setup, fake_ram_teardown),
		cmocka_unit_test_setup_teardown(passes_write_failures_on, setup, fake_ram_teardown),
	};
	return cmocka_run_group_tests_name("load_linux", t, NULL, NULL);
}
