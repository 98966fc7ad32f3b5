/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_load: puts a VM's images into its memory. */
#include "hv/vm_load.h"

#include "hv/guest_acpi.h"
#include "hv/load_flat.h"
#include "hv/load_linux.h"
#include "hv/load_multiboot.h"
#include "mm/frame.h"
#include "hv/guest_mem.h"

#include "guest_dsdt.hex"

#define ACPI_ORDER 2 /* pages for building the tables */

static const struct handoff *handoff __attribute__((section(".data.ro_after_init")));

void vm_load_init(const struct handoff *h)
{
	handoff = h;
}

/* ---- files in chunks ---------------------------------------------------------- */

/* The chunk that holds @off, and how many bytes follow in it. */
static const char *chunk_at(const struct handoff_file *f, uint64_t off, uint64_t *left)
{
	uint32_t i = 0;

	while (off >= f->chunk[i].len)
		off -= f->chunk[i++].len;
	*left = f->chunk[i].len - off;
	return (const char *)hpa_to_ptr(f->chunk[i].base) + off;
}

static void read_file(void *ctx, uint64_t off, void *dst, size_t len)
{
	char *d = dst;

	while (len) {
		uint64_t left;
		const char *p = chunk_at(ctx, off, &left);
		size_t n = (size_t)min_u64(left, len);

		memcpy(d, p, n);
		d += n;
		off += n;
		len -= n;
	}
}

static enum hv_status copy_to_guest(void *ctx, gpa_t gpa, const struct blob *b, uint64_t off,
				    uint64_t len)
{
	while (len) {
		uint64_t left;
		const char *p = chunk_at(b->ctx, off, &left);
		size_t n = (size_t)min_u64(left, len);
		enum hv_status st = guest_mem_write(ctx, gpa, p, n);

		if (st)
			return st;
		gpa.v += n;
		off += n;
		len -= n;
	}
	return HV_OK;
}

static enum hv_status write_to_guest(void *ctx, gpa_t gpa, const void *src, size_t len)
{
	return guest_mem_write(ctx, gpa, src, len);
}

static const struct handoff_file *find_file(const char *path)
{
	for (uint32_t i = 0; i < handoff->file_count; i++)
		if (!strcmp(handoff->file[i].path, path))
			return &handoff->file[i];
	return NULL;
}

bool vm_load_file(unsigned index, const char **path, uint64_t *bytes)
{
	if (index >= handoff->file_count)
		return false;
	*path = handoff->file[index].path;
	*bytes = handoff->file[index].size;
	return true;
}

bool vm_load_has(const char *path)
{
	return find_file(path);
}

/* False when a path is given and there is no such file. */
static bool open_file(const char *path, struct blob *b, const struct blob **out)
{
	const struct handoff_file *f;

	*out = NULL;
	if (!path[0])
		return true;
	f = find_file(path);
	if (!f)
		return false;
	*b = (struct blob){ f->path, f->size, (void *)(uintptr_t)f, read_file };
	*out = b;
	return true;
}

/* ---- ACPI ---------------------------------------------------------------------- */

static enum hv_status write_acpi(struct vm *vm)
{
	uint32_t ids[CONFIG_MAX_VCPUS];
	struct guest_acpi g = {
		.base = GUEST_ACPI_BASE,
		.apic_ids = ids,
		.cpus = vm->vcpu_count,
		.dsdt = guest_dsdt_aml_code,
		.dsdt_len = sizeof(guest_dsdt_aml_code),
	};
	void *buf = hv_pages_alloc(ACPI_ORDER);
	enum hv_status st;
	size_t len;

	if (!buf)
		return HV_NOMEM;
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		ids[i] = vm->vcpu[i]->lapic.id;
	st = guest_acpi_build(&g, buf, PAGE_SIZE << ACPI_ORDER, &len);
	if (!st)
		st = guest_mem_write(vm, GPA(GUEST_ACPI_BASE), buf, len);
	hv_pages_free(buf, ACPI_ORDER);
	return st;
}

/* ---- kernels -------------------------------------------------------------------- */

static enum hv_status load_kernel(struct vm *vm, const struct load_image *img,
				  struct load_result *r, struct hv_error *err)
{
	const struct config_vm *c = &vm->config;
	const struct load_env env = {
		.ctx = vm,
		.write = write_to_guest,
		.copy = copy_to_guest,
		.ram_low = c->ram_low,
		.ram_high = c->ram_high,
		.acpi_rsdp = GUEST_ACPI_BASE,
	};

	switch (c->type) {
	case KERNEL_LINUX:
		return load_linux(&env, img, r, err);
	case KERNEL_MULTIBOOT:
		return load_multiboot(&env, img, r, err);
	case KERNEL_FLAT:
		return load_flat(&env, c, img, r, err);
	case KERNEL_AUTO:
		break;
	}
	if (load_linux_probe(img->kernel))
		return load_linux(&env, img, r, err);
	if (load_multiboot_probe(img->kernel))
		return load_multiboot(&env, img, r, err);
	hv_error_set(err, "%s: neither a bzImage nor a multiboot kernel; a flat image needs type = \"flat\"",
		     c->kernel);
	return HV_INVAL;
}

static enum hv_status gather(const struct config_vm *c, struct blob *blobs, struct load_image *img,
			     struct hv_error *err)
{
	*img = (struct load_image){ .cmdline = c->cmdline, .module_count = c->module_count };
	if (!open_file(c->kernel, &blobs[0], &img->kernel) || !img->kernel ||
	    !open_file(c->initrd, &blobs[1], &img->initrd)) {
		hv_error_set(err, "kernel '%s' or initrd '%s' was not loaded", c->kernel, c->initrd);
		return HV_NOENT;
	}
	for (uint32_t i = 0; i < c->module_count; i++) {
		if (!open_file(c->module[i], &blobs[2 + i], &img->module[i])) {
			hv_error_set(err, "module '%s' was not loaded", c->module[i]);
			return HV_NOENT;
		}
	}
	return HV_OK;
}

enum hv_status vm_load(struct vm *vm, struct hv_error *err)
{
	struct blob blobs[2 + CONFIG_MAX_MODULES];
	struct vcpu *v = vm->vcpu[0];
	struct load_image img;
	struct load_result r;
	enum hv_status st;

	st = gather(&vm->config, blobs, &img, err);
	if (st)
		return st;
	hv_error_set(err, "loading: %s", hv_status_name(HV_NOMEM));
	st = write_acpi(vm);
	if (!st)
		st = load_kernel(vm, &img, &r, err);
	if (st)
		return st;
	v->regs = r.regs;
	vcpu_unload_current();
	virt->vcpu_load(v);
	virt->set_sregs(v, &r.sregs);
	virt->vcpu_put(v);
	/* The firmware that a PC would have leaves the APIC in virtual wire mode. */
	lapic_virtual_wire(&v->lapic);
	return HV_OK;
}
