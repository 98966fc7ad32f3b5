/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_linux: bzImage, initrd, zero page.
 *
 * Called from: start of a VM.  The kernel goes to its preferred address: loaded
 * lower, a 64-bit kernel would move itself there; the initrd as high as the
 * kernel allows.  Field names are the protocol's.
 * Pure (tests/host/test_load_linux.c, tests/fuzz/fuzz_linux.c).
 * Spec: Linux Documentation/arch/x86/boot.rst.
 */
#include "hv/e820.h"
#include "hv/load_linux.h"

/* The setup header, at the same offset in the file and in boot_params. */
struct setup_header {
	uint8_t setup_sects;
	uint16_t root_flags;
	uint32_t syssize;
	uint16_t ram_size, vid_mode, root_dev, boot_flag;
	uint8_t jump[2]; /* its second byte says how long the header is */
	uint32_t header;
	uint16_t version;
	uint32_t realmode_swtch;
	uint16_t start_sys_seg, kernel_version;
	uint8_t type_of_loader, loadflags;
	uint16_t setup_move_size;
	uint32_t code32_start, ramdisk_image, ramdisk_size, bootsect_kludge;
	uint16_t heap_end_ptr;
	uint8_t ext_loader_ver, ext_loader_type;
	uint32_t cmd_line_ptr, initrd_addr_max, kernel_alignment;
	uint8_t relocatable_kernel, min_alignment;
	uint16_t xloadflags;
	uint32_t cmdline_size, hardware_subarch;
	uint64_t hardware_subarch_data;
	uint32_t payload_offset, payload_length;
	uint64_t setup_data, pref_address;
	uint32_t init_size, handover_offset;
} __packed;

#define HDR	       0x1f1
#define HDR_AT(f, off) _Static_assert(HDR + offsetof(struct setup_header, f) == (off), #f)
HDR_AT(setup_sects, 0x1f1);
HDR_AT(syssize, 0x1f4);
HDR_AT(boot_flag, 0x1fe);
HDR_AT(header, 0x202);
HDR_AT(version, 0x206);
HDR_AT(type_of_loader, 0x210);
HDR_AT(loadflags, 0x211);
HDR_AT(code32_start, 0x214);
HDR_AT(ramdisk_image, 0x218);
HDR_AT(ramdisk_size, 0x21c);
HDR_AT(cmd_line_ptr, 0x228);
HDR_AT(initrd_addr_max, 0x22c);
HDR_AT(kernel_alignment, 0x230);
HDR_AT(relocatable_kernel, 0x234);
HDR_AT(xloadflags, 0x236);
HDR_AT(cmdline_size, 0x238);
HDR_AT(setup_data, 0x250);
HDR_AT(pref_address, 0x258);
HDR_AT(init_size, 0x260);
_Static_assert(HDR + sizeof(struct setup_header) == 0x268, "header of version 2.12");

/* boot_params, the zero page; the header may reach up to the EDD buffer. */
#define BP_ACPI_RSDP_ADDR 0x070
#define BP_E820_ENTRIES	  0x1e8
#define BP_HDR_END	  0x290
#define BP_E820_TABLE	  0x2d0

#define BOOT_FLAG	    0xaa55
#define HEADER_MAGIC	    0x53726448 /* "HdrS" */
#define VERSION_MIN	    0x020c
#define LOADED_HIGH	    BIT(0)
#define CAN_USE_HEAP	    BIT(7)
#define XLF_KERNEL_64	    BIT(0)
#define LOADER_UNDEFINED    0xff
#define VID_MODE_NORMAL	    0xffff
#define SECTOR		    512
#define DEFAULT_SETUP_SECTS 4
#define ENTRY_64	    0x200

/* What is to be loaded, once the header has been checked. */
struct bzimage {
	const struct blob *file;
	struct setup_header hdr;
	unsigned hdr_end;      /* offset in the file behind the header */
	uint64_t payload, len; /* protected-mode part in the file */
	uint64_t room;	       /* bytes it needs while it starts */
	uint64_t addr;	       /* where it goes */
};

bool load_linux_probe(const struct blob *file)
{
	uint16_t flag;
	uint32_t magic;

	return blob_read(file, 0x1fe, &flag, sizeof(flag)) &&
	       blob_read(file, 0x202, &magic, sizeof(magic)) && flag == BOOT_FLAG &&
	       magic == HEADER_MAGIC;
}

static enum hv_status check_protocol(const struct bzimage *k, struct hv_error *err)
{
	const struct setup_header *h = &k->hdr;
	const char *name = k->file->name;

	if (h->version < VERSION_MIN) {
		hv_error_set(err, "%s: boot protocol %u.%02u, but 2.12 or later is needed", name,
			     h->version >> 8, h->version & 0xff);
		return HV_NOTSUP;
	}
	if (!(h->xloadflags & XLF_KERNEL_64)) {
		hv_error_set(err, "%s: xloadflags 0x%x: the kernel has no 64-bit entry", name,
			     h->xloadflags);
		return HV_NOTSUP;
	}
	if (!(h->loadflags & LOADED_HIGH)) {
		hv_error_set(err, "%s: loadflags 0x%x: zImage is not supported, only bzImage", name,
			     h->loadflags);
		return HV_NOTSUP;
	}
	if (k->hdr_end < HDR + sizeof(*h) || k->hdr_end > BP_HDR_END) {
		hv_error_set(err, "%s: setup header ends at 0x%x, allowed is 0x%x to 0x%x", name,
			     k->hdr_end, (unsigned)(HDR + sizeof(*h)), BP_HDR_END);
		return HV_INVAL;
	}
	return HV_OK;
}

static enum hv_status check_size(struct bzimage *k, struct hv_error *err)
{
	const struct setup_header *h = &k->hdr;
	uint64_t sects = h->setup_sects ? h->setup_sects : DEFAULT_SETUP_SECTS;
	uint64_t syssize = (uint64_t)h->syssize * 16;

	k->payload = (sects + 1) * SECTOR;
	/* syssize is rounded up to 16 bytes; the file need not be. */
	if (k->payload >= k->file->size || syssize > k->file->size - k->payload + 15) {
		hv_error_set(err,
			     "%s: truncated: 0x%lx bytes, but the header says 0x%lx of setup and "
			     "0x%lx of kernel",
			     k->file->name, k->file->size, k->payload, syssize);
		return HV_INVAL;
	}
	k->len = k->file->size - k->payload;
	k->room = max_u64(k->len, h->init_size);
	return HV_OK;
}

static enum hv_status read_header(struct bzimage *k, struct hv_error *err)
{
	enum hv_status st;

	if (!load_linux_probe(k->file)) {
		hv_error_set(err, "%s: not a bzImage: no boot signature 0xaa55 and \"HdrS\"",
			     k->file->name);
		return HV_INVAL;
	}
	if (!blob_read(k->file, HDR, &k->hdr, sizeof(k->hdr))) {
		hv_error_set(err, "%s: truncated: 0x%lx bytes, the setup header alone needs 0x%x",
			     k->file->name, k->file->size, (unsigned)(HDR + sizeof(k->hdr)));
		return HV_INVAL;
	}
	k->hdr_end = 0x202u + k->hdr.jump[1];
	st = check_protocol(k, err);
	return st ? st : check_size(k, err);
}

/* True when the kernel has room at @addr. */
static bool room_at(const struct load_env *env, const struct bzimage *k, uint64_t addr)
{
	return addr >= MIB && addr <= env->ram_low && k->room <= env->ram_low - addr;
}

static enum hv_status place_kernel(const struct load_env *env, struct bzimage *k,
				   struct hv_error *err)
{
	k->addr = k->hdr.pref_address;
	if (room_at(env, k, k->addr))
		return HV_OK;
	hv_error_set(err, "%s: needs 0x%lx bytes at 0x%lx, but RAM ends at 0x%lx", k->file->name,
		     k->room, k->addr, env->ram_low);
	return HV_RANGE;
}

static enum hv_status place_initrd(const struct load_env *env, struct bzimage *k,
				   const struct blob *initrd, struct hv_error *err)
{
	uint64_t top = min_u64((uint64_t)k->hdr.initrd_addr_max + 1, env->ram_low);
	uint64_t bottom = align_up(k->addr + k->room, PAGE_SIZE);
	uint64_t addr;

	k->hdr.ramdisk_image = k->hdr.ramdisk_size = 0;
	if (!initrd || !initrd->size)
		return HV_OK;
	addr = initrd->size <= top ? align_down(top - initrd->size, PAGE_SIZE) : 0;
	if (addr < bottom) {
		hv_error_set(err,
			     "%s: 0x%lx bytes do not fit between the kernel's end 0x%lx and 0x%lx",
			     initrd->name, initrd->size, bottom, top);
		return HV_RANGE;
	}
	k->hdr.ramdisk_image = (uint32_t)addr;
	k->hdr.ramdisk_size = (uint32_t)initrd->size;
	return env->copy(env->ctx, GPA(addr), initrd, 0, initrd->size);
}

static enum hv_status write_cmdline(const struct load_env *env, struct bzimage *k,
				    const char *cmdline, struct hv_error *err)
{
	size_t len = strlen(cmdline);
	uint64_t max = min_u64(k->hdr.cmdline_size, LOAD_LOW_END - LOAD_STRINGS - 1);

	if (len > max) {
		hv_error_set(err, "%s: command line of %lu bytes, but the kernel takes %lu",
			     k->file->name, (uint64_t)len, max);
		return HV_RANGE;
	}
	k->hdr.cmd_line_ptr = LOAD_STRINGS;
	return env->write(env->ctx, GPA(LOAD_STRINGS), cmdline, len + 1);
}

static enum hv_status write_e820(const struct load_env *env)
{
	struct e820_map map;
	uint8_t count;
	enum hv_status st;

	e820_build(&map, env->ram_low, env->ram_high);
	count = (uint8_t)map.count;
	st = env->write(env->ctx, GPA(LOAD_INFO + BP_E820_ENTRIES), &count, sizeof(count));
	if (st)
		return st;
	return env->write(env->ctx, GPA(LOAD_INFO + BP_E820_TABLE), map.entry,
			  map.count * sizeof(map.entry[0]));
}

/* Everything in boot_params that is not written stays 0, as guest RAM starts. */
static enum hv_status write_boot_params(const struct load_env *env, struct bzimage *k)
{
	struct setup_header *h = &k->hdr;
	uint64_t tail = HDR + sizeof(*h);
	enum hv_status st;

	h->type_of_loader = LOADER_UNDEFINED;
	h->loadflags &= (uint8_t)~CAN_USE_HEAP;
	h->vid_mode = VID_MODE_NORMAL;
	h->code32_start = (uint32_t)k->addr;
	h->setup_data = 0;
	st = env->write(env->ctx, GPA(LOAD_INFO + HDR), h, sizeof(*h));
	/* Fields of later versions, as the kernel has them. */
	if (!st && k->hdr_end > tail)
		st = env->copy(env->ctx, GPA(LOAD_INFO + tail), k->file, tail, k->hdr_end - tail);
	if (!st)
		st = env->write(env->ctx, GPA(LOAD_INFO + BP_ACPI_RSDP_ADDR), &env->acpi_rsdp,
				sizeof(env->acpi_rsdp));
	return st ? st : write_e820(env);
}

enum hv_status load_linux(const struct load_env *env, const struct load_image *img,
			  struct load_result *out, struct hv_error *err)
{
	struct bzimage k = {.file = img->kernel};
	enum hv_status st;

	st = read_header(&k, err);
	if (!st)
		st = place_kernel(env, &k, err);
	if (!st)
		st = env->copy(env->ctx, GPA(k.addr), k.file, k.payload, k.len);
	if (!st)
		st = place_initrd(env, &k, img->initrd, err);
	if (!st)
		st = write_cmdline(env, &k, img->cmdline, err);
	if (!st)
		st = write_boot_params(env, &k);
	if (!st)
		st = load_state_long(env, out, k.addr + ENTRY_64);
	if (!st)
		out->regs.gpr[GPR_RSI] = LOAD_INFO;
	return st;
}
