/* SPDX-License-Identifier: BSD-2-Clause */
/* session: finds commands and runs them. */
#include "hv/monitor/session.h"

#include "hv/monitor/settings.h"
#include "hv/time.h"
#include "mm/frame.h"

static void help(struct session *s);

static const struct command own_commands[] = {
	{ "help", "[COMMAND]", "lists the commands, or tells of one", "help vm stop", help, NO_VM, WORDS_MAX },
	{ 0 },
};

static const struct command *const tables[] = {
	own_commands, vm_commands, memory_commands, look_commands, irq_commands,
	config_commands, system_commands, top_commands, monitor_commands,
};

/* ---- finding ---------------------------------------------------------------------- */

/* Whether @name's words are the first ones of @argv; how many those are. */
static unsigned matches(const char *name, unsigned argc, char **argv)
{
	unsigned words = 0;

	while (*name) {
		const char *end = name;

		while (*end && *end != ' ')
			end++;
		if (words == argc || strlen(argv[words]) != (size_t)(end - name) ||
		    memcmp(argv[words], name, (size_t)(end - name)))
			return 0;
		words++;
		name = *end ? end + 1 : end;
	}
	return words;
}

static const struct command *find(unsigned argc, char **argv, unsigned *words)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct command *c = tables[t]; c->name; c++) {
			*words = matches(c->name, argc, argv);
			if (*words)
				return c;
		}
	return NULL;
}

static void help(struct session *s)
{
	static const struct out_column columns[] = { { "command", 42 }, { "help", 40 } };
	unsigned words;

	if (s->argc) {
		const struct command *c = find(s->argc, s->argv, &words);

		if (!c) {
			out_refuse(&s->out, "there is no such command: help lists them");
			return;
		}
		out_str(&s->out, "command", "%s %s", c->name, c->args);
		out_str(&s->out, "help", "%s", c->help);
		out_str(&s->out, "example", "%s", c->example);
		return;
	}
	out_table(&s->out, "commands", columns, ARRAY_SIZE(columns));
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct command *c = tables[t]; c->name; c++) {
			out_row(&s->out);
			out_str(&s->out, "command", "%s %s", c->name, c->args);
			out_str(&s->out, "help", "%s", c->help);
			out_row_end(&s->out);
		}
	out_table_end(&s->out);
	out_remark(&s->out, "--json anywhere in a command makes the answer JSON");
}

/* ---- running ---------------------------------------------------------------------- */

static bool take_json(struct words *w)
{
	unsigned kept = 0;
	bool json = false;

	for (unsigned i = 0; i < w->count; i++)
		if (!strcmp(w->word[i], "--json"))
			json = true;
		else
			w->word[kept++] = w->word[i];
	w->count = kept;
	return json;
}

static void list_names(char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (unsigned i = 0; i < CONFIG_MAX_VMS && n < size; i++)
		if (vms[i])
			n += hv_snprintf(buf + n, size - n, "%s%s", n ? ", " : "", vms[i]->config.name);
}

/* The VM that the first word names; false after a refusal that lists those there are. */
static bool find_vm(struct session *s)
{
	char names[CONFIG_MAX_VMS * (CONFIG_NAME_LEN + 2)];

	s->vm = s->argc ? vm_find(s->argv[0]) : NULL;
	if (s->vm) {
		hv_snprintf(s->vm_name, sizeof(s->vm_name), "%s", s->vm->config.name);
		return true;
	}
	list_names(names, sizeof(names));
	if (!s->argc)
		out_refuse(&s->out, "which VM? there are: %s", names[0] ? names : "none");
	else
		out_refuse(&s->out, "there is no VM '%s': there are: %s", s->argv[0], names[0] ? names : "none");
	return false;
}

static void run(struct session *s, const struct command *c)
{
	s->vm = NULL;
	if ((c->of == OF_VM || (c->of == OF_VM_IF_NAMED && s->argc)) && !find_vm(s))
		return;
	if (s->argc > c->most)
		out_refuse(&s->out, "'%s' is too much: %s %s", s->argv[c->most], c->name, c->args);
	else
		c->run(s);
}

static void dispatch(struct session *s)
{
	struct words *w = &s->words;
	const struct command *c;
	unsigned words;

	if (!w->count) {
		out_refuse(&s->out, "no command: help lists them");
		return;
	}
	c = find(w->count, w->word, &words);
	s->argc = w->count - words;
	s->argv = w->word + words;
	if (c)
		run(s, c);
	else
		out_refuse(&s->out, "there is no command '%s%s%s': help lists them", w->word[0],
			   w->count > 1 ? " " : "", w->count > 1 ? w->word[1] : "");
}

bool session_run(struct session *s, const char *line)
{
	enum hv_status st = words_split(&s->words, line);
	bool json = !st && take_json(&s->words);

	s->wait = NULL;
	s->no_cancel = s->redraws = s->drawn = false;
	out_begin(&s->out, s->put, s->ctx, json ? OUT_JSON : s->format);
	if (st)
		out_refuse(&s->out, st == HV_RANGE ? "the line is too long: at most %u bytes, %u words" :
						     "a quote is not closed, or a byte is not text",
			   (unsigned)sizeof(s->words.text) - 1, WORDS_MAX);
	else
		dispatch(s);
	return session_poll(s);
}

bool session_poll(struct session *s)
{
	if (s->wait && !s->wait(s))
		return false;
	s->wait = NULL;
	if (s->memory)
		hv_pages_free(s->memory, s->memory_order);
	s->memory = NULL;
	out_end(&s->out);
	return true;
}

void session_cancel(struct session *s)
{
	if (s->no_cancel)
		return;
	if (!s->redraws)
		out_refuse(&s->out, "not waited for any longer; what was asked for goes on");
	s->wait = NULL;
}

struct vm *session_vm(const struct session *s)
{
	struct vm *vm = vm_find(s->vm_name);

	return vm == s->vm ? vm : NULL;
}

/* ---- completion ----------------------------------------------------------------------- */

/* The word of the command's name that follows @text, or NULL. */
static const char *next_word(const char *name, const char *text, size_t len)
{
	static char word[24];
	size_t i = 0, n = 0;

	/* All words before the last must be the name's. */
	for (size_t k = 0; k < len; k++)
		if (text[k] == ' ')
			i = k + 1;
	if (strlen(name) < i || memcmp(name, text, i))
		return NULL;
	for (; name[i + n] && name[i + n] != ' ' && n < sizeof(word) - 1; n++)
		word[n] = name[i + n];
	word[n] = 0;
	return n ? word : NULL;
}

static bool has_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == ' ')
			return true;
	return false;
}

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(text, with, strlen(with));
}

/* What goes on from @text once the command is there: a VM's name, then its settings. */
static const char *argument(const char *text, size_t len, unsigned index)
{
	bool create = begins(text, len, "vm create ");

	if ((create || begins(text, len, "vm set ")) &&
	    has_blank(text + (create ? 10 : 7), len - (create ? 10 : 7)))
		return settings_name(index, create ? SETTINGS_ALL : SETTINGS_LIVE);
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (vms[i] && has_blank(text, len) && !index--)
			return vms[i]->config.name;
	return NULL;
}

const char *session_complete(const char *text, size_t len, unsigned index)
{
	char last[24] = "";

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct command *c = tables[t]; c->name; c++) {
			const char *word = next_word(c->name, text, len);

			/* "vm" once for all that begin so: they stand together. */
			if (!word || !strcmp(word, last))
				continue;
			hv_snprintf(last, sizeof(last), "%s", word);
			if (!index--)
				return word;
		}
	return argument(text, len, index);
}
