/* SPDX-License-Identifier: BSD-2-Clause */
/* efi_saved: what `config save` left in the firmware's variables. */
#include "boot/efi_saved.h"

#include "hv/config.h"
#include "hv/saved.h"

static EFI_GUID *vendor(void)
{
	static uint8_t guid[] __aligned(8) = SAVED_VENDOR;

	return (void *)guid;
}

static enum hv_status get(EFI_RUNTIME_SERVICES *rt, uint16_t *name, void *buf, size_t len)
{
	UINTN size = len;
	EFI_STATUS st = rt->GetVariable(name, vendor(), NULL, &size, buf);

	if (st == EFI_NOT_FOUND)
		return HV_NOENT;
	return EFI_ERROR(st) || size != len ? HV_INVAL : HV_OK;
}

enum hv_status efi_saved_read(EFI_RUNTIME_SERVICES *rt, void *buf, size_t cap, size_t *len)
{
	uint16_t name[SAVED_NAME];
	struct saved_head head;
	enum hv_status st;

	saved_head_name(name);
	st = get(rt, name, &head, sizeof(head));
	if (st)
		return st;
	if (!saved_head_is_good(&head, cap))
		return HV_INVAL;
	for (unsigned i = 0; i < saved_pieces(head.len); i++) {
		size_t at = (size_t)i * SAVED_PIECE;

		saved_piece_name(name, i);
		if (get(rt, name, (uint8_t *)buf + at, min_u64(SAVED_PIECE, head.len - at)))
			return HV_INVAL;
	}
	*len = head.len;
	return saved_matches(&head, buf) ? HV_OK : HV_INVAL;
}

void efi_saved_drop(EFI_RUNTIME_SERVICES *rt)
{
	uint16_t name[SAVED_NAME];

	saved_head_name(name);
	rt->SetVariable(name, vendor(), 0, 0, NULL);
	for (unsigned i = 0; i < saved_pieces(CONFIG_TREE_SIZE); i++) {
		saved_piece_name(name, i);
		rt->SetVariable(name, vendor(), 0, 0, NULL);
	}
}
