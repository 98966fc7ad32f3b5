/* SPDX-License-Identifier: BSD-2-Clause */
/* bus: against a model of 64 Ki byte-wide ports. */
#include <stdlib.h>

#include "tests/host/fake_env.h"
#include "hv/bus.h"

struct probe {
	uint64_t off, val;
	unsigned size, reads, writes;
	uint8_t tag;
};

static uint64_t probe_read(void *dev, uint64_t off, unsigned size)
{
	struct probe *p = dev;

	p->off = off;
	p->size = size;
	p->reads++;
	return 0x0101010101010101ULL * p->tag;
}

static void probe_write(void *dev, uint64_t off, unsigned size, uint64_t val)
{
	struct probe *p = dev;

	p->off = off;
	p->size = size;
	p->val = val;
	p->writes++;
}

static const struct dev_ops probe_ops = {.read = probe_read, .write = probe_write};

static void refuses_bad_ranges(void **s)
{
	struct bus b;
	struct probe p = {0};

	(void)s;
	bus_init(&b);
	assert_int_equal(bus_add(&b, 0x10, 0, &probe_ops, &p), HV_RANGE);
	assert_int_equal(bus_add(&b, ~0ULL, 2, &probe_ops, &p), HV_RANGE);
	assert_int_equal(bus_add(&b, 0x10, 8, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_add(&b, 0x17, 1, &probe_ops, &p), HV_EXIST);
	assert_int_equal(bus_add(&b, 0x0f, 2, &probe_ops, &p), HV_EXIST);
	assert_int_equal(bus_add(&b, 0, ~0ULL, &probe_ops, &p), HV_EXIST);
	assert_int_equal(bus_add(&b, 0x18, 1, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_add(&b, 0x0f, 1, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_add(&b, ~0ULL, 1, &probe_ops, &p), HV_OK);
	for (unsigned i = b.count; i < BUS_RANGES; i++)
		assert_int_equal(bus_add(&b, 0x100 + i, 1, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_add(&b, 0x1000, 1, &probe_ops, &p), HV_NOMEM);
	for (unsigned i = 1; i < b.count; i++)
		assert_true(b.range[i - 1].base < b.range[i].base);
}

static void whole_accesses_stay_whole(void **s)
{
	struct bus b;
	struct probe p = {.tag = 0x5a};

	(void)s;
	bus_init(&b);
	assert_int_equal(bus_add(&b, 0x100, 8, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_read(&b, 0x104, 4), 0x5a5a5a5a);
	assert_int_equal(p.off, 4);
	assert_int_equal(p.size, 4);
	bus_write(&b, 0x106, 2, 0x12345678);
	assert_int_equal(p.off, 6);
	assert_int_equal(p.val, 0x5678);
	assert_int_equal(bus_read(&b, 0x108, 2), 0xffff);
	assert_int_equal(bus_read(&b, 0xf8, 8), ~0ULL);
	bus_write(&b, 0x200, 4, 1);
	assert_int_equal(p.reads, 1);
	assert_int_equal(p.writes, 1);
	assert_true(bus_claims(&b, 0x107));
	assert_false(bus_claims(&b, 0x108));
	assert_false(bus_claims(&b, 0xff));
}

static void straddling_accesses_split(void **s)
{
	struct bus b;
	struct probe p = {.tag = 0x11}, q = {.tag = 0x22}, top = {.tag = 0x33};

	(void)s;
	bus_init(&b);
	assert_int_equal(bus_add(&b, 0x100, 2, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_add(&b, 0x103, 1, &probe_ops, &q), HV_OK);
	assert_int_equal(bus_add(&b, ~0ULL, 1, &probe_ops, &top), HV_OK);
	assert_int_equal(bus_read(&b, 0x100, 4), 0x22ff1111);
	assert_int_equal(p.reads, 2);
	assert_int_equal(bus_read(&b, 0xff, 8), 0xffffff22ff1111ffULL);
	bus_write(&b, 0x101, 4, 0xddccbbaa);
	assert_int_equal(p.val, 0xaa);
	assert_int_equal(p.off, 1);
	assert_int_equal(q.val, 0xcc);
	assert_int_equal(q.size, 1);
	/* Bytes past the end of the address space do not wrap to its start. */
	assert_int_equal(bus_add(&b, 0, 1, &probe_ops, &p), HV_OK);
	assert_int_equal(bus_read(&b, ~0ULL, 2), 0xff33);
}

static void agrees_with_a_byte_map(void **s)
{
	static struct probe dev[BUS_RANGES + 1];
	static uint8_t model[512];
	struct bus b;

	(void)s;
	srand(7);
	bus_init(&b);
	memset(model, 0xff, sizeof(model));
	for (unsigned i = 0; i < 300; i++) {
		unsigned base = (unsigned)rand() % 500, len = 1 + (unsigned)rand() % 9, j;

		for (j = base; j < base + len && model[j] == 0xff; j++)
			;
		dev[b.count].tag = (uint8_t)(b.count + 1);
		if (bus_add(&b, base, len, &probe_ops, &dev[b.count]) == HV_OK) {
			assert_int_equal(j, base + len);
			memset(model + base, (int)b.count, len);
		} else {
			assert_true(j < base + len || b.count == BUS_RANGES);
		}
	}
	for (unsigned a = 0; a < 504; a++) {
		for (unsigned size = 1; size <= 8; size *= 2) {
			uint64_t want = 0;

			memcpy(&want, model + a, size);
			assert_int_equal(bus_read(&b, a, size), want);
		}
		assert_int_equal(bus_claims(&b, a), model[a] != 0xff);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refuses_bad_ranges),
		cmocka_unit_test(whole_accesses_stay_whole),
		cmocka_unit_test(straddling_accesses_split),
		cmocka_unit_test(agrees_with_a_byte_map),
	};
	return cmocka_run_group_tests_name("bus", t, NULL, NULL);
}
