/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_insn_fault: the executor where the CPU that runs the tests cannot be
 * asked: faults, segments, 16- and 32-bit code, contention.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/insn_exec.h"
#include "hv/insn_string.h"

#define FLAT_DATA 0xc093u /* present, writable, 32-bit, 4 KiB granular */

static uint8_t memory[0x10000];

static struct {
	uint64_t fault_at; /* accesses that include this address fault */
	bool on_write_only;
	enum insn_intent intent; /* of the last read */
	unsigned reads, writes, swaps;
	uint64_t touched;   /* the last address that was asked for in advance */
	enum insn_intent touch_intent;
	bool no_memory;	    /* and there is none for it */
	unsigned contended; /* so many compare-exchanges find another value */
} mock;

static struct hv_regs regs;
static struct hv_sregs sregs;
static struct insn_fault fault;

static bool faults(uint64_t linear, unsigned size, struct insn_fault *f)
{
	if (mock.fault_at < linear || mock.fault_at - linear >= size)
		return false;
	*f = (struct insn_fault){.vector = VEC_PF, .has_error = true, .error = 6, .cr2 = linear};
	return true;
}

static enum insn_result mem_touch(void *ctx, uint64_t linear, unsigned size,
				  enum insn_intent intent, struct insn_fault *f)
{
	(void)ctx, (void)size, (void)f;
	mock.touched = linear;
	mock.touch_intent = intent;
	return mock.no_memory ? INSN_AGAIN : INSN_DONE;
}

static enum insn_result mem_read(void *ctx, uint64_t linear, unsigned size, enum insn_intent intent,
				 uint64_t *val, struct insn_fault *f)
{
	(void)ctx;
	mock.reads++;
	mock.intent = intent;
	if (!mock.on_write_only && faults(linear, size, f))
		return INSN_EXCEPTION;
	assert_true(linear <= sizeof(memory) - size);
	*val = 0;
	memcpy(val, memory + linear, size);
	return INSN_DONE;
}

static enum insn_result mem_write(void *ctx, uint64_t linear, unsigned size, uint64_t val,
				  struct insn_fault *f)
{
	(void)ctx;
	mock.writes++;
	if (faults(linear, size, f))
		return INSN_EXCEPTION;
	assert_true(linear <= sizeof(memory) - size);
	memcpy(memory + linear, &val, size);
	return INSN_DONE;
}

static enum insn_result mem_cmpxchg(void *ctx, uint64_t linear, unsigned size, uint64_t old[2],
				    const uint64_t new_val[2], struct insn_fault *f)
{
	(void)ctx;
	mock.swaps++;
	if (faults(linear, size, f))
		return INSN_EXCEPTION;
	if (mock.contended) {
		mock.contended--;
		memory[linear]++;
	}
	if (memcmp(memory + linear, old, size)) {
		memcpy(old, memory + linear, size);
		return INSN_AGAIN;
	}
	memcpy(memory + linear, new_val, size);
	return INSN_DONE;
}

static const struct insn_env env = {
	.touch = mem_touch, .read = mem_read, .write = mem_write, .cmpxchg = mem_cmpxchg};

static void reset(enum insn_mode mode)
{
	memset(&mock, 0, sizeof(mock));
	mock.fault_at = ~0ULL;
	memset(&regs, 0, sizeof(regs));
	memset(&sregs, 0, sizeof(sregs));
	memset(&fault, 0, sizeof(fault));
	for (unsigned i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i ^ i >> 8);
	for (unsigned i = SEG_ES; i <= SEG_GS; i++)
		sregs.seg[i] = (struct hv_segment){.attr = FLAT_DATA, .limit = ~0U};
	sregs.cr0 = CR0_PE;
	if (mode == INSN_16) { /* real mode */
		sregs.cr0 = 0;
		for (unsigned i = SEG_ES; i <= SEG_GS; i++)
			sregs.seg[i] = (struct hv_segment){.attr = 0x93, .limit = 0xffff};
	}
	regs.rflags = RFLAGS_ONE | RFLAGS_RF;
	regs.rip = 0x100;
}

static struct insn decode(enum insn_mode mode, const char *bytes, size_t len)
{
	struct insn in;

	assert_int_equal(insn_decode((const uint8_t *)bytes, len, mode, &in), HV_OK);
	assert_int_equal(in.len, len);
	return in;
}

static enum insn_result exec(enum insn_mode mode, const char *bytes, size_t len)
{
	struct insn in = decode(mode, bytes, len);

	return insn_exec(&in, &regs, &sregs, &env, 1024, &fault);
}

#define EXEC(mode, b) exec(mode, b, sizeof(b) - 1)

static void assert_fault(enum insn_result res, unsigned vector)
{
	assert_int_equal(res, INSN_EXCEPTION);
	assert_int_equal(fault.vector, vector);
	assert_true(fault.has_error);
	assert_int_equal(mock.reads + mock.writes + mock.swaps, 0);
	assert_int_equal(regs.rip, 0x100);
	assert_true(regs.rflags & RFLAGS_RF);
}

static void fault_leaves_registers(void **s)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool write;
	} t[] = {
		{"\x8b\x07", 2, false},		   /* mov eax, [rdi] */
		{"\x89\x07", 2, true},		   /* mov [rdi], eax */
		{"\x03\x07", 2, false},		   /* add eax, [rdi] */
		{"\x01\x07", 2, true},		   /* add [rdi], eax */
		{"\xf0\x01\x07", 3, true},	   /* lock add [rdi], eax */
		{"\x87\x07", 2, true},		   /* xchg [rdi], eax */
		{"\x0f\xc1\x07", 3, true},	   /* xadd [rdi], eax */
		{"\x0f\xb1\x07", 3, true},	   /* cmpxchg [rdi], eax */
		{"\x0f\xc7\x0f", 3, true},	   /* cmpxchg8b [rdi] */
		{"\xf0\x48\x0f\xc7\x0f", 5, true}, /* lock cmpxchg16b [rdi] */
		{"\x0f\x44\x07", 3, false},	   /* cmovz eax, [rdi]: also when not zero */
		{"\xff\x37", 2, false},		   /* push [rdi] */
		{"\x8f\x07", 2, true},		   /* pop [rdi] */
		{"\xaa", 1, true},		   /* stosb */
		{"\xa4", 1, true},		   /* movsb */
		{"\xaf", 1, false},		   /* scasd */
		{"\x0f\x94\x07", 3, true},	   /* setz [rdi] */
	};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(t); i++) {
		struct hv_regs before;

		reset(INSN_64);
		regs.gpr[GPR_RAX] = 0x1122334455667788;
		regs.gpr[GPR_RDI] = 0x4000;
		regs.gpr[GPR_RSI] = 0x3000;
		regs.gpr[GPR_RSP] = 0x2000;
		before = regs;
		mock.fault_at = 0x4000;
		mock.on_write_only = t[i].write;
		assert_int_equal(exec(INSN_64, t[i].bytes, t[i].len), INSN_EXCEPTION);
		assert_int_equal(fault.vector, VEC_PF);
		assert_int_equal(fault.cr2, 0x4000);
		assert_memory_equal(&before, &regs, sizeof(regs));
	}
}

static void modify_says_so(void **s)
{
	(void)s;
	reset(INSN_64);
	regs.gpr[GPR_RDI] = 0x4000;
	assert_int_equal(EXEC(INSN_64, "\x01\x07"), INSN_DONE);
	assert_int_equal(mock.intent, INSN_MODIFY);
	assert_int_equal(regs.rip, 0x102);
	assert_false(regs.rflags & RFLAGS_RF);
	assert_int_equal(EXEC(INSN_64, "\x39\x07"), INSN_DONE);
	assert_int_equal(mock.intent, INSN_READ);
	assert_int_equal(mock.reads, 2);
	assert_int_equal(mock.writes, 1);
	/* CMPXCHG writes the old value back when it does not match. */
	regs.gpr[GPR_RAX] = 1;
	assert_int_equal(EXEC(INSN_64, "\x0f\xb1\x0f"), INSN_DONE);
	assert_int_equal(mock.writes, 2);
}

static void contention(void **s)
{
	(void)s;
	reset(INSN_64);
	memory[0x4000] = 0;
	regs.gpr[GPR_RDI] = 0x4000;
	mock.contended = 5;
	assert_int_equal(EXEC(INSN_64, "\xf0\xfe\x07"), INSN_DONE); /* lock inc byte [rdi] */
	assert_int_equal(memory[0x4000], 6);
	assert_int_equal(mock.swaps, 6);
	mock.contended = 1000;
	assert_int_equal(EXEC(INSN_64, "\xf0\xfe\x07"), INSN_AGAIN);
	assert_int_equal(regs.rip, 0x103);
	assert_int_equal(EXEC(INSN_64, "\xf0\x48\x0f\xc7\x0f"), INSN_AGAIN);
	assert_int_equal(regs.rip, 0x103);
}

static void canonical_addresses(void **s)
{
	(void)s;
	reset(INSN_64);
	regs.gpr[GPR_RDI] = 0x00007ffffffffffdULL;
	assert_fault(EXEC(INSN_64, "\x8b\x07"), VEC_GP);
	regs.gpr[GPR_RBP] = 0x0000800000000000ULL;
	assert_fault(EXEC(INSN_64, "\x8b\x45\x00"), VEC_SS);
	regs.gpr[GPR_RSP] = 0xffff800000000004ULL;
	assert_fault(EXEC(INSN_64, "\x50"), VEC_SS);
	/* A DS override is none; FS has a base. */
	assert_fault(EXEC(INSN_64, "\x3e\x8b\x45\x00"), VEC_SS);
	sregs.seg[SEG_FS].base = 0xffffffffffff0000ULL;
	regs.gpr[GPR_RDI] = 0x14000;
	assert_int_equal(EXEC(INSN_64, "\x64\x8b\x07"), INSN_DONE);
	regs.rip = 0x100;
	regs.rflags |= RFLAGS_RF;
	mock.reads = 0;
	/* CMPXCHG16B wants 16 bytes of alignment. */
	regs.gpr[GPR_RBP] = 0x4008;
	assert_fault(EXEC(INSN_64, "\x48\x0f\xc7\x4d\x00"), VEC_GP);
}

static void segment_checks(void **s)
{
	struct hv_segment *ds = &sregs.seg[SEG_DS];

	(void)s;
	reset(INSN_32);
	regs.gpr[GPR_RDI] = 0x4000;
	ds->limit = 0x4002;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP); /* one byte too far */
	ds->limit = 0x4003;
	assert_int_equal(EXEC(INSN_32, "\x8b\x07"), INSN_DONE);
	reset(INSN_32);
	regs.gpr[GPR_RDI] = 0xfffffffe;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP); /* wraps */
	regs.gpr[GPR_RDI] = 0x4000;
	ds->attr = 0xc097; /* expand-down */
	ds->limit = 0x4000;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP);
	ds->attr = 0xc091; /* read-only */
	ds->limit = ~0U;
	assert_fault(EXEC(INSN_32, "\x89\x07"), VEC_GP);
	assert_fault(EXEC(INSN_32, "\x01\x07"), VEC_GP);
	assert_int_equal(EXEC(INSN_32, "\x39\x07"), INSN_DONE);
	reset(INSN_32);
	regs.gpr[GPR_RDI] = 0x4000;
	sregs.seg[SEG_CS].attr = 0xc099; /* execute-only */
	assert_fault(EXEC(INSN_32, "\x2e\x8b\x07"), VEC_GP);
	sregs.seg[SEG_CS].attr = 0xc09b;
	assert_fault(EXEC(INSN_32, "\x2e\x89\x07"), VEC_GP);
	ds->attr = SEG_ATTR_UNUSABLE;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP);
	sregs.seg[SEG_SS].limit = 0x10;
	assert_fault(EXEC(INSN_32, "\x36\x8b\x07"), VEC_SS);
	regs.gpr[GPR_RSP] = 0x4000;
	assert_fault(EXEC(INSN_32, "\x50"), VEC_SS);
	/* Virtual-8086 mode knows no types. */
	ds->attr = 0x91;
	regs.rflags |= RFLAGS_VM;
	assert_int_equal(EXEC(INSN_32, "\x89\x07"), INSN_DONE);
}

static void expand_down_limits(void **s)
{
	struct hv_segment *ds = &sregs.seg[SEG_DS];

	(void)s;
	reset(INSN_32);
	*ds = (struct hv_segment){.attr = 0x97, .limit = 0x3fff}; /* 16-bit */
	regs.gpr[GPR_RDI] = 0x4000;
	assert_int_equal(EXEC(INSN_32, "\x8b\x07"), INSN_DONE);
	reset(INSN_32);
	*ds = (struct hv_segment){.attr = 0x97, .limit = 0x3fff};
	regs.gpr[GPR_RDI] = 0x3fff;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP);
	regs.gpr[GPR_RDI] = 0xfffd;
	assert_fault(EXEC(INSN_32, "\x8b\x07"), VEC_GP);
}

static void real_mode(void **s)
{
	(void)s;
	reset(INSN_16);
	sregs.seg[SEG_DS].base = 0x1000;
	sregs.seg[SEG_SS].base = 0x2000;
	regs.gpr[GPR_RBX] = 0xabcd8000;
	regs.gpr[GPR_RSI] = 0x12349000;
	memory[0x2002] = 0x5a;
	/* mov al, [bx+si+2]: the sum is cut to 16 bits, the base comes after. */
	assert_int_equal(EXEC(INSN_16, "\x8a\x40\x02"), INSN_DONE);
	assert_int_equal(regs.gpr[GPR_RAX], 0x5a);
	regs.gpr[GPR_RBP] = 0x10;
	memory[0x2010] = 0xa5;
	assert_int_equal(EXEC(INSN_16, "\x8a\x46\x00"), INSN_DONE); /* mov al, [bp] */
	assert_int_equal(regs.gpr[GPR_RAX], 0xa5);
	assert_int_equal(EXEC(INSN_16, "\x3e\x8a\x46\x00"), INSN_DONE); /* mov al, ds:[bp] */
	assert_int_equal(regs.gpr[GPR_RAX], memory[0x1010]);
	/* push ax wraps SP within 16 bits. */
	regs.gpr[GPR_RSP] = 0xffff0000;
	sregs.seg[SEG_SS].base = 0;
	assert_int_equal(EXEC(INSN_16, "\x50"), INSN_DONE);
	assert_int_equal(regs.gpr[GPR_RSP], 0xfffffffe);
	assert_int_equal(memory[0xfffe], regs.gpr[GPR_RAX] & 0xff);
	/* A word at the last byte of the segment. */
	reset(INSN_16);
	regs.gpr[GPR_RBX] = 0xffff;
	assert_fault(EXEC(INSN_16, "\x8b\x07"), VEC_GP);
	/* Code may be written through a CS override. */
	regs.gpr[GPR_RBX] = 0x4000;
	assert_int_equal(EXEC(INSN_16, "\x2e\x89\x07"), INSN_DONE);
}

static void pop_addresses_after_increment(void **s)
{
	(void)s;
	reset(INSN_64);
	regs.gpr[GPR_RSP] = 0x4000;
	assert_int_equal(EXEC(INSN_64, "\x8f\x04\x24"), INSN_DONE); /* pop [rsp] */
	assert_int_equal(regs.gpr[GPR_RSP], 0x4008);
	assert_memory_equal(memory + 0x4008, memory + 0x4000, 8);
	assert_int_equal(EXEC(INSN_64, "\x54"), INSN_DONE); /* push rsp: the old value */
	assert_int_equal(memory[0x4000], 0x08);
	assert_int_equal(EXEC(INSN_64, "\x5c"), INSN_DONE); /* pop rsp: the value wins */
	assert_int_equal(regs.gpr[GPR_RSP], 0x4008);
}

static void string_stops_at_a_fault(void **s)
{
	(void)s;
	reset(INSN_64);
	regs.gpr[GPR_RCX] = 100;
	regs.gpr[GPR_RSI] = 0x1000;
	regs.gpr[GPR_RDI] = 0x4000 - 40;
	mock.fault_at = 0x4000;
	assert_int_equal(EXEC(INSN_64, "\xf3\xa5"), INSN_EXCEPTION);
	assert_int_equal(regs.gpr[GPR_RCX], 90);
	assert_int_equal(regs.gpr[GPR_RSI], 0x1000 + 40);
	assert_int_equal(regs.gpr[GPR_RDI], 0x4000);
	assert_int_equal(regs.rip, 0x100);
	mock.fault_at = ~0ULL;
	assert_int_equal(EXEC(INSN_64, "\xf3\xa5"), INSN_DONE);
	assert_memory_equal(memory + 0x4000 - 40, memory + 0x1000, 400);
	/* RFLAGS stays as it was when REPE CMPS faults half-way. */
	reset(INSN_64);
	regs.gpr[GPR_RCX] = 100;
	regs.gpr[GPR_RSI] = regs.gpr[GPR_RDI] = 0x4000 - 10;
	mock.fault_at = 0x4000;
	assert_int_equal(EXEC(INSN_64, "\xf3\xa6"), INSN_EXCEPTION);
	assert_int_equal(regs.rflags, RFLAGS_ONE | RFLAGS_RF);
	assert_int_equal(regs.gpr[GPR_RCX], 90);
}

static void string_budget(void **s)
{
	struct insn in = decode(INSN_64, "\xf3\xab", 2);

	(void)s;
	reset(INSN_64);
	regs.gpr[GPR_RCX] = 100;
	regs.gpr[GPR_RDI] = 0x4000;
	assert_int_equal(insn_exec(&in, &regs, &sregs, &env, 0, &fault), INSN_AGAIN);
	assert_int_equal(regs.gpr[GPR_RCX], 99);
	assert_int_equal(insn_exec(&in, &regs, &sregs, &env, 64, &fault), INSN_AGAIN);
	assert_int_equal(regs.gpr[GPR_RCX], 83);
	assert_int_equal(regs.rip, 0x100);
	assert_int_equal(insn_exec(&in, &regs, &sregs, &env, 1024, &fault), INSN_DONE);
	assert_int_equal(regs.gpr[GPR_RCX], 0);
	assert_int_equal(regs.gpr[GPR_RDI], 0x4000 + 400);
	assert_int_equal(regs.rip, 0x102);
}

static void string_pointers_wrap(void **s)
{
	struct insn in = decode(INSN_16, "\xf3\x26\x6e", 3); /* rep outs dx, byte es:[si] */
	uint64_t linear;

	(void)s;
	reset(INSN_16);
	sregs.seg[SEG_ES].base = 0x12340;
	regs.gpr[GPR_RSI] = 0xaaaaffff;
	regs.gpr[GPR_RDI] = 0x5555;
	regs.gpr[GPR_RCX] = 0xbbbb0003;
	assert_int_equal(insn_string_count(&in, &regs), 3);
	assert_int_equal(insn_string_linear(&in, &regs, &sregs, INSN_STRING_SRC, &linear, &fault),
			 INSN_DONE);
	assert_int_equal(linear, 0x2233f);
	insn_string_advance(&in, &regs, 2);
	assert_int_equal(regs.gpr[GPR_RSI], 0xaaaa0001);
	assert_int_equal(regs.gpr[GPR_RDI], 0x5555);
	assert_int_equal(regs.gpr[GPR_RCX], 0xbbbb0001);
	regs.rflags |= RFLAGS_DF;
	insn_string_advance(&in, &regs, 1);
	assert_int_equal(regs.gpr[GPR_RSI], 0xaaaa0000);
	assert_int_equal(insn_exec(&in, &regs, &sregs, &env, 1024, &fault), INSN_UNSUPPORTED);
	/* INS writes ES:DI. */
	in = decode(INSN_32, "\x6d", 1);
	reset(INSN_32);
	sregs.seg[SEG_ES].attr = 0xc091;
	assert_fault(insn_string_linear(&in, &regs, &sregs, INSN_STRING_DST, &linear, &fault),
		     VEC_GP);
}

static void rip_has_32_bits_outside_64_bit_mode(void **s)
{
	(void)s;
	reset(INSN_32);
	regs.rip = 0xfffffffe;
	regs.gpr[GPR_RDI] = 0x4000;
	assert_int_equal(EXEC(INSN_32, "\x8b\x07"), INSN_DONE);
	assert_int_equal(regs.rip, 0);
	regs.rip = 0xfffffffe;
	assert_int_equal(EXEC(INSN_64, "\x8b\x07"), INSN_DONE);
	assert_int_equal(regs.rip, 0x100000000);
}

/* A device that has been read would be read again when the instruction is repeated. */
static void memory_is_there_before_a_device_is_read(void **s)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint64_t touched;
		enum insn_intent intent;
	} t[] = {
		{"\xa4", 1, 0x4000, INSN_MODIFY},	  /* movsb */
		{"\xf3\x48\xa5", 3, 0x4000, INSN_MODIFY}, /* rep movsq */
		{"\xa7", 1, 0x4000, INSN_READ},	  /* cmpsd */
		{"\xff\x37", 2, 0x1ff8, INSN_MODIFY},	  /* push [rdi] */
	};

	(void)s;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(t); i++) {
		bool no_memory = i % 2;

		reset(INSN_64);
		regs.gpr[GPR_RCX] = 1;
		regs.gpr[GPR_RDI] = 0x4000;
		regs.gpr[GPR_RSI] = 0x3000;
		regs.gpr[GPR_RSP] = 0x2000;
		mock.no_memory = no_memory;
		assert_int_equal(exec(INSN_64, t[i / 2].bytes, t[i / 2].len),
				 no_memory ? INSN_AGAIN : INSN_DONE);
		assert_int_equal(mock.touched, t[i / 2].touched);
		assert_int_equal(mock.touch_intent, t[i / 2].intent);
		assert_int_equal(!mock.reads, no_memory);
		assert_true(!no_memory || (!mock.writes && regs.rip == 0x100));
	}
}

static void not_ours(void **s)
{
	(void)s;
	reset(INSN_64);
	assert_int_equal(EXEC(INSN_64, "\x0f\xa2"), INSN_UNSUPPORTED); /* cpuid */
	assert_int_equal(EXEC(INSN_64, "\xff\x17"), INSN_UNSUPPORTED); /* call [rdi] */
	assert_int_equal(EXEC(INSN_64, "\xec"), INSN_UNSUPPORTED);     /* in al, dx */
	assert_int_equal(regs.rip, 0x100);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(fault_leaves_registers),
		cmocka_unit_test(modify_says_so),
		cmocka_unit_test(contention),
		cmocka_unit_test(canonical_addresses),
		cmocka_unit_test(segment_checks),
		cmocka_unit_test(expand_down_limits),
		cmocka_unit_test(real_mode),
		cmocka_unit_test(pop_addresses_after_increment),
		cmocka_unit_test(string_stops_at_a_fault),
		cmocka_unit_test(string_budget),
		cmocka_unit_test(string_pointers_wrap),
		cmocka_unit_test(rip_has_32_bits_outside_64_bit_mode),
		cmocka_unit_test(memory_is_there_before_a_device_is_read),
		cmocka_unit_test(not_ours),
	};
	return cmocka_run_group_tests_name("insn_fault", t, NULL, NULL);
}
