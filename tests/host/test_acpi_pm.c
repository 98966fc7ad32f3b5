/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/host/fake_env.h"
#include "hv/dev/acpi_pm.h"

#define SCI ACPI_SCI_IRQ

static struct fake_env e;
static struct acpi_pm p;
static unsigned off;

static void count_off(void *ctx)
{
	++*(unsigned *)ctx;
}

static void begin(void)
{
	off = 0;
	fake_env_init(&e);
	acpi_pm_init(&p, &e.env, count_off, &off);
}

static void timer_counts_and_wraps(void **s)
{
	(void)s;
	begin();
	assert_int_equal(acpi_pm_ops.read(&p, 8, 4), 0);
	e.now = 1000000000;
	assert_int_equal(acpi_pm_ops.read(&p, 8, 4), ACPI_PM_TIMER_HZ);
	assert_int_equal(acpi_pm_ops.read(&p, 9, 1), ACPI_PM_TIMER_HZ >> 8 & 0xff);
	acpi_pm_ops.write(&p, 8, 4, 0);
	assert_int_equal(acpi_pm_ops.read(&p, 8, 4), ACPI_PM_TIMER_HZ);
	e.now = 1300ULL * 1000000000;
	assert_int_equal(acpi_pm_ops.read(&p, 8, 4), (uint32_t)(1300ULL * ACPI_PM_TIMER_HZ));
	/* Reads past the block give nothing and touch nothing. */
	assert_int_equal(acpi_pm_ops.read(&p, 11, 8) >> 8, 0);
	acpi_pm_ops.write(&p, 11, 8, ~0ULL);
}

static void timer_status_raises_sci(void **s)
{
	uint64_t due;

	(void)s;
	begin();
	assert_int_equal(acpi_pm_next_deadline_ns(&p), DEV_NO_DEADLINE);
	acpi_pm_ops.write(&p, 2, 2, 0x0001);
	due = acpi_pm_next_deadline_ns(&p);
	e.now = due - 2;
	acpi_pm_poll(&p);
	assert_false(e.line[SCI]);
	e.now = due;
	acpi_pm_poll(&p);
	assert_true(e.line[SCI]);
	assert_int_equal(acpi_pm_next_deadline_ns(&p), DEV_NO_DEADLINE);
	assert_int_equal(acpi_pm_ops.read(&p, 0, 2), 0x0001);
	acpi_pm_ops.write(&p, 0, 2, 0x0001);
	assert_false(e.line[SCI]);
	assert_true(acpi_pm_next_deadline_ns(&p) > due);
	e.now = acpi_pm_next_deadline_ns(&p);
	acpi_pm_poll(&p);
	assert_true(e.line[SCI]);
	acpi_pm_reset(&p);
	assert_false(e.line[SCI]);
}

static void power_button_and_enable(void **s)
{
	(void)s;
	begin();
	acpi_pm_power_button(&p);
	assert_false(e.line[SCI]);
	acpi_pm_ops.write(&p, 3, 1, 0xff);
	assert_true(e.line[SCI]);
	assert_int_equal(acpi_pm_ops.read(&p, 0, 4), 0x07000100);
	acpi_pm_ops.write(&p, 1, 1, 0x01);
	assert_false(e.line[SCI]);
	acpi_pm_ops.write(&p, 0, 4, 0xffffffff);
	assert_int_equal(acpi_pm_ops.read(&p, 0, 4), 0x07210000);
}

/* Linux checks that RTC_EN sticks; no event of ours stands behind these three. */
static void enables_that_never_raise_sci(void **s)
{
	static const uint16_t bit[] = {BIT(5), BIT(9), BIT(10)}; /* GBL_EN, SLPBTN_EN, RTC_EN */
	(void)s;
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(bit); i++) {
		acpi_pm_ops.write(&p, 2, 2, bit[i]);
		assert_int_equal(acpi_pm_ops.read(&p, 0, 4), (uint32_t)bit[i] << 16);
		assert_int_equal(acpi_pm_next_deadline_ns(&p), DEV_NO_DEADLINE);
		assert_false(e.line[SCI]);
	}
	acpi_pm_ops.write(&p, 2, 2, 0x0620);
	/* Neither writes to the status nor the two events that there are set off theirs. */
	acpi_pm_ops.write(&p, 0, 2, 0xffff);
	acpi_pm_power_button(&p);
	e.now = 1300ULL * 1000000000;
	acpi_pm_poll(&p);
	assert_int_equal(acpi_pm_ops.read(&p, 0, 4), 0x06200101);
	assert_false(e.line[SCI]);
	acpi_pm_reset(&p);
	assert_int_equal(acpi_pm_ops.read(&p, 0, 4), 0);
}

static void s5_powers_off(void **s)
{
	(void)s;
	begin();
	assert_int_equal(acpi_pm_ops.read(&p, 4, 2), 0x0001);
	acpi_pm_ops.write(&p, 4, 2, 5 << 10);
	assert_int_equal(off, 0);
	assert_int_equal(acpi_pm_ops.read(&p, 4, 2), 5 << 10 | 1);
	acpi_pm_ops.write(&p, 4, 2, 4 << 10 | 1 << 13);
	assert_int_equal(off, 0);
	acpi_pm_ops.write(&p, 4, 2, 5 << 10 | 1 << 13);
	assert_int_equal(off, 1);
	assert_int_equal(acpi_pm_ops.read(&p, 4, 2), 5 << 10 | 1);
	acpi_pm_ops.write(&p, 5, 1, 5 << 2 | 1 << 5);
	assert_int_equal(off, 2);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(timer_counts_and_wraps),
		cmocka_unit_test(timer_status_raises_sci),
		cmocka_unit_test(power_button_and_enable),
		cmocka_unit_test(enables_that_never_raise_sci),
		cmocka_unit_test(s5_powers_off),
	};
	return cmocka_run_group_tests_name("acpi_pm", t, NULL, NULL);
}
