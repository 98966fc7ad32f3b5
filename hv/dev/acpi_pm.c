/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi_pm: PM timer, PM1a registers, SCI.
 *
 * Called from: exit path and timer, under the VM's device lock.
 * Invariant: line equals (status & enable) != 0.  Pure
 * (tests/host/test_acpi_pm.c).  Spec: ACPI 6.4, 4.8.3.
 */
#include "hv/dev/acpi_pm.h"

#define TMR_STS	   BIT(0)
#define PWRBTN_STS BIT(8)
/* Writable too, so that a driver finds what it wrote: global, sleep button, RTC. */
#define EN_MASK	   (TMR_STS | PWRBTN_STS | BIT(5) | BIT(9) | BIT(10))

#define SCI_EN	     BIT(0)
#define SLP_TYP(v)   (((v) >> 10) & 7)
#define SLP_EN	     BIT(13)
#define CONTROL_MASK 0x1c02 /* SLP_TYP, BM_RLD; SLP_EN and GBL_RLS are write-only */

#define NS_PER_S 1000000000ULL

static uint64_t ticks(const struct acpi_pm *p)
{
	return mul_div(p->env->now_ns(p->env->ctx), ACPI_PM_TIMER_HZ, NS_PER_S);
}

static void update_line(struct acpi_pm *p)
{
	bool line = p->status & p->enable;

	if (line == p->line)
		return;
	p->line = line;
	p->env->set_irq(p->env->ctx, ACPI_SCI_IRQ, line);
}

/* TMR_STS is set whenever the timer's highest bit changes. */
void acpi_pm_poll(struct acpi_pm *p)
{
	uint64_t halves = ticks(p) >> 31;

	if (halves != p->seen_halves)
		p->status |= TMR_STS;
	p->seen_halves = halves;
	update_line(p);
}

uint64_t acpi_pm_next_deadline_ns(const struct acpi_pm *p)
{
	if (!(p->enable & TMR_STS) || p->status & TMR_STS)
		return DEV_NO_DEADLINE;
	/* One more nanosecond, for the tick count rounds down. */
	return mul_div((p->seen_halves + 1) << 31, NS_PER_S, ACPI_PM_TIMER_HZ) + 1;
}

/* The register block as it reads at this moment. */
static void image(const struct acpi_pm *p, uint8_t b[ACPI_PM_LEN])
{
	uint16_t control = p->control | SCI_EN;
	uint32_t tmr = (uint32_t)ticks(p);

	memset(b, 0, ACPI_PM_LEN);
	memcpy(b, &p->status, 2);
	memcpy(b + 2, &p->enable, 2);
	memcpy(b + 4, &control, 2);
	memcpy(b + 8, &tmr, 4);
}

static uint64_t acpi_pm_read(void *dev, uint64_t off, unsigned size)
{
	uint8_t b[ACPI_PM_LEN];
	uint64_t v = 0;

	acpi_pm_poll(dev);
	image(dev, b);
	for (unsigned i = 0; i < size && off + i < ACPI_PM_LEN; i++)
		v |= (uint64_t)b[off + i] << (i * 8);
	return v;
}

static void write_control(struct acpi_pm *p, uint16_t val)
{
	p->control = val & CONTROL_MASK;
	if (val & SLP_EN && SLP_TYP(val) == ACPI_S5_SLP_TYP)
		p->power_off(p->ctx);
}

static void write_byte(struct acpi_pm *p, uint64_t off, uint8_t val)
{
	unsigned shift = (unsigned)(off & 1) * 8;
	uint16_t lane = (uint16_t)(0xff << shift), v = (uint16_t)(val << shift);

	switch (off & ~1ULL) {
	case 0:
		p->status &= (uint16_t)~v;
		break;
	case 2:
		p->enable = (uint16_t)(((p->enable & ~lane) | v) & EN_MASK);
		break;
	case 4:
		write_control(p, (uint16_t)((p->control & ~lane) | v));
		break;
	default:
		break;
	}
}

static void acpi_pm_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct acpi_pm *p = dev;

	acpi_pm_poll(p);
	for (unsigned i = 0; i < size; i++)
		write_byte(p, off + i, (uint8_t)(val >> (i * 8)));
	update_line(p);
}

const struct dev_ops acpi_pm_ops = {.read = acpi_pm_read, .write = acpi_pm_write};

void acpi_pm_init(struct acpi_pm *p, const struct dev_env *env, void (*power_off)(void *ctx),
		  void *ctx)
{
	*p = (struct acpi_pm){.env = env, .power_off = power_off, .ctx = ctx};
	acpi_pm_reset(p);
}

void acpi_pm_reset(struct acpi_pm *p)
{
	p->status = p->enable = p->control = 0;
	p->seen_halves = ticks(p) >> 31;
	update_line(p);
}

void acpi_pm_power_button(struct acpi_pm *p)
{
	p->status |= PWRBTN_STS;
	update_line(p);
}
