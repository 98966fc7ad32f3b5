/* SPDX-License-Identifier: BSD-2-Clause */
/* config_prop: typed, range-checked reading of device-tree properties.  Pure. */
#include <libfdt.h>

#include "boot/config_prop.h"

/* Allowed at every node. */
static const char *const common[] = {
	"#address-cells", "#size-cells", "compatible", "linux,phandle", "name", "phandle", "status",
};

/* ---- text ------------------------------------------------------------------------ */

static void copy_printable(char *buf, size_t room, const char *s, size_t len)
{
	size_t n = len < room ? len : room - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = s[i] >= ' ' && s[i] < 0x7f ? s[i] : '?';
	buf[n] = 0;
}

const char *config_quote(char *buf, const void *s, size_t len)
{
	copy_printable(buf, CONFIG_QUOTE_SIZE, s, len);
	if (len >= CONFIG_QUOTE_SIZE)
		memcpy(buf + CONFIG_QUOTE_SIZE - 4, "...", 4);
	return buf;
}

static const char *path_of(const struct config_node *n)
{
	return n->path[0] ? n->path : "/";
}

void config_warn(const struct config_node *n, const char *f, ...)
{
	struct hv_error what, line;
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(what.text, sizeof(what.text), f, ap);
	va_end(ap);
	hv_error_set(&line, "%s: %s", path_of(n), what.text);
	n->sink->warn(n->sink->ctx, line.text);
}

void config_node_bad(const struct config_node *n, struct hv_error *err, const char *f, ...)
{
	struct hv_error what;
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(what.text, sizeof(what.text), f, ap);
	va_end(ap);
	hv_error_set(err, "%s: %s", path_of(n), what.text);
}

bool config_prop_bad(const struct config_prop *p, const char *f, ...)
{
	struct hv_error what;
	va_list ap;

	va_start(ap, f);
	hv_vsnprintf(what.text, sizeof(what.text), f, ap);
	va_end(ap);
	hv_error_set(p->err, "%s: %s %s", path_of(p->node), p->name, what.text);
	return false;
}

/* ---- nodes ----------------------------------------------------------------------- */

void config_node_name(const struct config_node *n, char *buf, size_t size)
{
	int len;
	const char *name = fdt_get_name(n->dtb, n->offset, &len);

	copy_printable(buf, size, name ? name : "", name ? (size_t)len : 0);
}

void config_node_child(struct config_node *n, const struct config_node *parent, int offset)
{
	char name[CONFIG_QUOTE_SIZE];

	*n = (struct config_node){ .dtb = parent->dtb, .offset = offset, .sink = parent->sink };
	config_node_name(n, name, sizeof(name));
	hv_snprintf(n->path, sizeof(n->path), "%s/%s", parent->path, name);
}

bool config_prop_find(const struct config_node *n, const char *name, struct hv_error *err,
		      struct config_prop *p)
{
	int len;
	const void *data = fdt_getprop(n->dtb, n->offset, name, &len);

	if (!data)
		return false;
	*p = (struct config_prop){ n, name, data, (uint32_t)len, err };
	return true;
}

enum config_status config_node_status(const struct config_node *n, struct hv_error *err)
{
	static const char *const words[] = { "okay", "disabled", NULL };
	const struct config_field f = { .size = sizeof(uint32_t), .words = words };
	struct config_prop p;
	uint32_t v = 0;

	if (config_prop_find(n, "status", err, &p) && !config_read_choice(&p, &f, &v))
		return CONFIG_BAD;
	return v ? CONFIG_DISABLED : CONFIG_OKAY;
}

/* ---- tables ---------------------------------------------------------------------- */

static bool is_common(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcmp(name, common[i]))
			return true;
	return false;
}

static bool read_one(const struct config_prop *p, const struct config_field *table, void *out)
{
	char quoted[CONFIG_QUOTE_SIZE];

	for (const struct config_field *f = table; f->name; f++)
		if (!strcmp(p->name, f->name))
			return !f->read || f->read(p, f, out);
	if (!is_common(p->name))
		config_warn(p->node, "unknown property '%s'",
			    config_quote(quoted, p->name, strlen(p->name)));
	return true;
}

bool config_read(const struct config_node *n, const struct config_field *table, void *out,
		 struct hv_error *err)
{
	int at;

	fdt_for_each_property_offset(at, n->dtb, n->offset) {
		struct hv_error own;
		struct config_prop p = { .node = n, .err = err ? err : &own };
		int len;

		p.data = fdt_getprop_by_offset(n->dtb, at, &p.name, &len);
		if (!p.data)
			continue;
		p.len = (uint32_t)len;
		if (read_one(&p, table, out))
			continue;
		if (err)
			return false;
		n->sink->warn(n->sink->ctx, own.text);
	}
	return true;
}

void config_store(const struct config_field *f, void *out, uint64_t v)
{
	/* Little-endian: the low bytes of any integer come first. */
	memcpy((char *)out + f->offset, &v, f->size);
}

/* ---- readers --------------------------------------------------------------------- */

bool config_get_number(const struct config_prop *p, uint64_t *v)
{
	uint64_t n = 0;

	if (p->len != 4 && p->len != 8)
		return config_prop_bad(p, "has %u bytes: must be a number of one or two cells",
				       p->len);
	for (uint32_t i = 0; i < p->len; i++)
		n = n << 8 | p->data[i];
	*v = n;
	return true;
}

bool config_get_string(const struct config_prop *p, const char **s)
{
	char quoted[CONFIG_QUOTE_SIZE];

	if (!p->len || p->data[p->len - 1])
		return config_prop_bad(p, "= \"%s\" has no end: must be a string",
				       config_quote(quoted, p->data, p->len));
	if (strlen((const char *)p->data) + 1 != p->len)
		return config_prop_bad(p, "= \"%s\" goes on behind its end: must be one string",
				       config_quote(quoted, p->data, p->len - 1));
	*s = (const char *)p->data;
	return true;
}

bool config_get_in_range(const struct config_prop *p, const struct config_field *f, uint64_t *v)
{
	if (!config_get_number(p, v))
		return false;
	if (*v < f->min || *v > f->max)
		return config_prop_bad(p, "= %llu: must be %llu to %llu", (unsigned long long)*v,
				       (unsigned long long)f->min, (unsigned long long)f->max);
	return true;
}

bool config_read_number(const struct config_prop *p, const struct config_field *f, void *out)
{
	uint64_t v;

	if (!config_get_in_range(p, f, &v))
		return false;
	config_store(f, out, v);
	return true;
}

bool config_read_address(const struct config_prop *p, const struct config_field *f, void *out)
{
	uint64_t v;

	if (!config_get_number(p, &v))
		return false;
	if (v < f->min || v > f->max)
		return config_prop_bad(p, "= 0x%llx: must be 0x%llx to 0x%llx",
				       (unsigned long long)v, (unsigned long long)f->min,
				       (unsigned long long)f->max);
	config_store(f, out, v);
	return true;
}

bool config_read_choice(const struct config_prop *p, const struct config_field *f, void *out)
{
	char quoted[CONFIG_QUOTE_SIZE], allowed[80];
	size_t n = 0;
	const char *s;

	if (!config_get_string(p, &s))
		return false;
	for (unsigned i = 0; f->words[i]; i++) {
		if (!strcmp(s, f->words[i])) {
			config_store(f, out, i);
			return true;
		}
		/* The words of every choice fit. */
		n += hv_snprintf(allowed + n, sizeof(allowed) - n, "%s\"%s\"",
				 i ? (f->words[i + 1] ? ", " : " or ") : "", f->words[i]);
	}
	return config_prop_bad(p, "= \"%s\": must be %s", config_quote(quoted, s, strlen(s)), allowed);
}

bool config_read_string(const struct config_prop *p, const struct config_field *f, void *out)
{
	const char *s;

	if (!config_get_string(p, &s))
		return false;
	if (p->len > f->size)
		return config_prop_bad(p, "has %u characters: must have at most %u", p->len - 1,
				       (unsigned)f->size - 1);
	memcpy((char *)out + f->offset, s, p->len);
	return true;
}

const char *config_path_fault(const char *path)
{
	if (path[0] != '/' && path[0] != '\\')
		return "must begin with / or \\";
	for (const char *c = path; *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			return "must be printable ASCII";
	return NULL;
}

bool config_read_path(const struct config_prop *p, const struct config_field *f, void *out)
{
	char quoted[CONFIG_QUOTE_SIZE];
	const char *s, *fault;

	if (!config_get_string(p, &s))
		return false;
	fault = config_path_fault(s);
	if (fault)
		return config_prop_bad(p, "= \"%s\": %s", config_quote(quoted, s, p->len - 1), fault);
	return config_read_string(p, f, out);
}

bool config_read_flag(const struct config_prop *p, const struct config_field *f, void *out)
{
	if (p->len)
		return config_prop_bad(p, "has %u bytes: must be a flag without value", p->len);
	config_store(f, out, true);
	return true;
}
