/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_file: files of the volume we were started from. */
#include "boot/efi_file.h"

#include "boot/efi_con.h"

#define FIRST_CHUNK (64 * MIB)
#define READ_PIECE  (4 * MIB)

static EFI_BOOT_SERVICES *bs;
static EFI_FILE_HANDLE root;

enum hv_status efi_file_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *st)
{
	EFI_GUID loaded_image = LOADED_IMAGE_PROTOCOL;
	EFI_GUID simple_fs = SIMPLE_FILE_SYSTEM_PROTOCOL;
	EFI_LOADED_IMAGE *li;
	EFI_FILE_IO_INTERFACE *fs;

	bs = st->BootServices;
	if (EFI_ERROR(bs->HandleProtocol(image, &loaded_image, (void **)&li)))
		return HV_IO;
	if (EFI_ERROR(bs->HandleProtocol(li->DeviceHandle, &simple_fs, (void **)&fs)))
		return HV_NOENT;
	return EFI_ERROR(fs->OpenVolume(fs, &root)) ? HV_IO : HV_OK;
}

#define INFO_SIZE (SIZE_OF_EFI_FILE_INFO + 2 * CONFIG_PATH_LEN + 16)

static enum hv_status open_as(const char *path, UINT64 mode, EFI_FILE_HANDLE *f)
{
	CHAR16 name[CONFIG_PATH_LEN + 8];
	size_t n = 0;

	if (!root)
		return HV_NOENT;
	for (; path[n] && n + 1 < ARRAY_SIZE(name); n++)
		name[n] = path[n] == '/' ? '\\' : (CHAR16)(unsigned char)path[n];
	name[n] = 0;
	return EFI_ERROR(root->Open(root, f, name, mode, 0)) ? HV_NOENT : HV_OK;
}

static enum hv_status open_file(const char *path, EFI_FILE_HANDLE *f, uint64_t *size)
{
	EFI_GUID info_guid = EFI_FILE_INFO_ID;
	uint8_t info[INFO_SIZE] __aligned(8);
	UINTN info_size = sizeof(info);
	enum hv_status st = open_as(path, EFI_FILE_MODE_READ, f);

	if (st)
		return st;
	if (EFI_ERROR((*f)->GetInfo(*f, &info_guid, &info_size, info)) ||
	    (((EFI_FILE_INFO *)(void *)info)->Attribute & EFI_FILE_DIRECTORY)) {
		(*f)->Close(*f);
		return HV_IO;
	}
	*size = ((EFI_FILE_INFO *)(void *)info)->FileSize;
	return HV_OK;
}

static void free_chunks(struct handoff_file *f)
{
	for (uint32_t i = 0; i < f->chunk_count; i++)
		bs->FreePages(f->chunk[i].base.v, f->chunk[i].len / PAGE_SIZE);
	f->chunk_count = 0;
}

/* Memory for @size bytes in as few pieces as the firmware can give. */
static enum hv_status allocate_chunks(struct handoff_file *f, uint64_t size)
{
	uint64_t left = align_up(size, PAGE_SIZE), piece = FIRST_CHUNK;
	EFI_PHYSICAL_ADDRESS at;

	while (left) {
		piece = min_u64(piece, left);
		if (f->chunk_count == HANDOFF_MAX_CHUNKS || piece < PAGE_SIZE) {
			free_chunks(f);
			return HV_NOMEM;
		}
		if (EFI_ERROR(bs->AllocatePages(AllocateAnyPages, EfiLoaderData, piece / PAGE_SIZE,
						&at))) {
			piece = align_down(piece / 2, PAGE_SIZE);
			continue;
		}
		f->chunk[f->chunk_count++] = (struct handoff_range){ HPA(at), piece };
		left -= piece;
	}
	return HV_OK;
}

static enum hv_status read_chunks(EFI_FILE_HANDLE h, struct handoff_file *f)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < f->chunk_count; i++) {
		for (uint64_t off = 0; off < f->chunk[i].len && done < f->size;) {
			UINTN n = min_u64(min_u64(READ_PIECE, f->chunk[i].len - off), f->size - done);
			UINTN got = n;

			if (EFI_ERROR(h->Read(h, &got, (void *)(f->chunk[i].base.v + off))) || !got)
				return HV_IO;
			off += got;
			done += got;
			efi_con_printf("\rload %s: %llu of %llu KiB", f->path,
				       (unsigned long long)(done / KIB),
				       (unsigned long long)(f->size / KIB));
		}
	}
	efi_con_printf("\n");
	return HV_OK;
}

enum hv_status efi_file_load(struct handoff *h, const char *path)
{
	struct handoff_file *f;
	EFI_FILE_HANDLE handle;
	enum hv_status st;

	for (uint32_t i = 0; i < h->file_count; i++)
		if (!strcmp(h->file[i].path, path))
			return HV_OK;
	if (h->file_count == HANDOFF_MAX_FILES)
		return HV_NOMEM;
	f = &h->file[h->file_count];
	memset(f, 0, sizeof(*f));
	hv_snprintf(f->path, sizeof(f->path), "%s", path);
	st = open_file(path, &handle, &f->size);
	if (st)
		return st;
	st = allocate_chunks(f, f->size);
	if (!st) {
		st = read_chunks(handle, f);
		if (st)
			free_chunks(f);
	}
	handle->Close(handle);
	if (!st)
		h->file_count++;
	return st;
}

enum hv_status efi_file_read(const char *path, void *buf, size_t cap, size_t *len)
{
	EFI_FILE_HANDLE handle;
	enum hv_status st;
	uint64_t size;
	UINTN got;

	st = open_file(path, &handle, &size);
	if (st)
		return st;
	got = size;
	if (size > cap)
		st = HV_RANGE;
	else if (EFI_ERROR(handle->Read(handle, &got, buf)) || got != size)
		st = HV_IO;
	handle->Close(handle);
	*len = size;
	return st;
}

/* ---- folders ---------------------------------------------------------------------- */

enum hv_status efi_file_list(const char *path,
			     void (*each)(const char *name, uint64_t size, bool folder))
{
	uint8_t buf[SIZE_OF_EFI_FILE_INFO + 2 * 256] __aligned(8);
	const EFI_FILE_INFO *info = (const void *)buf;
	EFI_FILE_HANDLE f;
	enum hv_status st = open_as(path, EFI_FILE_MODE_READ, &f);
	UINTN size;

	if (st)
		return st;
	for (;;) {
		char name[CONFIG_PATH_LEN];
		size_t n = 0;

		size = sizeof(buf);
		if (EFI_ERROR(f->Read(f, &size, buf))) {
			st = HV_IO;
			break;
		}
		/* A file has no FileName here; the end of a folder has no bytes. */
		if (size < SIZE_OF_EFI_FILE_INFO)
			break;
		for (; info->FileName[n] && n + 1 < sizeof(name); n++)
			name[n] = info->FileName[n] > ' ' && info->FileName[n] < 0x7f ?
					  (char)info->FileName[n] : '?';
		name[n] = 0;
		each(name, info->FileSize, info->Attribute & EFI_FILE_DIRECTORY);
	}
	f->Close(f);
	return st;
}

/* ---- saving ------------------------------------------------------------------------- */

static void remove_file(const char *path)
{
	EFI_FILE_HANDLE f;

	/* Delete closes as well. */
	if (!open_as(path, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, &f))
		f->Delete(f);
}

static enum hv_status write_file(const char *path, const void *data, size_t len)
{
	EFI_FILE_HANDLE f;
	UINTN done = len;
	enum hv_status st;

	st = open_as(path, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, &f);
	if (st)
		return HV_IO;
	if (EFI_ERROR(f->Write(f, &done, (void *)(uintptr_t)data)) || done != len ||
	    EFI_ERROR(f->Flush(f)))
		st = HV_IO;
	f->Close(f);
	return st;
}

static enum hv_status verify_file(const char *path, const uint8_t *data, size_t len)
{
	uint8_t piece[512];
	EFI_FILE_HANDLE f;
	uint64_t size;
	enum hv_status st = open_file(path, &f, &size);

	if (st)
		return st;
	if (size != len)
		st = HV_IO;
	for (size_t at = 0; !st && at < len; at += sizeof(piece)) {
		UINTN n = min_u64(sizeof(piece), len - at), got = n;

		if (EFI_ERROR(f->Read(f, &got, piece)) || got != n || memcmp(piece, data + at, n))
			st = HV_IO;
	}
	f->Close(f);
	return st;
}

/* Gives the file another name in its folder. */
static enum hv_status rename_file(const char *path, const char *to)
{
	EFI_GUID info_guid = EFI_FILE_INFO_ID;
	uint8_t buf[INFO_SIZE + 16] __aligned(8);
	EFI_FILE_INFO *info = (void *)buf;
	UINTN size = sizeof(buf);
	EFI_FILE_HANDLE f;
	enum hv_status st = open_as(path, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE, &f);
	const char *name = to;
	size_t n = 0;

	if (st)
		return st;
	for (const char *c = to; *c; c++)
		if (*c == '/' || *c == '\\')
			name = c + 1;
	if (EFI_ERROR(f->GetInfo(f, &info_guid, &size, buf)))
		st = HV_IO;
	for (; !st && name[n] && n < CONFIG_PATH_LEN; n++)
		info->FileName[n] = (CHAR16)(unsigned char)name[n];
	info->FileName[n] = 0;
	info->Size = SIZE_OF_EFI_FILE_INFO + 2 * (n + 1);
	if (!st && EFI_ERROR(f->SetInfo(f, &info_guid, info->Size, buf)))
		st = HV_IO;
	f->Close(f);
	return st;
}

enum hv_status efi_file_save(const char *path, const void *data, size_t len)
{
	char new[CONFIG_PATH_LEN + 8], old[CONFIG_PATH_LEN + 8];
	enum hv_status st;
	bool moved;

	hv_snprintf(new, sizeof(new), "%s.new", path);
	hv_snprintf(old, sizeof(old), "%s.old", path);
	remove_file(new);
	st = write_file(new, data, len);
	if (!st)
		st = verify_file(new, data, len);
	if (st) {
		remove_file(new);
		return st;
	}
	remove_file(old);
	moved = !rename_file(path, old); /* there need not have been one */
	st = rename_file(new, path);
	if (st && moved)
		(void)!rename_file(old, path);
	return st;
}
