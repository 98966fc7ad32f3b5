/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acpi_pm: ACPI fixed hardware: power-management timer, PM1a event and control
 * block, SCI.  Legacy mode does not exist (SMI_CMD is 0), so SCI_EN reads 1.
 *
 * The timer is 32 bits wide: the FADT must set TMR_VAL_EXT.  Called with the
 * VM's device lock held.  Pure.  Spec: ACPI 6.4, 4.8.3.
 */
#pragma once

#include "hv/dev/dev.h"

#define ACPI_PM_PORT	  0x600
#define ACPI_PM_LEN	  12
#define ACPI_PM1A_EVT	  0x600 /* status, then enable, two bytes each */
#define ACPI_PM1A_EVT_LEN 4
#define ACPI_PM1A_CNT	  0x604
#define ACPI_PM1A_CNT_LEN 2
#define ACPI_PM_TMR	  0x608
#define ACPI_PM_TMR_LEN	  4
#define ACPI_SCI_IRQ	  9
#define ACPI_PM_TIMER_HZ  3579545
#define ACPI_S5_SLP_TYP	  5

struct acpi_pm {
	const struct dev_env *env;
	void (*power_off)(void *ctx);
	void *ctx;
	uint16_t status, enable, control;
	uint64_t seen_halves; /* half turns of the timer that TMR_STS has reported */
	bool line;
};

extern const struct dev_ops acpi_pm_ops;

void acpi_pm_init(struct acpi_pm *p, const struct dev_env *env, void (*power_off)(void *ctx),
		  void *ctx);
void acpi_pm_reset(struct acpi_pm *p);
/* Presses the fixed-hardware power button: asks the guest to shut down. */
void acpi_pm_power_button(struct acpi_pm *p);

/* When TMR_STS will next raise the SCI; acpi_pm_poll then does. */
uint64_t acpi_pm_next_deadline_ns(const struct acpi_pm *p);
void acpi_pm_poll(struct acpi_pm *p);
