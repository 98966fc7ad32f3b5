/* SPDX-License-Identifier: BSD-2-Clause */
/* config_live: the configuration as it is now. */
#include "hv/config_live.h"

#include "boot/config_write.h"
#include "boot/edit.h"
#include "boot/libc.h"
#include "hv/firmware.h"
#include "hv/saved.h"
#include "hv/vcpu.h"
#include "hv/vm.h"
#include "mm/frame.h"

static const struct handoff *handoff __attribute__((section(".data.ro_after_init")));
static bool destroyed[CONFIG_MAX_VMS]; /* of those in the handoff */

void config_live_init(const struct handoff *h)
{
	handoff = h;
}

const char *config_live_path(void)
{
	return handoff->config_path;
}

/* What the boot stage was told of VM @name: CONFIG_MAX_VMS, nothing that could be used. */
static unsigned find(const char *name)
{
	const struct hv_config *c = &handoff->config;

	for (unsigned i = 0; i < c->vm_count; i++)
		if (!c->vm[i].refused && !strcmp(c->vm[i].name, name))
			return i;
	return CONFIG_MAX_VMS;
}

void config_live_destroyed(const char *name)
{
	unsigned i = find(name);

	if (i < CONFIG_MAX_VMS)
		destroyed[i] = true;
}

static bool write_vms(void *fdt, struct hv_error *err)
{
	const struct hv_config *c = &handoff->config;

	for (unsigned i = 0; i < c->vm_count; i++)
		if (destroyed[i] && edit_has(fdt, c->vm[i].name) && !edit_remove(fdt, c->vm[i].name, err))
			return false;
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		unsigned was;
		bool in_tree;

		if (!vms[i])
			continue;
		was = find(vms[i]->config.name);
		/* Without a file it was built in, and stands in no tree. */
		in_tree = was < CONFIG_MAX_VMS && handoff->config_tree && !destroyed[was];
		if (!config_write_vm(fdt, in_tree ? &c->vm[was] : NULL, &vms[i]->config, err))
			return false;
	}
	return true;
}

/* NULL with the reason; else to be freed by free_tree(). */
static void *make_tree(struct hv_error *err)
{
	void *fdt = hv_pages_alloc(frame_order(CONFIG_TREE_SIZE));

	if (!fdt) {
		hv_error_set(err, "no memory for %llu KiB of device tree", CONFIG_TREE_SIZE / KIB);
		return NULL;
	}
	libc_use_thread_page();
	edit_begin(fdt, CONFIG_TREE_SIZE, handoff->config_tree);
	if (write_vms(fdt, err))
		return fdt;
	hv_pages_free(fdt, frame_order(CONFIG_TREE_SIZE));
	return NULL;
}

static void free_tree(void *fdt)
{
	hv_pages_free(fdt, frame_order(CONFIG_TREE_SIZE));
}

bool config_live_show(void (*line)(void *ctx, const char *text), void *ctx, struct hv_error *err)
{
	const struct edit_reader reader = { line, ctx };
	void *fdt = make_tree(err);

	if (!fdt)
		return false;
	line(ctx, "/dts-v1/;");
	edit_show(fdt, NULL, &reader);
	free_tree(fdt);
	return true;
}

/* The head goes first and comes last: with it gone, or not there yet, nothing is saved. */
static enum hv_status save(const uint8_t *data, size_t len)
{
	struct saved_head head = saved_head_for(data, len);
	uint16_t name[SAVED_NAME];
	enum hv_status st;

	saved_head_name(name);
	st = firmware_set_variable(name, NULL, 0);
	if (st == HV_NOENT)
		st = HV_OK;
	for (unsigned i = 0; i < saved_pieces(len) && !st; i++) {
		size_t at = (size_t)i * SAVED_PIECE;

		saved_piece_name(name, i);
		st = firmware_set_variable(name, data + at, min_u64(SAVED_PIECE, len - at));
	}
	saved_head_name(name);
	return st ? st : firmware_set_variable(name, &head, sizeof(head));
}

bool config_live_save(struct hv_error *err)
{
	void *fdt = make_tree(err);
	enum hv_status st;
	size_t len;

	if (!fdt)
		return false;
	len = edit_pack(fdt);
	vcpu_unload_current(); /* the firmware may use the FPU */
	st = save(fdt, len);
	free_tree(fdt);
	if (st == HV_NOTSUP)
		hv_error_set(err, "this firmware keeps nothing while an operating system runs");
	else if (st)
		hv_error_set(err, "the firmware's variables do not take %u bytes: %s", (unsigned)len,
			     hv_status_name(st));
	return !st;
}
