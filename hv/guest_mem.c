/* SPDX-License-Identifier: BSD-2-Clause */
/* guest_mem: the one door to guest memory. */
#include "hv/guest_mem.h"

#include "hv/vm.h"
#include "hv/vm_memory.h"
#include "mm/frame.h"
#include "mm/paging.h"

static void open_door(void)
{
	if (paging_has_smap())
		__asm__ volatile("stac" : : : "memory", "cc");
}

static void close_door(void)
{
	if (paging_has_smap())
		__asm__ volatile("clac" : : : "memory", "cc");
}

/*
 * The host address of @gpa and how many bytes follow it in the same leaf.  While
 * somebody has the entry frozen we hold no pointer, and say so: they may be
 * waiting for us.
 */
static enum hv_status locate(struct vm *vm, gpa_t gpa, void **p, uint64_t *left)
{
	struct npt_leaf leaf;
	uint64_t off;

	while (!npt_lookup(&vm->npt, gpa, &leaf)) {
		switch (vm_memory_fault(vm, gpa, NPT_READ, NULL)) {
		case FAULT_DEVICE:
			return HV_FAULT;
		case FAULT_REFILL:
			if (!vm_memory_refill())
				return HV_NOMEM;
			break;
		case FAULT_RESOLVED:
			vm_memory_step_out();
			cpu_relax();
			vm_memory_step_in();
			break;
		}
	}
	off = gpa.v & (BIT64(leaf.shift) - 1);
	*p = (char *)hpa_to_ptr(leaf.hpa) + off;
	*left = BIT64(leaf.shift) - off;
	return HV_OK;
}

/* The direct map knows no write protection, so we log our own writes; after them, as ever. */
static void written(struct vm *vm, gpa_t gpa, uint64_t len)
{
	struct dirty_log *log = dirty_log_of(&vm->npt);

	if (log)
		dirty_mark_range(log, gpa, len);
}

static enum hv_status copy(struct vm *vm, gpa_t gpa, void *buf, size_t len, bool to_guest)
{
	char *b = buf;

	while (len) {
		enum hv_status st;
		uint64_t left;
		size_t n;
		void *p;

		st = locate(vm, gpa, &p, &left);
		if (st)
			return st;
		n = (size_t)min_u64(left, len);
		open_door();
		if (to_guest)
			memcpy(p, b, n);
		else
			memcpy(b, p, n);
		close_door();
		if (to_guest)
			written(vm, gpa, n);
		gpa.v += n;
		b += n;
		len -= n;
	}
	return HV_OK;
}

enum hv_status guest_mem_read(struct vm *vm, gpa_t gpa, void *dst, size_t len)
{
	return copy(vm, gpa, dst, len, false);
}

enum hv_status guest_mem_write(struct vm *vm, gpa_t gpa, const void *src, size_t len)
{
	return copy(vm, gpa, (void *)(uintptr_t)src, len, true);
}

enum hv_status guest_mem_cmpxchg(struct vm *vm, gpa_t gpa, unsigned size, uint64_t old,
				 uint64_t new, uint64_t *seen)
{
	enum hv_status st;
	uint64_t left;
	void *p;

	if (gpa.v & (size - 1))
		return HV_INVAL;
	st = locate(vm, gpa, &p, &left);
	if (st)
		return st;
	open_door();
	if (size == 4) {
		uint32_t o = (uint32_t)old;

		__atomic_compare_exchange_n((uint32_t *)p, &o, (uint32_t)new, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		*seen = o;
	} else {
		__atomic_compare_exchange_n((uint64_t *)p, &old, new, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		*seen = old;
	}
	close_door();
	written(vm, gpa, size);
	return HV_OK;
}

bool guest_mem_word(struct vm *vm, gpa_t gpa, uint64_t value, uint64_t mask,
		    struct guest_mem_word *w)
{
	struct npt_leaf leaf;

	if (gpa.v % PAGE_SIZE > PAGE_SIZE - sizeof(*w->at) || !npt_lookup(&vm->npt, gpa, &leaf))
		return false;
	w->at = (const uint64_t *)((char *)hpa_to_ptr(leaf.hpa) + (gpa.v & (BIT64(leaf.shift) - 1)));
	w->value = value;
	w->mask = mask;
	return true;
}

bool guest_mem_words_are(const struct guest_mem_word *w, unsigned n)
{
	uint64_t differ = 0;

	open_door();
	for (unsigned i = 0; i < n; i++)
		differ |= (READ_ONCE(*w[i].at) & w[i].mask) ^ w[i].value;
	close_door();
	return !differ;
}

void guest_mem_copy_frame(hpa_t to, hpa_t from)
{
	open_door();
	memcpy(hpa_to_ptr(to), hpa_to_ptr(from), PAGE_SIZE);
	close_door();
}

void guest_mem_clear_frame(hpa_t hpa, unsigned order)
{
	open_door();
	memset(hpa_to_ptr(hpa), 0, PAGE_SIZE << order);
	close_door();
}
