/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_multiboot: header, image, modules, information structure.
 *
 * Called from: start of a VM.  BSS needs no clearing, for guest RAM starts as
 * zero and nothing that is loaded may overlap anything else.  Field names are
 * the specification's.  Pure (tests/host/test_load_multiboot.c,
 * tests/fuzz/fuzz_multiboot.c).  Spec: Multiboot Specification 0.6.96, 3.
 */
#include "hv/e820.h"
#include "hv/load_elf.h"
#include "hv/load_multiboot.h"

#define HEADER_MAGIC 0x1badb002u
#define LOADER_MAGIC 0x2badb002u
#define SEARCH_LEN   8192

#define FLAG_MODULES_ALIGNED BIT(0)
#define FLAG_MEMORY	     BIT(1)
#define FLAG_VIDEO	     BIT(2)
#define FLAG_ADDRESSES	     BIT(16)
#define FLAGS_MANDATORY	     0xffffu
#define FLAGS_KNOWN	     (FLAG_MODULES_ALIGNED | FLAG_MEMORY | FLAG_VIDEO)

#define INFO_MEMORY	 BIT(0)
#define INFO_CMDLINE	 BIT(2)
#define INFO_MODS	 BIT(3)
#define INFO_MMAP	 BIT(6)
#define INFO_LOADER_NAME BIT(9)

struct mb_header {
	uint32_t magic, flags, checksum;
};
_Static_assert(sizeof(struct mb_header) == 12, "multiboot header");

/* The address fields that follow when FLAG_ADDRESSES is set. */
struct mb_addresses {
	uint32_t header_addr, load_addr, load_end_addr, bss_end_addr, entry_addr;
};
_Static_assert(sizeof(struct mb_addresses) == 20, "multiboot header");

struct mb_info {
	uint32_t flags;
	uint32_t mem_lower, mem_upper; /* KiB */
	uint32_t boot_device, cmdline;
	uint32_t mods_count, mods_addr;
	uint32_t syms[4];
	uint32_t mmap_length, mmap_addr;
	uint32_t drives_length, drives_addr, config_table, boot_loader_name;
	uint32_t apm_table;
};
_Static_assert(offsetof(struct mb_info, cmdline) == 16, "mb_info");
_Static_assert(offsetof(struct mb_info, mods_addr) == 24, "mb_info");
_Static_assert(offsetof(struct mb_info, mmap_length) == 44, "mb_info");
_Static_assert(offsetof(struct mb_info, boot_loader_name) == 64, "mb_info");

struct mb_module {
	uint32_t mod_start, mod_end, string, reserved;
};
_Static_assert(sizeof(struct mb_module) == 16, "module structure");

struct mb_mmap {
	uint32_t size; /* of what follows it */
	struct e820_entry entry;
} __packed;
_Static_assert(sizeof(struct mb_mmap) == 24, "mmap entry");

/* Within the page at LOAD_INFO. */
#define INFO_AT	   LOAD_INFO
#define MODULES_AT (LOAD_INFO + 0x100)
#define MMAP_AT	   (LOAD_INFO + 0x400)
_Static_assert(sizeof(struct mb_info) <= 0x100, "low structures");
_Static_assert(CONFIG_MAX_MODULES * sizeof(struct mb_module) <= 0x300, "low structures");
_Static_assert(E820_MAX * sizeof(struct mb_mmap) <= 0xc00, "low structures");

/* Finds the header; its offset in the file goes to @at. */
static bool find_header(const struct blob *file, struct mb_header *h, uint64_t *at)
{
	for (uint64_t off = 0; off + sizeof(*h) <= SEARCH_LEN; off += 4) {
		if (!blob_read(file, off, h, sizeof(*h)))
			return false;
		if (h->magic == HEADER_MAGIC && h->magic + h->flags + h->checksum == 0) {
			*at = off;
			return true;
		}
	}
	return false;
}

bool load_multiboot_probe(const struct blob *file)
{
	struct mb_header h;
	uint64_t at;

	return find_header(file, &h, &at);
}

/* Loads by the header's address fields: file offsets follow from where the header lies. */
static enum hv_status load_addresses(const struct load_env *env, const struct blob *file,
				     uint64_t header_off, struct load_extent *out,
				     struct hv_error *err)
{
	struct mb_addresses a;
	uint64_t before, off, len, mem;

	if (!blob_read(file, header_off + sizeof(struct mb_header), &a, sizeof(a))) {
		hv_error_set(err, "%s: truncated in the multiboot header at 0x%lx", file->name,
			     header_off);
		return HV_INVAL;
	}
	before = (uint64_t)a.header_addr - a.load_addr;
	if (a.load_addr > a.header_addr || before > header_off) {
		hv_error_set(err,
			     "%s: load_addr 0x%x must lie at or below header_addr 0x%x, at most "
			     "0x%lx bytes",
			     file->name, a.load_addr, a.header_addr, header_off);
		return HV_INVAL;
	}
	off = header_off - before;
	len = a.load_end_addr ? (uint64_t)a.load_end_addr - a.load_addr : file->size - off;
	if ((a.load_end_addr && a.load_end_addr < a.load_addr) || len > file->size - off) {
		hv_error_set(err, "%s: load_end_addr 0x%x: allowed is 0x%x to 0x%lx", file->name,
			     a.load_end_addr, a.load_addr, a.load_addr + (file->size - off));
		return HV_INVAL;
	}
	mem = a.bss_end_addr ? (uint64_t)a.bss_end_addr - a.load_addr : len;
	if (a.bss_end_addr && a.bss_end_addr < a.load_addr + len) {
		hv_error_set(err, "%s: bss_end_addr 0x%x is below the end of data 0x%lx",
			     file->name, a.bss_end_addr, a.load_addr + len);
		return HV_INVAL;
	}
	if (!load_fits(env, file->name, "image", a.load_addr, mem, err))
		return HV_RANGE;
	if (a.entry_addr < a.load_addr || a.entry_addr - a.load_addr >= mem) {
		hv_error_set(err, "%s: entry_addr 0x%x is outside the image 0x%x-0x%lx", file->name,
			     a.entry_addr, a.load_addr, a.load_addr + mem);
		return HV_INVAL;
	}
	out->entry = a.entry_addr;
	out->end = a.load_addr + mem;
	return env->copy(env->ctx, GPA(a.load_addr), file, off, len);
}

static enum hv_status load_kernel(const struct load_env *env, const struct blob *file,
				  struct load_extent *out, struct hv_error *err)
{
	struct mb_header h;
	uint64_t at;

	if (!find_header(file, &h, &at)) {
		hv_error_set(err, "%s: no multiboot header in the first %u bytes", file->name,
			     SEARCH_LEN);
		return HV_INVAL;
	}
	if (h.flags & FLAGS_MANDATORY & ~FLAGS_KNOWN) {
		hv_error_set(err, "%s: multiboot flags 0x%x ask for more than 0x%x", file->name,
			     h.flags, FLAGS_KNOWN | FLAG_ADDRESSES);
		return HV_NOTSUP;
	}
	if (h.flags & FLAG_ADDRESSES)
		return load_addresses(env, file, at, out, err);
	if (load_elf_probe(file))
		return load_elf(env, file, out, err);
	hv_error_set(err, "%s: multiboot flags 0x%x without address fields, and not an ELF file",
		     file->name, h.flags);
	return HV_INVAL;
}

/* Writes strings one behind the other. */
struct strings {
	const struct load_env *env;
	const char *file; /* that errors name */
	uint64_t at;
};

static enum hv_status append(struct strings *t, const char *s, size_t len, struct hv_error *err)
{
	enum hv_status st;

	if (len > LOAD_LOW_END - t->at) {
		hv_error_set(err, "%s: its strings need more than %lu bytes in all", t->file,
			     (uint64_t)(LOAD_LOW_END - LOAD_STRINGS));
		return HV_RANGE;
	}
	st = t->env->write(t->env->ctx, GPA(t->at), s, len);
	t->at += len;
	return st;
}

static enum hv_status append_string(struct strings *t, const char *s, uint32_t *addr,
				    struct hv_error *err)
{
	*addr = (uint32_t)t->at;
	return append(t, s, strlen(s) + 1, err);
}

static enum hv_status append_cmdline(struct strings *t, const char *cmdline, uint32_t *addr,
				     struct hv_error *err)
{
	enum hv_status st;

	*addr = (uint32_t)t->at;
	st = append(t, t->file, strlen(t->file), err);
	if (!st)
		st = append(t, " ", 1, err);
	return st ? st : append(t, cmdline, strlen(cmdline) + 1, err);
}

/* Page-aligned, one behind the other, from behind the image and from 1 MiB on. */
static enum hv_status load_modules(const struct load_env *env, const struct load_image *img,
				   uint64_t image_end, struct strings *t, struct hv_error *err)
{
	uint64_t at = align_up(max_u64(image_end, MIB), PAGE_SIZE);

	for (unsigned i = 0; i < img->module_count; i++) {
		const struct blob *file = img->module[i];
		struct mb_module m = {.mod_start = (uint32_t)at};
		enum hv_status st;

		if (!load_fits(env, file->name, "module", at, file->size, err))
			return HV_RANGE;
		m.mod_end = (uint32_t)(at + file->size);
		st = append_string(t, file->name, &m.string, err);
		if (!st)
			st = env->copy(env->ctx, GPA(at), file, 0, file->size);
		if (!st)
			st = env->write(env->ctx, GPA(MODULES_AT + i * sizeof(m)), &m, sizeof(m));
		if (st)
			return st;
		at = align_up(at + file->size, PAGE_SIZE);
	}
	return HV_OK;
}

static enum hv_status write_mmap(const struct load_env *env, struct mb_info *info)
{
	struct mb_mmap mmap[E820_MAX];
	struct e820_map map;

	e820_build(&map, env->ram_low, env->ram_high);
	for (unsigned i = 0; i < map.count; i++)
		mmap[i] = (struct mb_mmap){.size = sizeof(map.entry[0]), .entry = map.entry[i]};
	info->mmap_addr = MMAP_AT;
	info->mmap_length = (uint32_t)(map.count * sizeof(mmap[0]));
	return env->write(env->ctx, GPA(MMAP_AT), mmap, info->mmap_length);
}

static enum hv_status write_info(const struct load_env *env, const struct load_image *img,
				 struct strings *t, struct hv_error *err)
{
	struct mb_info info = {
		.flags = INFO_MEMORY | INFO_CMDLINE | INFO_MODS | INFO_MMAP | INFO_LOADER_NAME,
		.mem_lower = (uint32_t)(E820_EBDA / KIB),
		.mem_upper = env->ram_low > MIB ? (uint32_t)((env->ram_low - MIB) / KIB) : 0,
		.mods_count = img->module_count,
		.mods_addr = MODULES_AT,
	};
	enum hv_status st;

	st = append_cmdline(t, img->cmdline, &info.cmdline, err);
	if (!st)
		st = append_string(t, "Faultline", &info.boot_loader_name, err);
	if (!st)
		st = write_mmap(env, &info);
	return st ? st : env->write(env->ctx, GPA(INFO_AT), &info, sizeof(info));
}

enum hv_status load_multiboot(const struct load_env *env, const struct load_image *img,
			      struct load_result *out, struct hv_error *err)
{
	struct strings t = {.env = env, .file = img->kernel->name, .at = LOAD_STRINGS};
	struct load_extent image;
	enum hv_status st;

	if (img->module_count > CONFIG_MAX_MODULES) {
		hv_error_set(err, "%s: %u modules, at most %u are allowed", img->kernel->name,
			     img->module_count, CONFIG_MAX_MODULES);
		return HV_RANGE;
	}
	st = load_kernel(env, img->kernel, &image, err);
	if (!st)
		st = load_modules(env, img, image.end, &t, err);
	if (!st)
		st = write_info(env, img, &t, err);
	if (st)
		return st;
	load_state_protected(out, image.entry);
	out->regs.gpr[GPR_RAX] = LOADER_MAGIC;
	out->regs.gpr[GPR_RBX] = INFO_AT;
	return HV_OK;
}
