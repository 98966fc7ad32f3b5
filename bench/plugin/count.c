/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count: a QEMU plugin that counts every instruction between two marks in the
 * guest, by CPU and address.
 *
 * -plugin count.so,out=FILE.  A mark is NOPL 0x464c4d00+n(%rax), n = 1 begins a
 * section and n = 0 ends it (bench/guest/measure.c).  FILE gets, per section,
 * "section N", then "ADDRESS CPU COUNT" for each that is not 0.  Needs a TCG
 * with one thread, as with -icount.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plugin/qemu.h"

#define CPUS  64
#define SLOTS (1u << 22)

static const uint8_t mark_bytes[] = {0x0f, 0x1f, 0x80, 0, 0x4d, 0x4c, 0x46};

struct counter {
	uint64_t address;
	uint32_t touched; /* the section that it was last counted in, plus 1 */
	uint64_t count[CPUS];
};

int qemu_plugin_version = PLUGIN_API;

static FILE *out;
static struct counter *slots[SLOTS];
static struct counter **in_section;
static size_t in_count, in_size;
static uint32_t section;
static bool counting;

/* Code that is translated again keeps its counter; other code at the address shares it. */
static struct counter *counter_of(uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ULL) >> 42;

	while (slots[i] && slots[i]->address != address)
		i = (i + 1) % SLOTS;
	if (!slots[i]) {
		slots[i] = calloc(1, sizeof(*slots[i]));
		if (!slots[i])
			abort();
		slots[i]->address = address;
	}
	return slots[i];
}

static void count(unsigned int cpu, void *data)
{
	struct counter *c = data;

	if (!counting)
		return;
	if (c->touched != section) {
		c->touched = section;
		memset(c->count, 0, sizeof(c->count));
		if (in_count == in_size) {
			in_size = in_size ? 2 * in_size : 4096;
			in_section = realloc(in_section, in_size * sizeof(struct counter *));
			if (!in_section)
				abort();
		}
		in_section[in_count++] = c;
	}
	c->count[cpu % CPUS]++;
}

static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	section++;
	in_count = 0;
	counting = true;
}

static void end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	counting = false;
	fprintf(out, "section %u\n", section - 1);
	for (size_t i = 0; i < in_count; i++)
		for (unsigned n = 0; n < CPUS; n++)
			if (in_section[i]->count[n])
				fprintf(out, "%llx %u %llu\n",
					(unsigned long long)in_section[i]->address, n,
					(unsigned long long)in_section[i]->count[n]);
	fflush(out);
}

static bool is_mark(const struct qemu_plugin_insn *insn, uint8_t *n)
{
	const uint8_t *b = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != sizeof(mark_bytes))
		return false;
	*n = b[3];
	return !memcmp(b, mark_bytes, 3) && !memcmp(b + 4, mark_bytes + 4, 3);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t n;

		if (is_mark(insn, &n))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, n ? begin : end,
							       PLUGIN_NO_REGS, NULL);
		else
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, count, PLUGIN_NO_REGS,
				counter_of(qemu_plugin_insn_vaddr(insn)));
	}
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	if (!out) {
		fprintf(stderr, "count: out=FILE is missing or cannot be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
