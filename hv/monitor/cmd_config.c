/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd_config: the configuration as it is now. */
#include "hv/config_live.h"
#include "hv/monitor/session.h"

static void line(void *ctx, const char *text)
{
	out_line(ctx, "%s", text);
}

static void show(struct session *s)
{
	struct hv_error err;
	bool shown;

	out_lines(&s->out, "dts");
	shown = config_live_show(line, &s->out, &err);
	out_lines_end(&s->out);
	if (!shown)
		out_refuse(&s->out, "%s", err.text);
}

static void save(struct session *s)
{
	struct hv_error err;

	if (config_live_save(&err))
		out_done(&s->out, "saved: the next boot writes %s", config_live_path());
	else
		out_refuse(&s->out, "%s", err.text);
}

const struct command config_commands[] = {
	{ "config show", "", "the configuration as it is now, as a device tree source", "config show", show,
	  NO_VM, 0 },
	{ "config save", "", "keeps the configuration as it is now for the next boot", "config save", save,
	  NO_VM, 0 },
	{ 0 },
};
