/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_multiboot: any bytes as a multiboot kernel (ELF or a.out fields), with
 * any RAM size and a module of any size.
 *
 * Checked as in fuzz_linux, and that the entry lies in what was loaded.  Run:
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_multiboot.c \
 *     hv/load.c hv/load_multiboot.c hv/load_elf.c hv/e820.c hv/fmt.c hv/status.c \
 *     tests/host/hosted.c -o /tmp/fuzz_multiboot
 *   /tmp/fuzz_multiboot -max_len=12288 -max_total_time=60
 */
#include <stdlib.h>

#include "tests/host/fake_ram.h"
#include "hv/load_multiboot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake_ram ram;
	static uint8_t *byte;
	struct fake_file kernel, module;
	struct load_image img = {.kernel = &kernel.blob, .cmdline = "x"};
	struct load_result out;
	struct hv_error err = {0};
	uint32_t ram_pages, knobs;
	enum hv_status st;

	if (size < 8)
		return 0;
	if (!byte)
		byte = calloc(1, FAKE_RAM_KEPT);
	memcpy(&ram_pages, data, 4);
	memcpy(&knobs, data + 4, 4);
	fake_ram_init(&ram, byte, MIB + ram_pages % (0xbff00 + 1) * PAGE_SIZE, 0);
	fake_file_init(&kernel, "kernel", data + 8, size - 8);
	fake_file_init(&module, "module", NULL, (uint64_t)knobs << (knobs & 32 ? 32 : 0));
	img.module[0] = &module.blob;
	img.module_count = knobs & 1;
	load_multiboot_probe(&kernel.blob);
	st = load_multiboot(&ram.env, &img, &out, &err);
	HV_ASSERT(!st == !err.text[0]);
	HV_ASSERT(st || out.regs.rip < ram.env.ram_low);
	fake_ram_clear(&ram);
	return 0;
}
