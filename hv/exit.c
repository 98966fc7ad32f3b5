/* SPDX-License-Identifier: BSD-2-Clause */
/* exit: names of the exit classes.  Pure. */
#include "hv/exit.h"

static const char *const names[EXIT_CLASS_COUNT] = {
#define X(name, text) [EXIT_##name] = text,
	HV_EXIT_CLASSES(X)
#undef X
};

const char *hv_exit_class_name(unsigned class)
{
	return class < EXIT_CLASS_COUNT ? names[class] : "?";
}
