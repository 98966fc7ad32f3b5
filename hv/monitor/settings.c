/* SPDX-License-Identifier: BSD-2-Clause */
/* settings: a VM's configuration as SETTING=VALUE words. */
#include "hv/monitor/settings.h"

#include "hv/cpu.h"
#include "hv/monitor/words.h"
#include "hv/vm_load.h"

#define MAX_HOST_CPUS 64

bool settings_begin(struct config_vm *c, const char *name, struct hv_error *err)
{
	size_t n = strlen(name);

	memset(c, 0, sizeof(*c));
	c->vcpus = 1;
	c->ram_low = 256 * MIB;
	c->max_leaf_shift = 21;
	c->on_crash = POLICY_AS_REBOOT;
	c->weight = 100;
	c->flat_load = c->flat_entry = 0x7c00;
	for (size_t i = 0; i < n; i++)
		if (!(name[i] == '-' || name[i] == '_' || name[i] == '.' ||
		      (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'z') ||
		      (name[i] >= 'A' && name[i] <= 'Z')))
			n = 0;
	if (!n || n >= sizeof(c->name)) {
		hv_error_set(err, "a name has 1 to %u letters, digits, '-', '_' or '.'",
			     CONFIG_NAME_LEN - 1);
		return false;
	}
	memcpy(c->name, name, n + 1);
	return true;
}

/* ---- one setting each ------------------------------------------------------------- */

struct setting {
	const char *name;
	bool live;
	bool (*read)(struct config_vm *c, const char *v, struct hv_error *err);
	void (*show)(struct out *o, const char *name, const struct config_vm *c);
};

static bool number(const char *v, uint64_t min, uint64_t max, uint64_t *n, struct hv_error *err)
{
	if (!words_number(v, min, max, n))
		return true;
	hv_error_set(err, "'%s': must be %llu to %llu", v, (unsigned long long)min,
		     (unsigned long long)max);
	return false;
}

static bool small(const char *v, uint32_t min, uint32_t max, uint32_t *out, struct hv_error *err)
{
	uint64_t n;

	if (!number(v, min, max, &n, err))
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool read_vcpus(struct config_vm *c, const char *v, struct hv_error *err)
{
	return small(v, 1, CONFIG_MAX_VCPUS, &c->vcpus, err);
}

static void show_vcpus(struct out *o, const char *name, const struct config_vm *c)
{
	out_u64(o, name, c->vcpus);
}

static bool read_memory(struct config_vm *c, const char *v, struct hv_error *err)
{
	uint64_t mib;

	if (!number(v, CONFIG_MIN_RAM / MIB, CONFIG_MAX_RAM / MIB, &mib, err))
		return false;
	c->ram_low = min_u64(mib * MIB, CONFIG_HOLE_START);
	c->ram_high = mib * MIB - c->ram_low;
	return true;
}

static void show_memory(struct out *o, const char *name, const struct config_vm *c)
{
	out_u64(o, name, (c->ram_low + c->ram_high) / MIB);
}

/* "0,2,3", or "any". */
static bool read_cpus(struct config_vm *c, const char *v, struct hv_error *err)
{
	uint64_t mask = 0;

	for (const char *p = v; *p && strcmp(v, "any"); p++) {
		unsigned cpu = 0, digits = 0;

		for (; *p >= '0' && *p <= '9' && digits < 3; p++, digits++)
			cpu = cpu * 10 + (unsigned)(*p - '0');
		if (!digits || cpu >= MAX_HOST_CPUS || (*p && *p != ',')) {
			hv_error_set(err, "'%s': must be any, or CPU numbers from 0 to %u, as 0,2", v,
				     MAX_HOST_CPUS - 1);
			return false;
		}
		mask |= BIT64(cpu);
		if (!*p)
			break;
	}
	c->cpu_mask = mask;
	return true;
}

static void show_cpus(struct out *o, const char *name, const struct config_vm *c)
{
	char text[3 * MAX_HOST_CPUS + 4] = "any";
	size_t n = 0;

	for (unsigned i = 0; i < MAX_HOST_CPUS; i++)
		if (c->cpu_mask >> i & 1)
			n += hv_snprintf(text + n, sizeof(text) - n, "%s%u", n ? "," : "", i);
	out_str(o, name, "%s", text);
}

static bool text(char *to, size_t size, const char *v, struct hv_error *err)
{
	if (strlen(v) >= size) {
		hv_error_set(err, "too long: at most %u bytes", (unsigned)size - 1);
		return false;
	}
	memcpy(to, v, strlen(v) + 1);
	return true;
}

#define TEXT_SETTING(member)                                                                       \
	static bool read_##member(struct config_vm *c, const char *v, struct hv_error *err)        \
	{                                                                                          \
		return text(c->member, sizeof(c->member), v, err);                                 \
	}                                                                                          \
	static void show_##member(struct out *o, const char *name, const struct config_vm *c)      \
	{                                                                                          \
		out_str(o, name, "%s", c->member);                                                 \
	}
TEXT_SETTING(kernel)
TEXT_SETTING(initrd)
TEXT_SETTING(cmdline)

static const char *const policies[] = { "reset", "stop", "pause", "as-reboot" };

static bool policy(enum config_policy *p, unsigned count, const char *v, struct hv_error *err)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(policies[i], v)) {
			*p = (enum config_policy)i;
			return true;
		}
	hv_error_set(err, "'%s': must be reset, stop%s", v, count > 3 ? ", pause or as-reboot" : " or pause");
	return false;
}

static bool read_on_reboot(struct config_vm *c, const char *v, struct hv_error *err)
{
	return policy(&c->on_reboot, 3, v, err);
}

static void show_on_reboot(struct out *o, const char *name, const struct config_vm *c)
{
	out_str(o, name, "%s", policies[c->on_reboot]);
}

static bool read_on_crash(struct config_vm *c, const char *v, struct hv_error *err)
{
	return policy(&c->on_crash, 4, v, err);
}

static void show_on_crash(struct out *o, const char *name, const struct config_vm *c)
{
	out_str(o, name, "%s", policies[c->on_crash]);
}

static bool read_weight(struct config_vm *c, const char *v, struct hv_error *err)
{
	return small(v, 1, CONFIG_MAX_WEIGHT, &c->weight, err);
}

static void show_weight(struct out *o, const char *name, const struct config_vm *c)
{
	out_u64(o, name, c->weight);
}

static bool read_cap(struct config_vm *c, const char *v, struct hv_error *err)
{
	return small(v, 0, 100, &c->cap, err);
}

static void show_cap(struct out *o, const char *name, const struct config_vm *c)
{
	out_u64(o, name, c->cap);
}

static const struct setting settings[] = {
	{ "vcpus", false, read_vcpus, show_vcpus },
	{ "memory-mib", false, read_memory, show_memory },
	{ "cpus", true, read_cpus, show_cpus },
	{ "kernel", true, read_kernel, show_kernel },
	{ "initrd", true, read_initrd, show_initrd },
	{ "bootargs", true, read_cmdline, show_cmdline },
	{ "on-reboot", true, read_on_reboot, show_on_reboot },
	{ "on-crash", true, read_on_crash, show_on_crash },
	{ "weight", true, read_weight, show_weight },
	{ "cap", true, read_cap, show_cap },
};

/* ---- all of them -------------------------------------------------------------------- */

static const struct setting *find(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (strlen(settings[i].name) == len && !memcmp(settings[i].name, word, len))
			return &settings[i];
	return NULL;
}

const char *settings_name(unsigned index, enum settings_which which)
{
	static char name[24];

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if ((settings[i].live || which == SETTINGS_ALL) && !index--) {
			hv_snprintf(name, sizeof(name), "%s=", settings[i].name);
			return name;
		}
	return which == SETTINGS_ALL && !index ? "like=" : NULL;
}

static void refuse_name(const char *word, enum settings_which which, struct hv_error *err)
{
	char names[160];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (settings[i].live || which == SETTINGS_ALL)
			n += hv_snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
					 settings[i].name);
	hv_error_set(err, "'%s': must be SETTING=VALUE with one of %s", word, names);
}

static bool like(struct config_vm *c, const char *name, struct hv_error *err)
{
	const struct vm *other = vm_find(name);
	char own[CONFIG_NAME_LEN];

	if (!other) {
		hv_error_set(err, "like=%s: there is no such VM", name);
		return false;
	}
	memcpy(own, c->name, sizeof(own));
	*c = other->config;
	memcpy(c->name, own, sizeof(own));
	return true;
}

bool settings_apply(struct config_vm *c, unsigned count, char **words, enum settings_which which,
		    struct hv_error *err)
{
	for (unsigned i = 0; i < count; i++) {
		const struct setting *s;
		size_t len = 0;

		while (words[i][len] && words[i][len] != '=')
			len++;
		if (which == SETTINGS_ALL && len == 4 && !memcmp(words[i], "like=", 5)) {
			if (!like(c, words[i] + 5, err))
				return false;
			continue;
		}
		s = words[i][len] ? find(words[i], len) : NULL;
		if (!s) {
			refuse_name(words[i], which, err);
			return false;
		}
		if (which == SETTINGS_LIVE && !s->live) {
			hv_error_set(err, "%s is fixed while the VM exists: vm destroy, then vm create",
				     s->name);
			return false;
		}
		if (!s->read(c, words[i] + len + 1, err))
			return false;
	}
	return true;
}

bool settings_has_cpu(const struct config_vm *c)
{
	return !c->cpu_mask || c->cpu_mask & (cpu_count < 64 ? BIT64(cpu_count) - 1 : ~0ULL);
}

bool settings_check(const struct config_vm *c, struct hv_error *err)
{
	if (!c->kernel[0]) {
		hv_error_set(err, "kernel= is needed: mem images lists what is loaded");
		return false;
	}
	if (!vm_load_has(c->kernel) || (c->initrd[0] && !vm_load_has(c->initrd))) {
		hv_error_set(err, "'%s' is not loaded: mem images lists what is",
			     vm_load_has(c->kernel) ? c->initrd : c->kernel);
		return false;
	}
	return true;
}

void settings_show(struct out *o, const struct config_vm *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		settings[i].show(o, settings[i].name, c);
}
