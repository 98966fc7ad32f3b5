/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load: range check and initial CPU states for the loaders.
 *
 * Called from: load_linux.c, load_multiboot.c, load_flat.c.  Pure
 * (tests/host/test_load_flat.c).  Spec: SDM 3A 3.4.5 (segments), 4.5 (paging).
 */
#include "hv/load.h"

#define LONG_CODE 0x10
#define LONG_DATA 0x18

#define ATTR_CODE16 0x009bU /* present, code, readable, accessed */
#define ATTR_DATA16 0x0093U /* present, data, writable, accessed */
#define ATTR_CODE32 0xc09bU /* same with G and D */
#define ATTR_DATA32 0xc093U
#define ATTR_CODE64 0xa09bU /* G and L */
#define ATTR_TSS    0x008bU /* present, busy: VM entry accepts no other */

#define PTE_PRESENT  BIT64(0)
#define PTE_WRITABLE BIT64(1)
#define PTE_LARGE    BIT64(7)

#define MAPPED_GIB 4
#define LARGE_PAGE (2 * MIB)

#define DR6_RESET 0xffff0ff0ULL
#define DR7_RESET 0x400ULL

bool load_fits(const struct load_env *env, const char *file, const char *what, uint64_t start,
	       uint64_t len, struct hv_error *err)
{
	uint64_t end = start + len;
	bool low = end <= LOAD_LOW, high = start >= MIB && end <= env->ram_low;

	if (end >= start && (low || high))
		return true;
	hv_error_set(err,
		     "%s: %s of 0x%lx bytes at 0x%lx is outside the RAM for images, "
		     "0-0x%lx and 0x%lx-0x%lx",
		     file, what, len, start, (uint64_t)LOAD_LOW, (uint64_t)MIB, env->ram_low);
	return false;
}

static void set_data_segments(struct hv_sregs *s, const struct hv_segment *data)
{
	s->seg[SEG_DS] = s->seg[SEG_ES] = s->seg[SEG_SS] = *data;
	s->seg[SEG_FS] = s->seg[SEG_GS] = *data;
}

/* What all modes share. */
static void set_common(struct load_result *out, uint64_t rip)
{
	*out = (struct load_result){
		.regs = {.rip = rip, .rflags = RFLAGS_ONE},
		.sregs = {.cr0 = CR0_ET, .dr6 = DR6_RESET, .dr7 = DR7_RESET},
	};
	out->sregs.seg[SEG_LDTR].attr = SEG_ATTR_UNUSABLE;
	out->sregs.seg[SEG_TR] = (struct hv_segment){.attr = ATTR_TSS, .limit = 0xffff};
}

void load_state_real(struct load_result *out, uint64_t entry)
{
	struct hv_segment data = {.attr = ATTR_DATA16, .limit = 0xffff};
	uint64_t base = entry & 0xf0000;

	set_common(out, entry & 0xffff);
	set_data_segments(&out->sregs, &data);
	out->sregs.seg[SEG_CS] = (struct hv_segment){.selector = (uint16_t)(base >> 4),
						     .attr = ATTR_CODE16,
						     .limit = 0xffff,
						     .base = base};
	out->sregs.idtr.limit = 0x3ff; /* the real-mode vector table at 0 */
}

void load_state_protected(struct load_result *out, uint64_t entry)
{
	struct hv_segment data = {.selector = LONG_DATA, .attr = ATTR_DATA32, .limit = 0xffffffff};

	set_common(out, entry);
	set_data_segments(&out->sregs, &data);
	out->sregs.seg[SEG_CS] = (struct hv_segment){
		.selector = LONG_CODE, .attr = ATTR_CODE32, .limit = 0xffffffff};
	out->sregs.cr0 |= CR0_PE;
}

/* The page directories, behind PML4 and PDPT. */
static enum hv_status write_directories(const struct load_env *env)
{
	uint64_t entry[64];
	uint64_t at = LOAD_TABLES + 2 * PAGE_SIZE, page = 0;

	while (page < MAPPED_GIB * GIB) {
		enum hv_status st;

		for (unsigned i = 0; i < ARRAY_SIZE(entry); i++, page += LARGE_PAGE)
			entry[i] = page | PTE_PRESENT | PTE_WRITABLE | PTE_LARGE;
		st = env->write(env->ctx, GPA(at), entry, sizeof(entry));
		if (st)
			return st;
		at += sizeof(entry);
	}
	return HV_OK;
}

static enum hv_status write_tables(const struct load_env *env)
{
	static const uint64_t gdt[] = {0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff};
	uint64_t pml4 = (LOAD_TABLES + PAGE_SIZE) | PTE_PRESENT | PTE_WRITABLE;
	uint64_t pdpt[MAPPED_GIB];
	enum hv_status st;

	for (unsigned i = 0; i < MAPPED_GIB; i++)
		pdpt[i] = (LOAD_TABLES + (2 + i) * PAGE_SIZE) | PTE_PRESENT | PTE_WRITABLE;
	st = env->write(env->ctx, GPA(LOAD_GDT), gdt, sizeof(gdt));
	if (!st)
		st = env->write(env->ctx, GPA(LOAD_TABLES), &pml4, sizeof(pml4));
	if (!st)
		st = env->write(env->ctx, GPA(LOAD_TABLES + PAGE_SIZE), pdpt, sizeof(pdpt));
	return st ? st : write_directories(env);
}

enum hv_status load_state_long(const struct load_env *env, struct load_result *out, uint64_t entry)
{
	load_state_protected(out, entry);
	out->sregs.seg[SEG_CS].attr = ATTR_CODE64;
	out->sregs.cr0 |= CR0_PG;
	out->sregs.cr3 = LOAD_TABLES;
	out->sregs.cr4 = CR4_PAE;
	out->sregs.efer = EFER_LME | EFER_LMA;
	out->sregs.gdtr = (struct hv_dtable){.base = LOAD_GDT, .limit = 4 * 8 - 1};
	return write_tables(env);
}
