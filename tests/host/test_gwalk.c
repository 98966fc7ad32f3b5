/* SPDX-License-Identifier: BSD-2-Clause */
/* test_gwalk: every paging format, every right, every reserved bit, lost races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/gwalk.h"

#define P   0x001ULL
#define W   0x002ULL
#define U   0x004ULL
#define A   0x020ULL
#define D   0x040ULL
#define PS  0x080ULL
#define NX  (1ULL << 63)
#define ALL (P | W | U)

/* Guest RAM: the root at 0x1000, below it tables at 0x2000, 0x3000 and 0x4000. */
#define RAM_SIZE 0x6000u

struct ram {
	uint8_t bytes[RAM_SIZE];
	unsigned reads, swaps;
	unsigned lose;	   /* so many compare-exchanges find another entry */
	bool fail_cmpxchg; /* cmpxchg fails for good */
};

static enum hv_status ram_read(void *ctx, gpa_t gpa, unsigned size, uint64_t *entry)
{
	struct ram *m = ctx;

	m->reads++;
	if (gpa.v > RAM_SIZE - size)
		return HV_FAULT;
	*entry = 0;
	memcpy(entry, m->bytes + gpa.v, size);
	return HV_OK;
}

static enum hv_status ram_cmpxchg(void *ctx, gpa_t gpa, unsigned size, uint64_t old,
				  uint64_t new_val)
{
	struct ram *m = ctx;

	assert_true(gpa.v <= RAM_SIZE - size);
	if (m->fail_cmpxchg)
		return HV_IO;
	if (m->lose) {
		m->lose--;
		m->bytes[gpa.v + 1] ^= 2; /* bit 9 is the guest's own */
		return HV_RETRY;
	}
	if (memcmp(m->bytes + gpa.v, &old, size))
		return HV_RETRY;
	memcpy(m->bytes + gpa.v, &new_val, size);
	m->swaps++;
	return HV_OK;
}

static struct ram ram;
static struct gwalk_env env = {
	.ctx = &ram, .read = ram_read, .cmpxchg = ram_cmpxchg, .maxphyaddr = 40, .page1g = true};
static struct hv_sregs sregs;

enum format { BITS32, PAE, LONG };

static const unsigned root_level[] = {2, 3, 4};

static unsigned entry_size(enum format f)
{
	return f == BITS32 ? 4 : 8;
}

static unsigned shift_of(enum format f, unsigned level)
{
	return 12 + (level - 1) * (f == BITS32 ? 10 : 9);
}

/* Tables of @level lie at 0x1000 for the root, then upwards. */
static uint64_t table_of(enum format f, unsigned level)
{
	return 0x1000ULL * (root_level[f] - level + 1);
}

static uint64_t entry_gpa(enum format f, unsigned level, uint64_t linear)
{
	unsigned bits = f == BITS32 ? 10 : f == PAE && level == 3 ? 2 : 9;

	return table_of(f, level) +
	       (linear >> shift_of(f, level) & ((1U << bits) - 1)) * entry_size(f);
}

static void put(enum format f, unsigned level, uint64_t linear, uint64_t entry)
{
	memcpy(ram.bytes + entry_gpa(f, level, linear), &entry, entry_size(f));
}

static uint64_t get(enum format f, unsigned level, uint64_t linear)
{
	uint64_t v = 0;

	memcpy(&v, ram.bytes + entry_gpa(f, level, linear), entry_size(f));
	return v;
}

static void set_format(enum format f)
{
	memset(&sregs, 0, sizeof(sregs));
	memset(&ram, 0, sizeof(ram));
	sregs.cr0 = CR0_PE | CR0_PG | CR0_WP;
	sregs.cr3 = 0x1000;
	sregs.cr4 = f == BITS32 ? CR4_PSE : CR4_PAE;
	sregs.efer = (f == LONG ? EFER_LMA | EFER_LME : 0) | (f == BITS32 ? 0 : EFER_NXE);
}

/* Maps @linear by a leaf at @level with @leaf; the tables above have all rights. */
static void map(enum format f, unsigned level, uint64_t linear, uint64_t leaf)
{
	for (unsigned l = root_level[f]; l > level; l--)
		put(f, l, linear, table_of(f, l - 1) | (f == PAE && l == 3 ? P : ALL));
	put(f, level, linear, leaf);
}

static enum hv_status walk(uint64_t linear, unsigned access, struct gwalk_result *out)
{
	return gwalk(&env, &sregs, 0, linear, access, out);
}

static void no_paging_is_identity(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(LONG);
	sregs.cr0 = CR0_PE;
	sregs.efer = 0;
	assert_int_equal(walk(0x1234567890ULL, GWALK_WRITE, &r), HV_OK);
	assert_int_equal(r.gpa.v, 0x34567890);
	assert_int_equal(r.left, 0x770);
	assert_int_equal(ram.reads, 0);
}

static void every_page_size(void **s)
{
	static const struct {
		enum format f;
		unsigned level;
		uint64_t linear, frame;
	} t[] = {
		{BITS32, 1, 0xfedcb123, 0xabcde000},
		{BITS32, 2, 0xfedcb123, 0xabc00000},
		{PAE, 1, 0xfedcb123, 0xcdeabcd000},
		{PAE, 2, 0xfedcb123, 0x12abe00000},
		{LONG, 1, 0xffff8123fedcb123, 0x12abcde000},
		{LONG, 2, 0x00007123fedcb123, 0x12abe00000},
		{LONG, 3, 0x00007123fedcb123, 0x1280000000},
	};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		uint64_t size = 1ULL << shift_of(t[i].f, t[i].level);
		struct gwalk_result r;

		set_format(t[i].f);
		map(t[i].f, t[i].level, t[i].linear,
		    t[i].frame | ALL | (t[i].level > 1 ? PS | 1ULL << 12 : 0));
		assert_int_equal(walk(t[i].linear, GWALK_READ, &r), HV_OK);
		assert_int_equal(r.gpa.v, t[i].frame + (t[i].linear & (size - 1)));
		assert_int_equal(r.left, size - (t[i].linear & (size - 1)));
		assert_int_equal(get(t[i].f, t[i].level, t[i].linear) & (A | D), A);
		assert_int_equal(walk(t[i].linear, GWALK_WRITE, &r), HV_OK);
		assert_int_equal(get(t[i].f, t[i].level, t[i].linear) & (A | D), A | D);
	}
}

static void ps_without_pse_is_a_table(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(BITS32);
	sregs.cr4 = 0;
	map(BITS32, 1, 0x00401000, 0x7000 | ALL);
	put(BITS32, 2, 0x00401000, 0x2000 | ALL | PS);
	assert_int_equal(walk(0x00401004, GWALK_READ, &r), HV_OK);
	assert_int_equal(r.gpa.v, 0x7004);
}

/* SDM 3A 4.6.1, once more and in other words. */
static bool may(uint64_t rights, unsigned access, uint64_t rflags)
{
	bool user_page = rights & U;

	if (access & GWALK_FETCH) {
		if (sregs.efer & EFER_NXE && rights & NX)
			return false;
		return access & GWALK_USER ? user_page : !(sregs.cr4 & CR4_SMEP) || !user_page;
	}
	if (access & GWALK_USER) {
		if (!user_page)
			return false;
		return access & GWALK_WRITE ? rights & W : true;
	}
	if (user_page && sregs.cr4 & CR4_SMAP) {
		if (access & GWALK_IMPLICIT_SUPERVISOR)
			return false;
		if (!(rflags & RFLAGS_AC))
			return false;
	}
	if (access & GWALK_WRITE)
		return rights & W || !(sregs.cr0 & CR0_WP);
	return true;
}

static void check_rights(enum format f, unsigned access, uint64_t leaf, uint64_t rflags)
{
	const uint64_t linear = 0x123456;
	struct gwalk_result r;
	enum hv_status st;
	uint32_t error = PF_P;

	map(f, 1, linear, 0x5000 | leaf);
	st = gwalk(&env, &sregs, rflags, linear, access, &r);
	if (may(leaf, access, rflags)) {
		assert_int_equal(st, HV_OK);
		return;
	}
	assert_int_equal(st, HV_FAULT);
	error |= access & GWALK_WRITE ? PF_W : 0;
	error |= access & GWALK_USER ? PF_U : 0;
	if (access & GWALK_FETCH && (sregs.cr4 & CR4_SMEP || sregs.efer & EFER_NXE))
		error |= PF_I;
	assert_int_equal(r.error, error);
	assert_int_equal(r.cr2, linear);
	assert_int_equal(ram.swaps, 0);
}

static void every_right(void **s)
{
	static const unsigned accesses[] = {
		GWALK_READ,
		GWALK_WRITE,
		GWALK_FETCH,
		GWALK_USER,
		GWALK_USER | GWALK_WRITE,
		GWALK_USER | GWALK_FETCH,
		GWALK_IMPLICIT_SUPERVISOR,
		GWALK_IMPLICIT_SUPERVISOR | GWALK_WRITE,
	};

	(void)s;
	for (unsigned i = 0; i < 3U << 8; i++) {
		enum format f = (enum format)(i >> 8);
		uint64_t leaf = P | (i & 1 ? W : 0) | (i & 2 ? U : 0);

		for (unsigned n = 0; n < ARRAY_SIZE(accesses); n++) {
			set_format(f);
			if (i & 8)
				sregs.cr0 &= ~CR0_WP;
			sregs.cr4 |= (i & 16 ? CR4_SMEP : 0) | (i & 32 ? CR4_SMAP : 0);
			if (i & 4 && f != BITS32)
				leaf |= NX;
			if (i & 128 && !(i & 4))
				sregs.efer &= ~EFER_NXE;
			check_rights(f, accesses[n], leaf, i & 64 ? RFLAGS_AC : 0);
		}
	}
}

static void rights_of_all_levels_count(void **s)
{
	struct gwalk_result r;

	(void)s;
	for (unsigned level = 1; level <= 4; level++) {
		set_format(LONG);
		map(LONG, 1, 0x123456, 0x5000 | ALL);
		put(LONG, level, 0x123456, get(LONG, level, 0x123456) & ~W);
		assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_FAULT);
		assert_int_equal(r.error, PF_P | PF_W);
		put(LONG, level, 0x123456, (get(LONG, level, 0x123456) | W) & ~U);
		assert_int_equal(walk(0x123456, GWALK_USER, &r), HV_FAULT);
		put(LONG, level, 0x123456, get(LONG, level, 0x123456) | U | NX);
		assert_int_equal(walk(0x123456, GWALK_FETCH, &r), HV_FAULT);
		assert_int_equal(r.error, PF_P | PF_I);
		put(LONG, level, 0x123456, 0);
		assert_int_equal(walk(0x123456, GWALK_USER | GWALK_WRITE, &r), HV_FAULT);
		assert_int_equal(r.error, PF_U | PF_W);
		assert_int_equal(r.cr2, 0x123456);
	}
}

struct reserved_case {
	enum format f;
	unsigned level;
	bool large;
	uint64_t bits; /* with maxphyaddr 40, NXE and 1 GiB pages */
};

#define HIGH 0x000fff0000000000ULL /* 51:40 */

static const struct reserved_case reserved[] = {
	{BITS32, 1, false, 0},
	{BITS32, 2, false, 0},
	{BITS32, 2, true, 0x003fe000},
	{PAE, 1, false, HIGH | 0x7ff0000000000000},
	{PAE, 2, false, HIGH | 0x7ff0000000000000},
	{PAE, 2, true, HIGH | 0x7ff0000000000000 | 0x1fe000},
	{PAE, 3, false, HIGH | 0xfff0000000000000 | 0x1c6}, /* without bit 5, see gwalk.c */
	{LONG, 1, false, HIGH},
	{LONG, 2, false, HIGH},
	{LONG, 2, true, HIGH | 0x1fe000},
	{LONG, 3, false, HIGH},
	{LONG, 3, true, HIGH | 0x3fffe000},
	{LONG, 4, false, HIGH | PS},
};

static void every_reserved_bit(void **s)
{
	const uint64_t linear = 0x123456;

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(reserved); i++) {
		const struct reserved_case *c = &reserved[i];

		for (unsigned bit = 1; bit < entry_size(c->f) * 8; bit++) {
			bool ps = bit == 7 && c->level > 1 && !(c->bits & PS);
			struct gwalk_result r;
			enum hv_status st;

			set_format(c->f);
			map(c->f, c->large ? c->level : 1, linear, c->large ? ALL | PS : ALL);
			put(c->f, c->level, linear, get(c->f, c->level, linear) | 1ULL << bit);
			/* A table bit may send the walk to other memory, PS makes a page. */
			st = walk(linear, GWALK_READ, &r);
			if (c->bits >> bit & 1) {
				assert_int_equal(st, HV_FAULT);
				assert_int_equal(r.error, PF_P | PF_RSVD);
			} else if (st == HV_FAULT) {
				assert_true(ps || !(r.error & PF_RSVD));
			}
		}
	}
}

static void nx_is_reserved_without_nxe(void **s)
{
	struct gwalk_result r;

	(void)s;
	for (enum format f = PAE; f <= LONG; f++) {
		set_format(f);
		sregs.efer &= ~EFER_NXE;
		map(f, 1, 0x123456, 0x5000 | ALL | NX);
		assert_int_equal(walk(0x123456, GWALK_FETCH, &r), HV_FAULT);
		assert_int_equal(r.error, PF_P | PF_RSVD);
	}
	set_format(LONG);
	env.page1g = false;
	map(LONG, 3, 0x123456, ALL | PS);
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_FAULT);
	assert_int_equal(r.error, PF_P | PF_RSVD);
	env.page1g = true;
}

static void accessed_and_dirty(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(LONG);
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_OK);
	assert_int_equal(ram.swaps, 4);
	for (unsigned level = 1; level <= 4; level++)
		assert_int_equal(get(LONG, level, 0x123456) & (A | D), A);
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_OK);
	assert_int_equal(ram.swaps, 5);
	assert_int_equal(get(LONG, 1, 0x123456) & D, D);
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_OK);
	assert_int_equal(ram.swaps, 5);

	set_format(PAE);
	map(PAE, 1, 0x123456, 0x5000 | ALL);
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_OK);
	assert_int_equal(ram.swaps, 2);
	assert_int_equal(get(PAE, 3, 0x123456) & A, 0);

	set_format(LONG);
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	env.cmpxchg = NULL;
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_OK);
	assert_int_equal(get(LONG, 1, 0x123456) & (A | D), 0);
	env.cmpxchg = ram_cmpxchg;
}

static void lost_races_start_over(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(LONG);
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	ram.lose = 3;
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_OK);
	assert_int_equal(r.gpa.v, 0x5456);
	assert_int_equal(get(LONG, 1, 0x123456) & (A | D), A | D);

	set_format(LONG);
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	ram.lose = 1000;
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_RETRY);
	assert_true(ram.lose > 900);
	ram.lose = 0;
	ram.fail_cmpxchg = true;
	assert_int_equal(walk(0x123456, GWALK_WRITE, &r), HV_RETRY);
}

static void missing_ram_is_retry(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(LONG);
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	put(LONG, 3, 0x123456, 0x100000 | ALL);
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_RETRY);
}

static void root_bits(void **s)
{
	struct gwalk_result r;

	(void)s;
	set_format(LONG); /* PCID and the no-flush bit */
	map(LONG, 1, 0x123456, 0x5000 | ALL);
	sregs.cr3 |= 0xfff;
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_OK);

	set_format(PAE); /* 32 bytes of alignment are enough */
	put(PAE, 3, 0, 0x2000 | P);
	memcpy(ram.bytes + 0x1020, ram.bytes + 0x1000, 8);
	memset(ram.bytes + 0x1000, 0, 8);
	put(PAE, 2, 0, ALL | PS);
	sregs.cr3 = 0x1020 | 0x18;
	assert_int_equal(walk(0x123456, GWALK_READ, &r), HV_OK);
	assert_int_equal(r.gpa.v, 0x123456);
	/* The upper half of a linear address does not exist. */
	assert_int_equal(walk(0xffffffff00123456, GWALK_READ, &r), HV_OK);
	assert_int_equal(r.gpa.v, 0x123456);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(no_paging_is_identity),
		cmocka_unit_test(every_page_size),
		cmocka_unit_test(ps_without_pse_is_a_table),
		cmocka_unit_test(every_right),
		cmocka_unit_test(rights_of_all_levels_count),
		cmocka_unit_test(every_reserved_bit),
		cmocka_unit_test(nx_is_reserved_without_nxe),
		cmocka_unit_test(accessed_and_dirty),
		cmocka_unit_test(lost_races_start_over),
		cmocka_unit_test(missing_ram_is_retry),
		cmocka_unit_test(root_bits),
	};
	return cmocka_run_group_tests_name("gwalk", t, NULL, NULL);
}
