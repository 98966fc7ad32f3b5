/* SPDX-License-Identifier: BSD-2-Clause */
/* editor: the configuration console, before any VM starts. */
#include "boot/editor.h"

#include <libfdt.h>

#include "boot/edit.h"
#include "boot/efi_con.h"
#include "boot/efi_file.h"
#include "hv/monitor/words.h"

#define LINE_SIZE WORDS_TEXT

bool editor_wanted(uint32_t seconds)
{
	for (uint32_t left = seconds; left; left--) {
		efi_con_printf("\rboot: VMs start in %u s, any key configures ", left);
		if (efi_con_key(1000) >= 0) {
			efi_con_printf("\n");
			return true;
		}
	}
	if (seconds)
		efi_con_printf("\r%48s\r", "");
	return false;
}

/* Backspace and Ctrl-U edit; that works on every console there is. */
static void read_line(char *line)
{
	unsigned state = 0;
	size_t n = 0;
	int c;

	while ((c = efi_con_key(1000)) != '\r' && c != '\n') {
		if (!edit_key(&state, c))
			continue;
		if ((c == '\b' || c == 0x7f) && n) {
			n--;
			efi_con_printf("\b \b");
		} else if (c == 0x15) {
			for (; n; n--)
				efi_con_printf("\b \b");
		} else if (c >= ' ' && c < 0x7f) {
			if (n == LINE_SIZE - 1)
				c = '\a';
			else
				line[n++] = (char)c;
			efi_con_printf("%c", c);
		}
	}
	line[n] = 0;
	efi_con_printf("\n");
}

static void say(const char *text)
{
	efi_con_write(text);
	efi_con_write("\n");
}

static void help(void)
{
	say("show [NODE]                    the configuration, or a part of it");
	say("set NODE PROPERTY [VALUE]...   no value: a flag; numbers; or words");
	say("unset NODE PROPERTY            back to its default");
	say("add VM, remove VM              a NODE is /, console, control, or a VM's name");
	say("files [FOLDER]                 what is on this volume");
	say("check                          what would not work");
	say("reload                         forgets the changes");
	say("save                           keeps them for the next boot");
	say("boot                           starts the VMs");
}

/* ---- commands ----------------------------------------------------------------------- */

static void say_line(void *ctx, const char *text)
{
	(void)ctx;
	say(text);
}

static const struct edit_reader reader = { say_line, NULL };

static void refuse(const struct hv_error *err)
{
	efi_con_printf("error: %s\n", err->text);
}

static void list(const char *name, uint64_t size, bool folder)
{
	if (folder)
		efi_con_printf("%12s  %s/\n", "", name);
	else
		efi_con_printf("%12llu  %s\n", (unsigned long long)size, name);
}

static void save(const struct editor *e)
{
	enum hv_status st;

	if (fdt_pack(e->tree)) {
		say("error: the tree cannot be packed");
		return;
	}
	st = efi_file_save(e->path, e->tree, fdt_totalsize(e->tree));
	/* With its room again. */
	if (fdt_open_into(e->tree, e->tree, (int)e->size) || st)
		efi_con_printf("error: %s is not saved (%s); what was there stays\n", e->path,
			       hv_status_name(st));
	else
		efi_con_printf("saved to %s\n", e->path);
}

static bool changes(const struct editor *e, const struct words *w, struct hv_error *err)
{
	const char *c = w->word[0];

	if (!strcmp(c, "set") && w->count >= 3)
		return edit_set(e->tree, w->word[1], w->word[2], w->count - 3, w->word + 3, err);
	if (!strcmp(c, "unset") && w->count == 3)
		return edit_unset(e->tree, w->word[1], w->word[2], err);
	if (!strcmp(c, "add") && w->count == 2)
		return edit_add(e->tree, w->word[1], err);
	if (!strcmp(c, "remove") && w->count == 2)
		return edit_remove(e->tree, w->word[1], err);
	hv_error_set(err, "'%s' is no command, or lacks something: help lists them", c);
	return false;
}

/* False: boot. */
static bool obey(const struct editor *e, const struct words *w)
{
	const char *c = w->word[0];
	struct hv_error err;
	enum hv_status st;

	if (!strcmp(c, "boot"))
		return false;
	if (!strcmp(c, "help")) {
		help();
	} else if (!strcmp(c, "show")) {
		if (!edit_show(e->tree, w->count > 1 ? w->word[1] : NULL, &reader))
			say("error: there is no such node");
	} else if (!strcmp(c, "files")) {
		st = efi_file_list(w->count > 1 ? w->word[1] : "/", list);
		if (st)
			efi_con_printf("error: %s\n", hv_status_name(st));
	} else if (!strcmp(c, "check")) {
		efi_con_printf("%u VMs would start\n", e->check(e->ctx));
	} else if (!strcmp(c, "reload")) {
		e->reload(e->ctx);
	} else if (!strcmp(c, "save")) {
		save(e);
	} else if (changes(e, w, &err)) {
		e->check(e->ctx);
	} else {
		refuse(&err);
	}
	return true;
}

void editor_run(const struct editor *e)
{
	char line[LINE_SIZE];
	struct words w;

	say("Configuration: help lists the commands, boot starts the VMs.");
	do {
		efi_con_printf("config> ");
		read_line(line);
		if (words_split(&w, line)) {
			say("error: too many words, or a quote is not closed");
			w.count = 0;
		}
	} while (!w.count || obey(e, &w));
	efi_con_printf("%u VMs start\n", e->check(e->ctx));
}
