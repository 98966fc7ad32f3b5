/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/pci_uart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define FUNCTIONS 24

/* What is there; all else reads as ones. */
struct function {
	uint8_t bus, dev, fn;
	uint32_t reg[16];
};

static struct function space[FUNCTIONS];
static unsigned count, reads, writes;
static uint32_t absent;

static struct function *find(struct pci_at at)
{
	for (unsigned i = 0; i < count; i++)
		if (space[i].bus == at.bus && space[i].dev == at.dev && space[i].fn == at.fn)
			return &space[i];
	return NULL;
}

static uint32_t read_fake(void *ctx, struct pci_at at)
{
	struct function *f = find(at);

	(void)ctx;
	reads++;
	assert_true(at.dev < 32 && at.fn < 8 && at.reg < 64 && !(at.reg & 3));
	return f ? f->reg[at.reg / 4] : absent;
}

static void write_fake(void *ctx, struct pci_at at, uint32_t v)
{
	(void)ctx;
	writes++;
	assert_non_null(find(at));
	find(at)->reg[at.reg / 4] = v;
}

static const struct pci_config config = { NULL, read_fake, write_fake };

static int setup(void **s)
{
	(void)s;
	memset(space, 0, sizeof(space));
	count = reads = writes = 0;
	absent = 0xffffffff;
	return 0;
}

static struct function *add(uint8_t bus, uint8_t dev, uint8_t fn, uint32_t class, uint8_t header)
{
	struct function *f = &space[count++];

	*f = (struct function){ .bus = bus, .dev = dev, .fn = fn };
	f->reg[0] = 0x00021b36;
	f->reg[2] = class << 8 | 1;
	f->reg[3] = (uint32_t)header << 16;
	return f;
}

static struct function *add_uart(uint8_t bus, uint8_t dev, uint8_t fn, uint32_t bar)
{
	struct function *f = add(bus, dev, fn, 0x070002, 0);

	f->reg[4] = bar;
	return f;
}

static void add_bridge(uint8_t bus, uint8_t dev, uint8_t secondary)
{
	add(bus, dev, 0, 0x060400, 1)->reg[6] = 0x00ff0000u | (uint32_t)secondary << 8 | bus;
}

static void assert_found(unsigned index, uint64_t base, bool mmio)
{
	struct pci_uart u;

	assert_true(pci_uart_find(&config, index, &u));
	assert_int_equal(u.base, base);
	assert_int_equal(u.mmio, mmio);
}

static void assert_count(unsigned n)
{
	struct pci_uart u;

	assert_false(pci_uart_find(&config, n, &u));
	if (n)
		assert_true(pci_uart_find(&config, n - 1, &u));
}

static void nothing(void **s)
{
	(void)s;
	assert_count(0);
	assert_int_equal(reads, 32);
	/* Some chipsets return zeroes. */
	absent = 0;
	assert_count(0);
}

static void by_class(void **s)
{
	(void)s;
	add(0, 0, 0, 0x060000, 0);
	add(0, 1, 0, 0x070007, 0)->reg[4] = 0xc101;
	add(0, 2, 0, 0x070103, 0)->reg[4] = 0xc201;
	add(0, 3, 0, 0x078000, 0)->reg[4] = 0xc301;
	add(0, 4, 0, 0x070006, 0)->reg[4] = 0xc401;
	add(0, 5, 0, 0x070000, 0)->reg[4] = 0xc501;
	add(0, 6, 0, 0x070000, 2)->reg[4] = 0xc601;
	assert_found(0, 0xc400, false);
	assert_found(1, 0xc500, false);
	assert_count(2);
}

static void addresses(void **s)
{
	(void)s;
	add_uart(0, 1, 0, 0x00000001);	/* none given */
	add_uart(0, 2, 0, 0x00000000);
	add_uart(0, 3, 0, 0x0000fff9);	/* as far up as it goes */
	add_uart(0, 4, 0, 0x00010001);	/* beyond the ports */
	add_uart(0, 5, 0, 0xfe001008);	/* prefetchable */
	add_uart(0, 6, 0, 0xfe002006);	/* reserved type */
	add_uart(0, 7, 0, 0xfe003004)->reg[5] = 0x2;
	add_uart(0, 8, 0, 0xfe004004)->reg[5] = 0x100000; /* beyond 52 bits */
	add_uart(0, 9, 0, 0xffffffff);
	assert_found(0, 0xfff8, false);
	assert_found(1, 0xfe001000, true);
	assert_found(2, 0x2fe003000, true);
	assert_count(3);
}

static void functions(void **s)
{
	(void)s;
	add_uart(0, 1, 0, 0xc101);
	add_uart(0, 1, 1, 0xc109); /* function 0 says that there is but one */
	add(0, 2, 0, 0x0c0300, 0x80);
	add_uart(0, 2, 7, 0xc201);
	add_uart(0, 3, 1, 0xc301); /* no function 0 */
	assert_found(0, 0xc100, false);
	assert_found(1, 0xc200, false);
	assert_count(2);
}

static void bridges(void **s)
{
	(void)s;
	add_bridge(0, 1, 2);
	add_bridge(2, 0, 1); /* numbers may go down */
	add_uart(1, 31, 0, 0xc101);
	add_uart(0, 2, 0, 0xc001);
	add_uart(3, 0, 0, 0xc301); /* behind no bridge */
	assert_found(0, 0xc000, false);
	assert_found(1, 0xc100, false);
	assert_count(2);
}

/* Bridges to themselves, to each other and to bus 0: each bus counts once. */
static void loops(void **s)
{
	(void)s;
	add_bridge(0, 1, 0);
	add_bridge(0, 2, 5);
	add_bridge(5, 0, 5);
	add_bridge(5, 1, 6);
	add_bridge(6, 0, 5);
	add_bridge(6, 1, 0);
	add_bridge(6, 2, 255);
	add_bridge(255, 0, 6);
	add_uart(255, 1, 0, 0xc101);
	assert_found(0, 0xc100, false);
	assert_count(1);
}

static uint32_t read_chain(void *ctx, struct pci_at at)
{
	(void)ctx;
	reads++;
	/* Everywhere a bridge to the next bus, with eight functions. */
	return at.reg == 0 ? 0x1 : at.reg == 8 ? 0x06040000 : at.reg == 0xc ? 0x00810000 :
	       (uint32_t)(at.bus + 1) << 8;
}

static uint32_t read_uarts(void *ctx, struct pci_at at)
{
	(void)ctx;
	reads++;
	return at.reg == 0 ? 0x1 : at.reg == 8 ? 0x07000000 : at.reg == 0xc ? 0x00800000 : 0xc001;
}

static void hostile(void **s)
{
	const struct pci_config chain = { NULL, read_chain, write_fake };
	const struct pci_config uarts = { NULL, read_uarts, write_fake };
	struct pci_uart u;

	(void)s;
	assert_false(pci_uart_find(&chain, 0, &u));
	assert_true(reads <= 256 * 32 * 8 * 5);
	assert_true(pci_uart_find(&uarts, 255, &u));
	assert_int_equal(u.at.dev, 31);
	assert_int_equal(u.at.fn, 7);
	assert_false(pci_uart_find(&uarts, 256, &u));
	assert_false(pci_uart_find(&uarts, ~0u, &u));
}

static void decode(void **s)
{
	struct function *io = add_uart(0, 1, 0, 0xc101), *memory = add_uart(0, 2, 0, 0xfe000000);
	struct pci_uart u;

	(void)s;
	io->reg[1] = 0xf9000104;
	assert_true(pci_uart_find(&config, 0, &u));
	pci_uart_enable(&config, &u);
	assert_int_equal(io->reg[1], 0x105); /* no error bit of the status is cleared */
	pci_uart_enable(&config, &u);
	assert_int_equal(writes, 1);
	memory->reg[1] = 1;
	assert_true(pci_uart_find(&config, 1, &u));
	pci_uart_enable(&config, &u);
	assert_int_equal(memory->reg[1], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing, setup),
		cmocka_unit_test_setup(by_class, setup),
		cmocka_unit_test_setup(addresses, setup),
		cmocka_unit_test_setup(functions, setup),
		cmocka_unit_test_setup(bridges, setup),
		cmocka_unit_test_setup(loops, setup),
		cmocka_unit_test_setup(hostile, setup),
		cmocka_unit_test_setup(decode, setup),
	};
	return cmocka_run_group_tests_name("pci_uart", tests, NULL, NULL);
}
