/* SPDX-License-Identifier: BSD-2-Clause */
/* testdev, fwcfg and reset. */
#include "tests/host/fake_env.h"
#include "hv/dev/fwcfg.h"
#include "hv/dev/reset.h"
#include "hv/dev/testdev.h"

static void note_exit(void *ctx, uint32_t code)
{
	*(uint32_t *)ctx = code;
}

static void count_reset(void *ctx)
{
	++*(unsigned *)ctx;
}

static void testdev_exits(void **s)
{
	uint32_t code = 0;
	struct testdev t = {.exit = note_exit, .ctx = &code};

	(void)s;
	testdev_ops.write(&t, 0, 4, 0x10);
	assert_int_equal(code, 0x21);
	testdev_ops.write(&t, 0, 1, 0);
	assert_int_equal(code, 1);
	testdev_ops.write(&t, 2, 1, 7);
	assert_int_equal(code, 1);
	assert_int_equal(testdev_ops.read(&t, 0, 1), 0);
}

static uint64_t item(struct fwcfg *f, uint16_t key, unsigned len)
{
	uint64_t v = 0;

	fwcfg_ops.write(f, 0, 2, key);
	for (unsigned i = 0; i < len; i++)
		v |= fwcfg_ops.read(f, 1, 1) << (i * 8);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(fwcfg_ops.read(f, 1, 1) * (i + len >= 8), 0);
	return v;
}

static void fwcfg_items(void **s)
{
	struct fwcfg f;

	(void)s;
	fwcfg_init(&f, 3, 0x123456789000ULL);
	assert_int_equal(item(&f, 0, 4), 0x554d4551);
	assert_int_equal(item(&f, 1, 4), 1);
	assert_int_equal(item(&f, 3, 8), 0x123456789000ULL);
	assert_int_equal(item(&f, 5, 2), 3);
	assert_int_equal(item(&f, 0x0f, 2), 3);
	assert_int_equal(item(&f, 0x19, 4), 0);
	assert_int_equal(item(&f, 0xffff, 8), 0);
	assert_int_equal(fwcfg_ops.read(&f, 0, 2), 0);
	fwcfg_ops.write(&f, 1, 1, 0xff);
	assert_int_equal(f.key, 0xffff);
}

static void reset_by_cf9(void **s)
{
	unsigned n = 0;
	struct reset_dev r;

	(void)s;
	reset_dev_init(&r, count_reset, &n);
	reset_cf8_ops.write(&r, 1, 1, 0x02);
	assert_int_equal(reset_cf8_ops.read(&r, 1, 1), 0x02);
	assert_int_equal(n, 0);
	reset_cf8_ops.write(&r, 1, 1, 0x06);
	assert_int_equal(n, 1);
	reset_cf8_ops.write(&r, 1, 1, 0x0e);
	assert_int_equal(n, 2);
	/* A PCI configuration address whose second byte looks like a reset. */
	reset_cf8_ops.write(&r, 0, 4, 0x80000e06);
	reset_cf8_ops.write(&r, 0, 2, 0x0600);
	assert_int_equal(n, 2);
	assert_int_equal((uint32_t)reset_cf8_ops.read(&r, 0, 4), 0xffffffff);
}

static void reset_by_keyboard_controller(void **s)
{
	unsigned n = 0;
	struct reset_dev r;

	(void)s;
	reset_dev_init(&r, count_reset, &n);
	assert_int_equal(reset_kbd_command_ops.read(&r, 0, 1), 0);
	assert_int_equal(reset_kbd_data_ops.read(&r, 0, 1), 0);
	reset_kbd_command_ops.write(&r, 0, 1, 0xd0);
	assert_int_equal(reset_kbd_command_ops.read(&r, 0, 1), 1);
	assert_int_equal(reset_kbd_data_ops.read(&r, 0, 1), 0x03);
	assert_int_equal(reset_kbd_command_ops.read(&r, 0, 1), 0);
	reset_kbd_data_ops.write(&r, 0, 1, 0);
	assert_int_equal(n, 0);
	reset_kbd_command_ops.write(&r, 0, 1, 0xd1);
	reset_kbd_data_ops.write(&r, 0, 1, 0xdf);
	assert_int_equal(n, 0);
	reset_kbd_command_ops.write(&r, 0, 1, 0xd1);
	reset_kbd_data_ops.write(&r, 0, 1, 0xde);
	assert_int_equal(n, 1);
	reset_kbd_command_ops.write(&r, 0, 1, 0xff);
	assert_int_equal(n, 1);
	reset_kbd_command_ops.write(&r, 0, 1, 0xfe);
	assert_int_equal(n, 2);
}

static void reset_by_port_92(void **s)
{
	unsigned n = 0;
	struct reset_dev r;

	(void)s;
	reset_dev_init(&r, count_reset, &n);
	assert_int_equal(reset_sysctl_ops.read(&r, 0, 1), 0x02);
	reset_sysctl_ops.write(&r, 0, 1, 0x00);
	assert_int_equal(reset_sysctl_ops.read(&r, 0, 1), 0x00);
	assert_int_equal(n, 0);
	reset_sysctl_ops.write(&r, 0, 1, 0x03);
	assert_int_equal(n, 1);
	assert_int_equal(reset_sysctl_ops.read(&r, 0, 1), 0x02);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(testdev_exits),    cmocka_unit_test(fwcfg_items),
		cmocka_unit_test(reset_by_cf9),	    cmocka_unit_test(reset_by_keyboard_controller),
		cmocka_unit_test(reset_by_port_92),
	};
	return cmocka_run_group_tests_name("small_dev", t, NULL, NULL);
}
