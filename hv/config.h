/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config: what the machine and its VMs shall be, typed and range-checked.
 * Written once by the boot stage (boot/config.c, from the device tree), then
 * constant.  Pure data.  docs/configuration.md lists every property.
 */
#pragma once

#include "hv/base.h"
#include "hv/fmt.h"

#define CONFIG_MAX_VMS	   16
#define CONFIG_MAX_VCPUS   32
#define CONFIG_MAX_MODULES 4
#define CONFIG_NAME_LEN	   24
#define CONFIG_PATH_LEN	   128
#define CONFIG_CMDLINE_LEN 1024
#define CONFIG_TREE_SIZE   (64 * KIB) /* of the device tree at most */
#define CONFIG_MAX_WEIGHT  10000

/* Guest RAM below 4 GiB ends here at the latest; the rest goes above 4 GiB. */
#define CONFIG_HOLE_START 0xc0000000ULL
#define CONFIG_MIN_RAM	  (1 * MIB)
#define CONFIG_MAX_RAM	  (512 * GIB)

enum config_kernel_type { KERNEL_AUTO, KERNEL_LINUX, KERNEL_MULTIBOOT, KERNEL_FLAT };
enum config_policy { POLICY_RESET, POLICY_STOP, POLICY_PAUSE, POLICY_AS_REBOOT };
enum config_flat_mode { FLAT_REAL, FLAT_PROTECTED, FLAT_LONG };

struct config_vm {
	char name[CONFIG_NAME_LEN];
	bool refused;		 /* the VM exists by name only: why tells what is wrong */
	struct hv_error why;
	uint32_t vcpus;		 /* 1 to CONFIG_MAX_VCPUS */
	uint64_t ram_low;	 /* bytes of RAM from address 0 */
	uint64_t ram_high;	 /* bytes of RAM from 4 GiB */
	uint64_t cpu_mask;	 /* host CPUs that may run its vCPUs; 0: any */
	uint8_t max_leaf_shift;	 /* 12, 21 or 30: largest nested leaf */
	enum config_kernel_type type;
	enum config_policy on_reboot;
	enum config_policy on_crash; /* a triple fault */
	uint32_t weight;	     /* of its share of a CPU, 1 to CONFIG_MAX_WEIGHT */
	uint32_t cap;		     /* percent of a CPU that each vCPU gets at most; 0: no cap */
	enum config_flat_mode flat_mode;
	uint64_t flat_load, flat_entry;
	bool test_exit;		 /* isa-debug-exit at port 0xf4 */
	bool test_calls;	 /* the hypercalls of hv/test_call.h */
	bool no_access_bits;	 /* nested leaves are aged and protected, whatever the CPU has */
	bool fw_cfg;		 /* fw_cfg at ports 0x510 and 0x511 */
	uint32_t module_count;
	char kernel[CONFIG_PATH_LEN];
	char initrd[CONFIG_PATH_LEN];
	char module[CONFIG_MAX_MODULES][CONFIG_PATH_LEN];
	char cmdline[CONFIG_CMDLINE_LEN];
};

enum config_console_kind { CONSOLE_AUTO, CONSOLE_PORT, CONSOLE_MMIO, CONSOLE_NONE };

struct config_console {
	enum config_console_kind kind;
	uint64_t base;
	uint32_t stride; /* bytes between registers: 1, 2 or 4 */
	uint32_t clock;	 /* Hz */
	uint32_t baud;
	uint8_t escape;	 /* the key that cycles the focus, a control character */
};

enum config_when_idle { WHEN_IDLE_STAY, WHEN_IDLE_POWEROFF };

struct hv_config {
	struct config_console console;
	struct config_console control; /* the second line, for programs; CONSOLE_NONE: none */
	uint8_t log_level;		 /* 0 errors, 1 warnings, 2 information, 3 debug */
	uint32_t boot_wait;		 /* seconds in which a key opens the editor (boot/editor.h) */
	uint32_t max_cpus;		 /* use at most so many host CPUs; 0: all */
	enum config_when_idle when_idle; /* after the last VM has stopped */
	uint32_t vm_count;
	struct config_vm vm[CONFIG_MAX_VMS];
};
