/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * efi_main: the UEFI application's entry.  Order of the boot stage: console,
 * configuration, files, machine description, end of boot services, hypervisor.
 */
#include <efi.h>

#include "boot/config.h"
#include "boot/edit.h"
#include "boot/editor.h"
#include "boot/efi_con.h"
#include "boot/efi_cpus.h"
#include "boot/efi_exit.h"
#include "boot/efi_file.h"
#include "boot/efi_saved.h"
#include "boot/handoff.h"
#include "boot/libc.h"
#include "hv/version.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *st);

#define CONFIG_DEFAULT_PATH "/EFI/faultline/faultline.dtb"

/* Static: it must outlive the firmware's stack and pools. */
static struct handoff handoff;
static size_t saved_len; /* of what config_file has from variables, if the file could not take it */
static uint8_t config_file[CONFIG_TREE_SIZE] __aligned(8), config_tree[CONFIG_TREE_SIZE] __aligned(8);

static bool same_guid(const EFI_GUID *a, const EFI_GUID *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void find_rsdp(EFI_SYSTEM_TABLE *st, struct handoff *h)
{
	EFI_GUID acpi20 = ACPI_20_TABLE_GUID, acpi10 = ACPI_TABLE_GUID;

	h->rsdp = HPA_NONE;
	for (UINTN i = 0; i < st->NumberOfTableEntries; i++) {
		EFI_CONFIGURATION_TABLE *t = &st->ConfigurationTable[i];

		if (same_guid(&t->VendorGuid, &acpi20)) {
			h->rsdp = HPA((uint64_t)t->VendorTable);
			return;
		}
		if (same_guid(&t->VendorGuid, &acpi10))
			h->rsdp = HPA((uint64_t)t->VendorTable);
	}
}

/* The load options' first word, if it looks like a path, else the default. */
static void choose_config_path(EFI_LOADED_IMAGE *li, struct handoff *h)
{
	const CHAR16 *o = li->LoadOptions;
	size_t n = 0, max = li->LoadOptionsSize / sizeof(*o);

	hv_snprintf(h->config_path, sizeof(h->config_path), "%s", CONFIG_DEFAULT_PATH);
	if (!o || !max || (o[0] != '\\' && o[0] != '/'))
		return;
	for (; n < max && n + 1 < sizeof(h->config_path) && o[n] > ' ' && o[n] < 127; n++)
		h->config_path[n] = (char)o[n];
	h->config_path[n] = 0;
}

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	efi_con_printf("config: %s\n", text);
}

/* What was saved at run time goes into the file, or counts without it. */
static void take_saved(EFI_RUNTIME_SERVICES *rt, const struct handoff *h)
{
	size_t len;
	enum hv_status s = efi_saved_read(rt, config_file, sizeof(config_file), &len);

	if (s == HV_NOENT)
		return;
	if (s) {
		efi_con_printf("config: what was saved at run time is damaged, and dropped\n");
		efi_saved_drop(rt);
		return;
	}
	s = efi_file_save(h->config_path, config_file, len);
	if (!s) {
		efi_con_printf("config: what was saved at run time is in %s now\n", h->config_path);
		efi_saved_drop(rt);
		return;
	}
	saved_len = len;
	efi_con_printf("config: what was saved at run time counts, but cannot be written to %s: %s\n",
		       h->config_path, hv_status_name(s));
}

static enum hv_status read_file(const struct handoff *h, size_t *len)
{
	*len = saved_len;
	return saved_len ? HV_OK : efi_file_read(h->config_path, config_file, sizeof(config_file), len);
}

static void read_config(struct handoff *h)
{
	struct hv_error err;
	enum hv_status s;
	size_t len = 0;

	config_defaults(&h->config);
	s = read_file(h, &len);
	if (s == HV_NOENT) {
		efi_con_printf("config: no %s, using the built-in default\n", h->config_path);
		config_builtin_vm(&h->config);
		return;
	}
	if (s) {
		efi_con_printf("config: %s: %s (at most %u KiB)\n", h->config_path,
			       hv_status_name(s), (unsigned)(CONFIG_TREE_SIZE / KIB));
		return;
	}
	h->have_config_file = true;
	s = config_parse(config_file, len, &h->config, &(struct config_sink){ warn, NULL }, &err);
	if (s)
		efi_con_printf("config: %s: %s; no VM is defined\n", h->config_path, err.text);
	else
		h->config_tree = config_file;
}

/* ---- the editor ------------------------------------------------------------------- */

static unsigned check_tree(void *ctx)
{
	struct handoff *h = ctx;
	struct hv_error err;
	unsigned good = 0;

	config_defaults(&h->config);
	if (config_parse(config_tree, sizeof(config_tree), &h->config, &(struct config_sink){ warn, NULL },
			 &err))
		efi_con_printf("config: %s\n", err.text);
	for (uint32_t i = 0; i < h->config.vm_count; i++) {
		good += !h->config.vm[i].refused;
		if (h->config.vm[i].refused)
			efi_con_printf("config: vm '%s': %s\n", h->config.vm[i].name,
				       h->config.vm[i].why.text);
	}
	return good;
}

static void reload_tree(void *ctx)
{
	struct handoff *h = ctx;
	size_t len;

	read_config(h);
	edit_begin(config_tree, sizeof(config_tree),
		   h->have_config_file && !read_file(h, &len) ? config_file : NULL);
}

static void edit_config(struct handoff *h)
{
	const struct editor e = { h->config_path, config_tree, sizeof(config_tree), check_tree,
				  reload_tree, h };

	if (!editor_wanted(h->config.boot_wait))
		return;
	reload_tree(h);
	editor_run(&e);
	h->config_tree = config_tree;
}

static void refuse(struct config_vm *vm, const char *what, const char *path, enum hv_status s)
{
	if (vm->refused)
		return;
	vm->refused = true;
	hv_error_set(&vm->why, "%s '%s': %s", what, path, hv_status_name(s));
}

static void load_one(struct handoff *h, struct config_vm *vm, const char *what, const char *path)
{
	enum hv_status s;

	if (!path[0])
		return;
	s = efi_file_load(h, path);
	if (s)
		refuse(vm, what, path, s);
}

static void load_files(struct handoff *h)
{
	for (uint32_t i = 0; i < h->config.vm_count; i++) {
		struct config_vm *vm = &h->config.vm[i];

		if (vm->refused)
			continue;
		load_one(h, vm, "kernel", vm->kernel);
		load_one(h, vm, "initrd", vm->initrd);
		for (uint32_t m = 0; m < vm->module_count; m++)
			load_one(h, vm, "module", vm->module[m]);
	}
}

/* Days since 1970 of a proleptic Gregorian date. */
static uint64_t days_from_date(uint64_t y, uint64_t m, uint64_t d)
{
	y -= m <= 2;
	m = m > 2 ? m - 3 : m + 9;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d - 1 - 719468;
}

static void read_clock(EFI_SYSTEM_TABLE *st, struct handoff *h)
{
	EFI_TIME t;

	if (EFI_ERROR(st->RuntimeServices->GetTime(&t, NULL)))
		return;
	h->epoch = days_from_date(t.Year, t.Month, t.Day) * 86400 + t.Hour * 3600u +
		   t.Minute * 60u + t.Second;
	if (t.TimeZone != EFI_UNSPECIFIED_TIMEZONE)
		h->epoch -= (uint64_t)(int64_t)t.TimeZone * 60;
}

static bool allocate_trampoline(EFI_BOOT_SERVICES *bs, struct handoff *h)
{
	EFI_PHYSICAL_ADDRESS at = 0x9ffff;

	/* EfiReservedMemory so that nobody hands the page out while it runs. */
	if (EFI_ERROR(bs->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, 1, &at)))
		return false;
	h->trampoline = HPA(at);
	return true;
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *st)
{
	EFI_GUID loaded_image = LOADED_IMAGE_PROTOCOL;
	struct handoff *h = &handoff;
	EFI_LOADED_IMAGE *li;
	enum hv_status s;

	st->BootServices->SetWatchdogTimer(0, 0, 0, NULL);
	efi_con_init(st);
	efi_con_printf("Faultline %s\n", HV_VERSION);
	if (EFI_ERROR(st->BootServices->HandleProtocol(image, &loaded_image, (void **)&li)))
		return EFI_LOAD_ERROR;
	h->image_base = HPA((uint64_t)li->ImageBase);
	h->image_size = align_up(li->ImageSize, PAGE_SIZE);
	choose_config_path(li, h);
	s = efi_file_init(image, st);
	if (s)
		efi_con_printf("boot: no file system on the boot volume: %s\n", hv_status_name(s));
	libc_use_thread_page();
	take_saved(st->RuntimeServices, h);
	read_config(h);
	edit_config(h);
	load_files(h);
	find_rsdp(st, h);
	efi_cpus_find(st, h);
	read_clock(st, h);
	h->reset_system = (uint64_t)st->RuntimeServices->ResetSystem;
	h->set_variable = (uint64_t)st->RuntimeServices->SetVariable;
	if (!allocate_trampoline(st->BootServices, h)) {
		efi_con_printf("boot: no free page below 640 KiB to start CPUs with\n");
		h->trampoline = HPA_NONE;
	}
	s = efi_exit_boot_services(image, st, h);
	if (s) {
		efi_con_printf("boot: cannot leave boot services: %s\n", hv_status_name(s));
		return EFI_ABORTED;
	}
	hv_main(h);
}
