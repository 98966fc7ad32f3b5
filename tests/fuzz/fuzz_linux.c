/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_linux: any bytes as a bzImage, with any RAM size.
 *
 * The first 8 bytes choose RAM, command line length and initrd size.  Checked by
 * fake_ram: nothing is written outside RAM or twice, no read leaves the file;
 * and a refusal always has a text.  Run:
 *   clang -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_linux.c \
 *     hv/load.c hv/load_linux.c hv/e820.c hv/fmt.c hv/status.c tests/host/hosted.c -o
 * /tmp/fuzz_linux /tmp/fuzz_linux -max_len=4096 -max_total_time=60
 */
#include <stdlib.h>

#include "tests/host/fake_ram.h"
#include "hv/load_linux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake_ram ram;
	static uint8_t *byte;
	static char cmdline[40000];
	struct fake_file kernel, initrd;
	struct load_image img = {.kernel = &kernel.blob, .cmdline = cmdline};
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
	fake_file_init(&initrd, "initrd", NULL, (uint64_t)knobs << (knobs & 32 ? 20 : 0));
	memset(cmdline, 'x', sizeof(cmdline));
	cmdline[knobs % sizeof(cmdline)] = 0;
	img.initrd = knobs & 1 ? &initrd.blob : NULL;
	load_linux_probe(&kernel.blob);
	st = load_linux(&ram.env, &img, &out, &err);
	HV_ASSERT(!st == !err.text[0]);
	HV_ASSERT(st || (out.regs.rip >= MIB && out.regs.rip <= ram.env.ram_low + 0x200));
	fake_ram_clear(&ram);
	return 0;
}
