/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_flat: flat binaries.
 *
 * Called from: start of a VM.  Pure (tests/host/test_load_flat.c).
 */
#include "hv/load_flat.h"

static bool entry_allowed(const struct config_vm *vm, const struct blob *file, struct hv_error *err)
{
	if (vm->flat_entry < vm->flat_load || vm->flat_entry - vm->flat_load >= file->size) {
		hv_error_set(err, "%s: entry 0x%lx is outside the image, 0x%lx-0x%lx", file->name,
			     vm->flat_entry, vm->flat_load, vm->flat_load + file->size);
		return false;
	}
	if (vm->flat_mode == FLAT_REAL && vm->flat_entry >= LOAD_FLAT_REAL_LIMIT) {
		hv_error_set(err, "%s: real-mode entry 0x%lx is not below 0x%lx", file->name,
			     vm->flat_entry, (uint64_t)LOAD_FLAT_REAL_LIMIT);
		return false;
	}
	return true;
}

enum hv_status load_flat(const struct load_env *env, const struct config_vm *vm,
			 const struct load_image *img, struct load_result *out,
			 struct hv_error *err)
{
	const struct blob *file = img->kernel;
	enum hv_status st;

	if (!file->size) {
		hv_error_set(err, "%s: the file is empty", file->name);
		return HV_INVAL;
	}
	if (!load_fits(env, file->name, "image", vm->flat_load, file->size, err) ||
	    !entry_allowed(vm, file, err))
		return HV_RANGE;
	st = env->copy(env->ctx, GPA(vm->flat_load), file, 0, file->size);
	if (st)
		return st;
	switch (vm->flat_mode) {
	case FLAT_REAL:
		load_state_real(out, vm->flat_entry);
		return HV_OK;
	case FLAT_PROTECTED:
		load_state_protected(out, vm->flat_entry);
		return HV_OK;
	case FLAT_LONG:
		return load_state_long(env, out, vm->flat_entry);
	}
	hv_error_set(err, "%s: unknown flat mode %u", file->name, (unsigned)vm->flat_mode);
	return HV_INVAL;
}
