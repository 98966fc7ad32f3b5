/* SPDX-License-Identifier: BSD-2-Clause */
/* edit: changes of the configuration's device tree before it is used.  Pure. */
#include "boot/edit.h"

#include <libfdt.h>

#include "hv/config.h"

#define VALUE_MAX  (CONFIG_CMDLINE_LEN + CONFIG_MAX_MODULES * CONFIG_PATH_LEN)
#define COMPATIBLE "faultline,config-1"

void edit_begin(void *fdt, size_t size, const void *dtb)
{
	if (dtb && !fdt_check_header(dtb) && !fdt_open_into(dtb, fdt, (int)size))
		return;
	/* Neither can fail: an empty tree is some dozens of bytes. */
	fdt_create_empty_tree(fdt, (int)size);
	fdt_setprop(fdt, 0, "compatible", COMPATIBLE, sizeof(COMPATIBLE));
}

size_t edit_pack(void *fdt)
{
	/* Moves what is there to the front, which cannot fail. */
	(void)fdt_pack(fdt);
	return fdt_totalsize(fdt);
}

static bool bad(struct hv_error *err, const char *what, const char *name, int code)
{
	hv_error_set(err, "%s '%s': %s", what, name,
		     code == -FDT_ERR_NOSPACE ? "the configuration is full" : fdt_strerror(code));
	return false;
}

/* ---- nodes ---------------------------------------------------------------------- */

static bool is_section(const char *node)
{
	return !strcmp(node, "console") || !strcmp(node, "control");
}

static int find(const void *fdt, const char *node)
{
	int parent = 0;

	if (!strcmp(node, "/"))
		return 0;
	if (!is_section(node))
		parent = fdt_subnode_offset(fdt, 0, "vms");
	return parent < 0 ? parent : fdt_subnode_offset(fdt, parent, node);
}

/* "console" and "control" are made when they are first needed. */
static int find_or_make(void *fdt, const char *node)
{
	int at = find(fdt, node);

	return at == -FDT_ERR_NOTFOUND && is_section(node) ? fdt_add_subnode(fdt, 0, node) : at;
}

bool edit_has(const void *fdt, const char *node)
{
	return find(fdt, node) >= 0;
}

static bool good_name(const char *s)
{
	size_t n = strlen(s);

	for (const char *c = s; *c; c++)
		if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		      *c == '-' || *c == '_' || *c == '.'))
			return false;
	return n && n < CONFIG_NAME_LEN && !is_section(s) && strcmp(s, "vms");
}

bool edit_add(void *fdt, const char *vm, struct hv_error *err)
{
	int vms = fdt_subnode_offset(fdt, 0, "vms");

	if (!good_name(vm)) {
		hv_error_set(err, "a VM's name has 1 to %u letters, digits, '-', '_' or '.'",
			     CONFIG_NAME_LEN - 1);
		return false;
	}
	if (vms == -FDT_ERR_NOTFOUND)
		vms = fdt_add_subnode(fdt, 0, "vms");
	if (vms >= 0)
		vms = fdt_add_subnode(fdt, vms, vm);
	return vms >= 0 || bad(err, "vm", vm, vms);
}

bool edit_remove(void *fdt, const char *vm, struct hv_error *err)
{
	int at = find(fdt, vm);

	if (at == 0) {
		hv_error_set(err, "the root cannot be removed");
		return false;
	}
	if (at > 0)
		at = fdt_del_node(fdt, at);
	return at >= 0 || bad(err, "node", vm, at);
}

/* ---- properties ------------------------------------------------------------------- */

static bool number(const char *s, uint64_t *v)
{
	unsigned base = s[0] == '0' && s[1] == 'x' ? 16 : 10;

	*v = 0;
	s += base == 16 ? 2 : 0;
	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned digit = *s >= '0' && *s <= '9' ? (unsigned)(*s - '0') :
				 *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a') + 10 : 99;

		if (digit >= base || *v > (~0ULL - digit) / base)
			return false;
		*v = *v * base + digit;
	}
	return true;
}

static bool all_numbers(unsigned count, char *const *values)
{
	uint64_t v;

	for (unsigned i = 0; i < count; i++)
		if (!number(values[i], &v))
			return false;
	return count;
}

static bool put(uint8_t *to, size_t *len, const void *data, size_t size)
{
	if (size > VALUE_MAX - *len)
		return false;
	memcpy(to + *len, data, size);
	*len += size;
	return true;
}

static bool encode(uint8_t *to, size_t *len, unsigned count, char *const *values)
{
	bool cells = all_numbers(count, values), fits = true;

	*len = 0;
	for (unsigned i = 0; i < count && fits; i++) {
		fdt32_t cell[2];
		uint64_t v;

		if (!cells) {
			fits = put(to, len, values[i], strlen(values[i]) + 1);
			continue;
		}
		number(values[i], &v);
		cell[0] = cpu_to_fdt32((uint32_t)(v >> 32));
		cell[1] = cpu_to_fdt32((uint32_t)v);
		fits = v >> 32 ? put(to, len, cell, 8) : put(to, len, &cell[1], 4);
	}
	return fits;
}

bool edit_set(void *fdt, const char *node, const char *prop, unsigned count, char *const *values,
	      struct hv_error *err)
{
	uint8_t value[VALUE_MAX];
	int at = find_or_make(fdt, node), st;
	size_t len;

	if (at < 0)
		return bad(err, "node", node, at);
	if (!prop[0] || strlen(prop) > 31) {
		hv_error_set(err, "a property's name has 1 to 31 bytes");
		return false;
	}
	if (!encode(value, &len, count, values)) {
		hv_error_set(err, "%s: longer than %u bytes", prop, VALUE_MAX);
		return false;
	}
	st = fdt_setprop(fdt, at, prop, value, (int)len);
	return !st || bad(err, "property", prop, st);
}

bool edit_unset(void *fdt, const char *node, const char *prop, struct hv_error *err)
{
	int at = find(fdt, node), st;

	if (at < 0)
		return bad(err, "node", node, at);
	st = fdt_delprop(fdt, at, prop);
	return !st || bad(err, "property", prop, st);
}

/* ---- keys ------------------------------------------------------------------------- */

bool edit_key(unsigned *state, int c)
{
	enum { PLAIN, ESCAPE, CSI, SS3 };
	unsigned was = *state;

	*state = PLAIN;
	if (c == 0x1b) {
		*state = ESCAPE;
		return false;
	}
	/* Controls, Enter among them, are never a part of one. */
	if (was == PLAIN || c < ' ')
		return c >= 0;
	if (was == ESCAPE && (c == '[' || c == 'O'))
		*state = c == '[' ? CSI : SS3;
	else if (was == CSI && c < '@')
		*state = CSI;
	return false;
}

/* ---- showing ---------------------------------------------------------------------- */

/* Printable strings, each with its end. */
static bool is_text(const char *s, int len)
{
	if (!len || s[len - 1])
		return false;
	for (int i = 0; i < len; i++)
		if (s[i] ? s[i] < ' ' || s[i] > '~' : !i || !s[i - 1])
			return false;
	return true;
}

/* As a source has it: quoted, with escapes.  What does not fit @size is cut. */
static size_t quote(char *to, size_t size, const char *s)
{
	size_t n = 0;

	for (to[n++] = '"'; *s && n + 3 < size; s++) {
		if (*s == '"' || *s == '\\')
			to[n++] = '\\';
		to[n++] = *s;
	}
	to[n++] = '"';
	to[n] = 0;
	return n;
}

static void show_property(const void *fdt, int at, const char *indent, const struct edit_reader *r)
{
	char text[2 * CONFIG_CMDLINE_LEN + 64];
	const char *name, *data;
	size_t n;
	int len;

	data = fdt_getprop_by_offset(fdt, at, &name, &len);
	if (!data)
		return;
	n = hv_snprintf(text, sizeof(text), "%s%.31s%s", indent, name, len ? " =" : "");
	if (is_text(data, len)) {
		for (int i = 0; i < len && n + 8 < sizeof(text); i += (int)strlen(data + i) + 1) {
			n += hv_snprintf(text + n, sizeof(text) - n, "%s ", i ? "," : "");
			n += quote(text + n, sizeof(text) - n, data + i);
		}
	} else {
		for (int i = 0; i + 4 <= len && n < sizeof(text); i += 4)
			n += hv_snprintf(text + n, sizeof(text) - n, "%s%u%s", i ? " " : " <",
					 fdt32_ld((const fdt32_t *)(const void *)(data + i)),
					 i + 8 > len ? ">" : "");
	}
	hv_snprintf(text + min_u64(n, sizeof(text) - 2), 2, ";");
	r->line(r->ctx, text);
}

static void show_node(const void *fdt, int node, unsigned depth, const struct edit_reader *r)
{
	static const char tabs[] = "\t\t\t\t\t\t\t\t";
	const char *indent = tabs + sizeof(tabs) - 1 - depth, *name = fdt_get_name(fdt, node, NULL);
	char text[64];
	int at;

	hv_snprintf(text, sizeof(text), "%s%.40s {", indent, node ? name : "/");
	r->line(r->ctx, text);
	fdt_for_each_property_offset(at, fdt, node)
		show_property(fdt, at, indent - 1, r);
	if (depth < 4)
		fdt_for_each_subnode(at, fdt, node)
			show_node(fdt, at, depth + 1, r);
	hv_snprintf(text, sizeof(text), "%s};", indent);
	r->line(r->ctx, text);
}

bool edit_show(const void *fdt, const char *node, const struct edit_reader *r)
{
	int at = node ? find(fdt, node) : 0;

	if (at < 0)
		return false;
	show_node(fdt, at, 0, r);
	return true;
}
