/* SPDX-License-Identifier: BSD-2-Clause */
/* paging: the hypervisor's own address space. */
#include "mm/paging.h"

#include "hv/assert.h"
#include "hv/io.h"
#include "hv/state.h"
#include "mm/frame.h"

#define PTE_P	 BIT64(0)
#define PTE_W	 BIT64(1)
#define PTE_U	 BIT64(2)
#define PTE_PWT	 BIT64(3)
#define PTE_PCD	 BIT64(4)
#define PTE_A	 BIT64(5)
#define PTE_D	 BIT64(6)
#define PTE_PS	 BIT64(7)
#define PTE_NX	 BIT64(63)
#define PTE_ADDR 0x000ffffffffff000ULL

#define RO   (PTE_P | PTE_A | PTE_NX)
#define RW   (PTE_P | PTE_A | PTE_D | PTE_W | PTE_NX)
#define RX   (PTE_P | PTE_A)
#define UNCACHED (PTE_PCD | PTE_PWT)

#define MSR_EFER 0xc0000080

extern char __text_start[], __text_end[], __rodata_start[], __rodata_end[];
extern char __ro_after_init_start[], __ro_after_init_end[], __data_start[], __data_end[];
extern char ImageBase[], __image_end[];

static uint64_t *root;	/* the level-4 table */
static uint64_t cr3;	/* root, or a level-5 table over it where the firmware left LA57 on */
static uint64_t *firmware_root, firmware_cr3;
static bool have_1g, have_smep, have_smap;

static void probe(void)
{
	struct cpuid_regs l7 = cpuid(7, 0);

	have_1g = cpuid(0x80000001, 0).edx & BIT(26);
	have_smep = cpuid(0, 0).eax >= 7 && (l7.ebx & BIT(7));
	have_smap = cpuid(0, 0).eax >= 7 && (l7.ebx & BIT(20));
}

bool paging_has_smap(void)
{
	return have_smap;
}

void paging_enable_cpu_features(void)
{
	uint64_t cr4 = CR4_PAE | CR4_PGE | CR4_MCE | CR4_OSFXSR | CR4_OSXMMEXCPT;

	if (have_smep)
		cr4 |= CR4_SMEP;
	if (have_smap)
		cr4 |= CR4_SMAP;
	if (cpuid(1, 0).ecx & BIT(26))
		cr4 |= CR4_OSXSAVE;
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
	write_cr0((read_cr0() | CR0_WP | CR0_NE | CR0_MP) & ~(CR0_CD | CR0_NW | CR0_TS | CR0_EM));
	write_cr4(cr4 | (read_cr4() & (CR4_VMXE | CR4_LA57)));
}

static uint64_t *table_of(uint64_t entry)
{
	return hpa_to_ptr(HPA(entry & PTE_ADDR));
}

/* Replaces a large leaf by a table of next-smaller leaves that map the same. */
static bool split(uint64_t *e, unsigned shift)
{
	uint64_t *t = hv_pages_alloc(0), size = BIT64(shift - 9), leaf = *e;

	if (!t)
		return false;
	for (unsigned i = 0; i < 512; i++)
		t[i] = (leaf + i * size) & ~(shift - 9 == PAGE_SHIFT ? PTE_PS : 0);
	*e = ptr_to_hpa(t).v | PTE_P | PTE_W | PTE_U;
	return true;
}

/* The entry for @va below @t, the level-4 table, in the table whose entries span 2^shift bytes. */
static uint64_t *walk(uint64_t *t, uint64_t va, unsigned shift)
{
	for (unsigned s = 39; s > shift; s -= 9) {
		uint64_t *e = &t[va >> s & 511];

		if (!(*e & PTE_P)) {
			uint64_t *n = hv_pages_alloc(0);

			if (!n)
				return NULL;
			*e = ptr_to_hpa(n).v | PTE_P | PTE_W | PTE_U;
		} else if ((*e & PTE_PS) && !split(e, s)) {
			return NULL;
		}
		t = table_of(*e);
	}
	return &t[va >> shift & 511];
}

static unsigned leaf_shift(uint64_t va, uint64_t pa, uint64_t len)
{
	if (have_1g && !((va | pa) & (GIB - 1)) && len >= GIB)
		return 30;
	if (!((va | pa) & (2 * MIB - 1)) && len >= 2 * MIB)
		return 21;
	return 12;
}

static enum hv_status map(uint64_t *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t flags)
{
	while (len) {
		unsigned shift = leaf_shift(va, pa, len);
		uint64_t *e;

		/* Do not hang a large leaf over a table that is there: descend. */
		for (;; shift -= 9) {
			e = walk(t, va, shift);
			if (!e)
				return HV_NOMEM;
			if (shift == PAGE_SHIFT || !(*e & PTE_P) || (*e & PTE_PS))
				break;
		}
		*e = pa | flags | (shift > PAGE_SHIFT ? PTE_PS : 0);
		va += BIT64(shift);
		pa += BIT64(shift);
		len -= BIT64(shift);
	}
	return HV_OK;
}

static enum hv_status map_direct(hpa_t base, uint64_t len, uint64_t flags)
{
	return map(root, DIRECT_MAP_BASE + base.v, base.v, len, flags);
}

static enum hv_status map_image_part(uint64_t *t, const char *start, const char *end, uint64_t flags)
{
	return map(t, (uint64_t)start, (uint64_t)start, (uint64_t)(end - start), flags);
}

static enum hv_status map_image(uint64_t *t)
{
	enum hv_status st;

	/* Headers, relocations and symbols first, the parts proper over them. */
	st = map_image_part(t, ImageBase, (char *)align_up((uint64_t)__image_end, PAGE_SIZE), RO);
	if (!st)
		st = map_image_part(t, __text_start, __text_end, RX);
	if (!st)
		st = map_image_part(t, __rodata_start, __rodata_end, RO);
	if (!st)
		st = map_image_part(t, __ro_after_init_start, __data_end, RW);
	return st;
}

static enum hv_status map_memory(const struct handoff *h)
{
	struct handoff_range hv = frame_hv_range();
	enum hv_status st;

	st = map_direct(HPA(0), align_up(h->ram_top, 2 * MIB), RO);
	for (uint32_t i = 0; !st && i < h->range_count; i++)
		st = map_direct(h->range[i].base, h->range[i].len, RW | PTE_U);
	for (uint64_t off = 0; !st && off < hv.len; off += PAGE_SIZE)
		st = map_direct(HPA(hv.base.v + off), PAGE_SIZE, RW);
	return st;
}

/* What CR3 takes for the level-4 table @four; 0: no memory. */
static uint64_t top(hpa_t four)
{
	uint64_t *five;

	if (!(read_cr4() & CR4_LA57))
		return four.v;
	five = hv_pages_alloc(0);
	if (!five)
		return 0;
	five[0] = five[511] = four.v | PTE_P | PTE_W | PTE_U;
	return ptr_to_hpa(five).v;
}

enum hv_status paging_init(const struct handoff *h)
{
	enum hv_status st;

	probe();
	root = hv_pages_alloc(0);
	if (!root)
		return HV_NOMEM;
	st = map_image(root);
	if (!st)
		st = map_memory(h);
	if (st)
		return st;
	cr3 = top(HPA((uint64_t)root));
	if (!cr3)
		return HV_NOMEM;
	paging_enable_cpu_features();
	write_cr3(cr3);
	root = (void *)((uint64_t)root + DIRECT_MAP_BASE);
	frame_use_direct_map();
	return HV_OK;
}

void *paging_map_device(hpa_t base, uint64_t len)
{
	uint64_t start = align_down(base.v, PAGE_SIZE), end = align_up(base.v + len, PAGE_SIZE);

	if (map_direct(HPA(start), end - start, RW | UNCACHED))
		return NULL;
	write_cr3(read_cr3());
	return hpa_to_ptr(base);
}

enum hv_status paging_map_trampoline(hpa_t page)
{
	enum hv_status st = map_direct(page, PAGE_SIZE, RW);

	return st ? st : map(root, page.v, page.v, PAGE_SIZE, RX);
}

void paging_unmap_trampoline(hpa_t page)
{
	*walk(root, page.v, PAGE_SHIFT) = 0;
	*walk(root, DIRECT_MAP_BASE + page.v, PAGE_SHIFT) = page.v | RO;
	write_cr3(read_cr3());
}

void paging_make_guard(void *p)
{
	*walk(root, (uint64_t)p, PAGE_SHIFT) = 0;
	__asm__ volatile("invlpg (%0)" : : "r"(p) : "memory");
}

void paging_seal(void)
{
	HV_ASSERT(!map_image_part(root, __ro_after_init_start, __ro_after_init_end, RO));
	write_cr3(read_cr3());
}

/* ---- for the firmware ------------------------------------------------------------- */

#define RWX (RX | PTE_W | PTE_D)

enum hv_status paging_init_firmware(const struct handoff *h)
{
	enum hv_status st;

	firmware_root = hv_pages_alloc(0);
	firmware_cr3 = firmware_root ? top(ptr_to_hpa(firmware_root)) : 0;
	if (!firmware_cr3)
		return HV_NOMEM;
	for (unsigned i = 256; i < 512; i++)
		firmware_root[i] = root[i];
	st = map_image(firmware_root);
	for (uint32_t i = 0; i < h->runtime_count && !st; i++)
		st = map(firmware_root, h->runtime[i].at.base.v, h->runtime[i].at.base.v,
			 h->runtime[i].at.len, RWX | (h->runtime[i].is_device ? UNCACHED : 0));
	return st;
}

enum hv_status paging_widen_firmware(void)
{
	return map(firmware_root, 0, 0, 4 * GIB, RWX);
}

uint64_t paging_firmware_cr3(void)
{
	return firmware_cr3;
}

uint64_t paging_cr3(void)
{
	return cr3;
}
