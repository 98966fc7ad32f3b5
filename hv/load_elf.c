/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_elf: ELF program headers to guest memory.
 *
 * Called from: load_multiboot.c.  Both classes are read into one form.  Every
 * number is untrusted.  Pure (tests/host/test_load_multiboot.c).
 */
#include "hv/load_elf.h"

#define ELF_MAGIC   0x464c457fu
#define ELFCLASS32  1
#define ELFCLASS64  2
#define ELFDATA2LSB 1
#define ET_EXEC	    2
#define EM_386	    3
#define EM_X86_64   62
#define PT_LOAD	    1
#define MAX_PHDRS   256

struct elf_ident {
	uint32_t magic;
	uint8_t class, data, version, pad[9];
	uint16_t type, machine;
	uint32_t file_version;
} __packed;
_Static_assert(sizeof(struct elf_ident) == 24, "e_ident, e_type, e_machine, e_version");

struct elf32_rest {
	uint32_t entry, phoff, shoff, flags;
	uint16_t ehsize, phentsize, phnum;
} __packed;
_Static_assert(offsetof(struct elf32_rest, phnum) == 44 - 24, "e_phnum");

struct elf64_rest {
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum;
} __packed;
_Static_assert(offsetof(struct elf64_rest, phnum) == 56 - 24, "e_phnum");

struct elf32_phdr {
	uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
} __packed;
_Static_assert(sizeof(struct elf32_phdr) == 32, "program header");

struct elf64_phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
} __packed;
_Static_assert(sizeof(struct elf64_phdr) == 56, "program header");

/* Either class, as far as it matters. */
struct elf {
	const struct blob *file;
	bool wide;
	uint64_t entry, phoff;
	unsigned phentsize, phnum;
};

struct segment {
	uint64_t offset, vaddr, paddr, filesz, memsz;
};

bool load_elf_probe(const struct blob *file)
{
	uint32_t magic;

	return blob_read(file, 0, &magic, sizeof(magic)) && magic == ELF_MAGIC;
}

static bool read_rest(struct elf *e)
{
	struct elf32_rest r32;
	struct elf64_rest r64;

	if (e->wide) {
		if (!blob_read(e->file, sizeof(struct elf_ident), &r64, sizeof(r64)))
			return false;
		e->entry = r64.entry;
		e->phoff = r64.phoff;
		e->phentsize = r64.phentsize;
		e->phnum = r64.phnum;
		return true;
	}
	if (!blob_read(e->file, sizeof(struct elf_ident), &r32, sizeof(r32)))
		return false;
	e->entry = r32.entry;
	e->phoff = r32.phoff;
	e->phentsize = r32.phentsize;
	e->phnum = r32.phnum;
	return true;
}

static enum hv_status read_header(struct elf *e, struct hv_error *err)
{
	const char *name = e->file->name;
	struct elf_ident id;
	size_t least;

	if (!blob_read(e->file, 0, &id, sizeof(id))) {
		hv_error_set(err, "%s: truncated ELF header", name);
		return HV_INVAL;
	}
	e->wide = id.class == ELFCLASS64;
	if ((!e->wide && id.class != ELFCLASS32) || id.data != ELFDATA2LSB || id.type != ET_EXEC ||
	    (id.machine != EM_386 && id.machine != EM_X86_64)) {
		hv_error_set(err,
			     "%s: ELF class %u, data %u, type %u, machine %u: only static "
			     "executables for x86 are supported",
			     name, id.class, id.data, id.type, id.machine);
		return HV_NOTSUP;
	}
	if (!read_rest(e)) {
		hv_error_set(err, "%s: truncated ELF header", name);
		return HV_INVAL;
	}
	least = e->wide ? sizeof(struct elf64_phdr) : sizeof(struct elf32_phdr);
	if (e->phentsize < least || e->phnum > MAX_PHDRS || e->phoff > e->file->size) {
		hv_error_set(err,
			     "%s: %u program headers of %u bytes at 0x%lx: at most %u of at least "
			     "%lu bytes are allowed",
			     name, e->phnum, e->phentsize, e->phoff, MAX_PHDRS, least);
		return HV_INVAL;
	}
	return HV_OK;
}

/* Reads program header @i; false when the file ends before.  @load: is it PT_LOAD? */
static bool read_segment(const struct elf *e, unsigned i, struct segment *s, bool *load)
{
	uint64_t at = e->phoff + (uint64_t)i * e->phentsize;
	struct elf32_phdr p32;
	struct elf64_phdr p64;

	if (e->wide) {
		if (!blob_read(e->file, at, &p64, sizeof(p64)))
			return false;
		*s = (struct segment){p64.offset, p64.vaddr, p64.paddr, p64.filesz, p64.memsz};
		*load = p64.type == PT_LOAD;
		return true;
	}
	if (!blob_read(e->file, at, &p32, sizeof(p32)))
		return false;
	*s = (struct segment){p32.offset, p32.vaddr, p32.paddr, p32.filesz, p32.memsz};
	*load = p32.type == PT_LOAD;
	return true;
}

static enum hv_status check_segment(const struct load_env *env, const struct elf *e,
				    const struct segment *s, struct hv_error *err)
{
	if (s->filesz > s->memsz || s->offset > e->file->size ||
	    s->filesz > e->file->size - s->offset) {
		hv_error_set(err,
			     "%s: segment of 0x%lx bytes (0x%lx in memory) at offset 0x%lx is not "
			     "in the file's 0x%lx bytes",
			     e->file->name, s->filesz, s->memsz, s->offset, e->file->size);
		return HV_INVAL;
	}
	return load_fits(env, e->file->name, "segment", s->paddr, s->memsz, err) ? HV_OK : HV_RANGE;
}

static enum hv_status check_overlap(const struct elf *e, const struct segment *seg, unsigned n,
				    struct hv_error *err)
{
	const struct segment *s = &seg[n];

	for (unsigned i = 0; i < n; i++) {
		if (s->paddr >= seg[i].paddr + seg[i].memsz || seg[i].paddr >= s->paddr + s->memsz)
			continue;
		hv_error_set(err, "%s: segments 0x%lx-0x%lx and 0x%lx-0x%lx overlap", e->file->name,
			     seg[i].paddr, seg[i].paddr + seg[i].memsz, s->paddr,
			     s->paddr + s->memsz);
		return HV_EXIST;
	}
	return HV_OK;
}

/* Collects the loadable, non-empty segments; @n is how many there are. */
static enum hv_status read_segments(const struct load_env *env, const struct elf *e,
				    struct segment seg[LOAD_ELF_SEGMENTS], unsigned *n,
				    struct hv_error *err)
{
	enum hv_status st = HV_OK;

	*n = 0;
	for (unsigned i = 0; i < e->phnum && !st; i++) {
		struct segment s;
		bool load;

		if (!read_segment(e, i, &s, &load)) {
			hv_error_set(err, "%s: truncated in program header %u of %u", e->file->name,
				     i, e->phnum);
			return HV_INVAL;
		}
		if (!load || !s.memsz)
			continue;
		if (*n == LOAD_ELF_SEGMENTS) {
			hv_error_set(err, "%s: more than %u segments to load", e->file->name,
				     LOAD_ELF_SEGMENTS);
			return HV_RANGE;
		}
		seg[*n] = s;
		st = check_segment(env, e, &s, err);
		if (!st)
			st = check_overlap(e, seg, *n, err);
		++*n;
	}
	return st;
}

/* e_entry is virtual where a segment is mapped there, and physical otherwise. */
static bool find_entry(const struct elf *e, const struct segment *seg, unsigned n, uint64_t *entry)
{
	for (unsigned i = 0; i < n; i++) {
		if (e->entry >= seg[i].vaddr && e->entry - seg[i].vaddr < seg[i].memsz) {
			*entry = seg[i].paddr + (e->entry - seg[i].vaddr);
			return true;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (e->entry >= seg[i].paddr && e->entry - seg[i].paddr < seg[i].memsz) {
			*entry = e->entry;
			return true;
		}
	}
	return false;
}

enum hv_status load_elf(const struct load_env *env, const struct blob *file,
			struct load_extent *out, struct hv_error *err)
{
	struct segment seg[LOAD_ELF_SEGMENTS];
	struct elf e = {.file = file};
	enum hv_status st = read_header(&e, err);
	unsigned n = 0;

	if (!st)
		st = read_segments(env, &e, seg, &n, err);
	if (st)
		return st;
	if (!find_entry(&e, seg, n, &out->entry)) {
		hv_error_set(err, "%s: entry 0x%lx is in none of its %u segments", file->name,
			     e.entry, n);
		return HV_INVAL;
	}
	out->end = 0;
	for (unsigned i = 0; i < n && !st; i++) {
		out->end = max_u64(out->end, seg[i].paddr + seg[i].memsz);
		if (seg[i].filesz)
			st = env->copy(env->ctx, GPA(seg[i].paddr), file, seg[i].offset,
				       seg[i].filesz);
	}
	return st;
}
