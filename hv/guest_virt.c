/* SPDX-License-Identifier: BSD-2-Clause */
/* guest_virt: a vCPU's memory at linear addresses. */
#include "hv/guest_virt.h"

#include "hv/cpuid.h"
#include "hv/gwalk.h"
#include "hv/lowmem.h"
#include "hv/vm.h"
#include "hv/guest_mem.h"

/* Out of memory: the VM pauses, and then the instruction is carried out again. */
static enum hv_status paused(struct vcpu *v, gpa_t gpa, enum hv_status st)
{
	if (st != HV_NOMEM)
		return st;
	lowmem_pause(v, gpa.v);
	return HV_RETRY;
}

static enum hv_status read_entry(void *ctx, gpa_t gpa, unsigned size, uint64_t *entry)
{
	struct guest_virt *g = ctx;
	enum hv_status st;

	*entry = 0;
	st = paused(g->v, gpa, guest_mem_read(g->v->vm, gpa, entry, size));
	if (!st && g->noting)
		insn_cache_note(g->v, gpa, size, *entry);
	return st;
}

static enum hv_status exchange_entry(void *ctx, gpa_t gpa, unsigned size, uint64_t old,
				     uint64_t new)
{
	struct guest_virt *g = ctx;
	uint64_t seen = 0;
	enum hv_status st = guest_mem_cmpxchg(g->v->vm, gpa, size, old, new, &seen);

	if (st)
		return paused(g->v, gpa, st);
	return seen == old ? HV_OK : HV_RETRY;
}

static enum hv_status translate(struct guest_virt *g, uint64_t linear, unsigned access,
				struct gwalk_result *r)
{
	const struct gwalk_env env = {
		.ctx = g,
		.read = read_entry,
		.cmpxchg = exchange_entry,
		.maxphyaddr = cpuid_guest_maxphyaddr(),
		.page1g = cpuid_guest_page1g(),
	};

	if (g->sregs.cpl == 3)
		access |= GWALK_USER;
	return gwalk(&env, &g->sregs, g->v->regs.rflags, linear, access, r);
}

static enum insn_result fault_of(enum hv_status st, const struct gwalk_result *r,
				 struct insn_fault *f)
{
	if (st != HV_FAULT)
		return INSN_AGAIN;
	*f = (struct insn_fault){ .vector = VEC_PF, .has_error = true, .error = r->error,
				  .cr2 = r->cr2 };
	return INSN_EXCEPTION;
}

/* An access of up to 8 bytes touches at most two pages. */
struct span {
	gpa_t gpa[2];
	unsigned len[2];
};

static enum insn_result locate(struct guest_virt *g, uint64_t linear, unsigned size,
			       unsigned access, struct span *s, struct insn_fault *f)
{
	struct gwalk_result r;
	enum hv_status st = translate(g, linear, access, &r);

	if (st)
		return fault_of(st, &r, f);
	s->gpa[0] = r.gpa;
	s->len[0] = r.left < size ? (unsigned)r.left : size;
	s->len[1] = size - s->len[0];
	if (!s->len[1])
		return INSN_DONE;
	st = translate(g, linear + s->len[0], access, &r);
	s->gpa[1] = r.gpa;
	return st ? fault_of(st, &r, f) : INSN_DONE;
}

static bool is_lapic(struct vcpu *v, gpa_t gpa)
{
	return (v->lapic.base & LAPIC_BASE_ENABLE) && !(v->lapic.base & LAPIC_BASE_EXTD) &&
	       gpa.v >= LAPIC_BASE && gpa.v < LAPIC_BASE + LAPIC_LEN;
}

/* RAM, the vCPU's local APIC, a device, or nothing: then all-ones. */
static enum hv_status read_piece(struct vcpu *v, gpa_t gpa, void *dst, unsigned len)
{
	enum hv_status st = guest_mem_read(v->vm, gpa, dst, len);
	uint64_t val;

	if (st != HV_FAULT)
		return st;
	if (is_lapic(v, gpa))
		val = lapic_ops.read(&v->lapic, gpa.v - LAPIC_BASE, len);
	else
		val = platform_mmio_read(v->vm, gpa.v, len);
	memcpy(dst, &val, len);
	return HV_OK;
}

static enum hv_status write_piece(struct vcpu *v, gpa_t gpa, const void *src, unsigned len)
{
	enum hv_status st = guest_mem_write(v->vm, gpa, src, len);
	uint64_t val = 0;

	if (st != HV_FAULT)
		return st;
	memcpy(&val, src, len);
	if (is_lapic(v, gpa))
		lapic_ops.write(&v->lapic, gpa.v - LAPIC_BASE, len, val);
	else
		platform_mmio_write(v->vm, gpa.v, len, val);
	return HV_OK;
}

/* Buses know sizes 1, 2, 4 and 8: an odd piece at a page's edge goes by bytes. */
static enum hv_status move_piece(struct vcpu *v, gpa_t gpa, uint8_t *buf, unsigned len, bool write)
{
	unsigned step = len & (len - 1) ? 1 : len;

	for (unsigned i = 0; i < len; i += step) {
		gpa_t at = GPA(gpa.v + i);
		enum hv_status st = write ? write_piece(v, at, buf + i, step) :
					    read_piece(v, at, buf + i, step);

		if (st)
			return st;
	}
	return HV_OK;
}

/* What of the span is RAM gets its frames, so that they are there once a device has been read. */
static enum insn_result fill(struct vcpu *v, const struct span *s)
{
	for (unsigned i = 0; i < 2 && s->len[i]; i++) {
		uint8_t byte;
		enum hv_status st = guest_mem_read(v->vm, s->gpa[i], &byte, 1);

		if (paused(v, s->gpa[i], st) == HV_RETRY)
			return INSN_AGAIN;
	}
	return INSN_DONE;
}

static enum insn_result move(struct guest_virt *g, const struct span *s, uint8_t *buf, bool write)
{
	enum insn_result r = s->len[1] ? fill(g->v, s) : INSN_DONE;

	for (unsigned i = 0; i < 2 && s->len[i] && !r; i++) {
		enum hv_status st = move_piece(g->v, s->gpa[i], buf, s->len[i], write);

		if (paused(g->v, s->gpa[i], st))
			r = INSN_AGAIN;
		buf += s->len[0];
	}
	return r;
}

static enum insn_result virt_read(void *ctx, uint64_t linear, unsigned size,
				  enum insn_intent intent, uint64_t *val, struct insn_fault *f)
{
	struct guest_virt *g = ctx;
	enum insn_result r;
	struct span s;

	r = locate(g, linear, size, intent == INSN_MODIFY ? GWALK_WRITE : GWALK_READ, &s, f);
	*val = 0;
	return r ? r : move(g, &s, (uint8_t *)val, false);
}

static enum insn_result virt_write(void *ctx, uint64_t linear, unsigned size, uint64_t val,
				   struct insn_fault *f)
{
	struct guest_virt *g = ctx;
	enum insn_result r;
	struct span s;

	r = locate(g, linear, size, GWALK_WRITE, &s, f);
	return r ? r : move(g, &s, (uint8_t *)&val, true);
}

static enum insn_result virt_touch(void *ctx, uint64_t linear, unsigned size,
				   enum insn_intent intent, struct insn_fault *f)
{
	struct guest_virt *g = ctx;
	enum insn_result r;
	struct span s;

	r = locate(g, linear, size, intent == INSN_MODIFY ? GWALK_WRITE : GWALK_READ, &s, f);
	return r ? r : fill(g->v, &s);
}

void guest_virt_init(struct guest_virt *g, struct vcpu *v)
{
	g->v = v;
	g->noting = false;
	virt->get_sregs(v, &g->sregs);
	g->env = (struct insn_env){ .ctx = g, .touch = virt_touch, .read = virt_read,
				    .write = virt_write };
}

static enum insn_mode mode_of(const struct hv_sregs *s)
{
	uint32_t cs = s->seg[SEG_CS].attr;

	if ((s->efer & EFER_LMA) && (cs & SEG_ATTR_L))
		return INSN_64;
	if (!(s->cr0 & CR0_PE))
		return INSN_16;
	return cs & SEG_ATTR_DB ? INSN_32 : INSN_16;
}

static uint64_t linear_rip(const struct guest_virt *g)
{
	uint64_t rip = g->v->regs.rip;

	return mode_of(&g->sregs) == INSN_64 ? rip : (uint32_t)(rip + g->sregs.seg[SEG_CS].base);
}

/* Up to @max bytes at RIP; *len is what could be had before a fault. */
static enum hv_status fetch_bytes(struct guest_virt *g, uint8_t *buf, size_t max, size_t *len)
{
	uint64_t linear = linear_rip(g);
	struct gwalk_result r;
	enum hv_status st;

	for (*len = 0; *len < max;) {
		size_t n;

		st = translate(g, linear + *len, GWALK_FETCH, &r);
		if (st)
			return *len ? HV_OK : HV_RETRY;
		n = (size_t)min_u64(r.left, max - *len);
		st = paused(g->v, r.gpa, guest_mem_read(g->v->vm, r.gpa, buf + *len, n));
		if (st)
			return *len ? HV_OK : st;
		*len += n;
	}
	return HV_OK;
}

enum hv_status guest_virt_fetch(struct guest_virt *g, struct insn *in)
{
	uint8_t bytes[INSN_MAX_LEN];
	enum hv_status st;
	size_t len;

	st = fetch_bytes(g, bytes, sizeof(bytes), &len);
	return st ? st : insn_decode(bytes, len, mode_of(&g->sregs), in);
}

unsigned guest_virt_insn_len(struct guest_virt *g)
{
	struct gwalk_result r;
	struct insn in;

	if (guest_virt_fetch(g, &in))
		return 0;
	/* Once more, now that accessed bits are set, for what the next exit will find. */
	insn_cache_begin(g->v);
	g->noting = true;
	if (!translate(g, linear_rip(g), GWALK_FETCH, &r))
		insn_cache_end(g->v, &g->sregs, r.gpa, in.len);
	g->noting = false;
	return in.len;
}

void guest_virt_bytes(struct guest_virt *g, char *text, size_t size)
{
	uint8_t bytes[INSN_MAX_LEN];
	size_t len, at = 0;

	text[0] = 0;
	if (fetch_bytes(g, bytes, sizeof(bytes), &len))
		return;
	for (size_t i = 0; i < len && at + 4 < size; i++)
		at += hv_snprintf(text + at, size - at, "%02x ", bytes[i]);
}

bool guest_virt_conclude(struct vcpu *v, enum insn_result r, const struct insn_fault *f)
{
	switch (r) {
	case INSN_DONE:
		vcpu_skip(v, 0);
		return true;
	case INSN_AGAIN:
		return true;
	case INSN_EXCEPTION:
		if (f->vector == VEC_PF)
			vcpu_raise_pf(v, f->cr2, f->error);
		else if (f->has_error)
			vcpu_raise_error(v, f->vector, f->error);
		else
			vcpu_raise(v, f->vector);
		return true;
	case INSN_UNSUPPORTED:
		break;
	}
	return false;
}
