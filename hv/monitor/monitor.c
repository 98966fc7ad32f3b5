/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor: the person at the console. */
#include "hv/monitor/monitor.h"

#include "hv/console.h"
#include "hv/monitor/line.h"
#include "hv/monitor/program.h"
#include "hv/monitor/session.h"

#define PROMPT "faultline> "
#define WIDTH  80
#define CTRL_C 3

static void put(void *ctx, const char *s, size_t n)
{
	(void)ctx;
	console_monitor_write(s, n);
}

static const char *complete(void *ctx, const char *text, size_t len, unsigned index)
{
	(void)ctx;
	return session_complete(text, len, index);
}

static const struct line_env line_env = { NULL, put, complete };
static struct session person = { .put = put, .format = OUT_TEXT };
static struct line line;
static bool busy; /* a command waits */

void monitor_init(const struct config_console *control)
{
	line_init(&line, &line_env, WIDTH);
	line_begin(&line, PROMPT);
	program_init(control);
}

void monitor_use_interrupt(void)
{
	program_use_interrupt();
}

void monitor_rx_interrupt(void)
{
	program_rx_interrupt();
}

static void finish(void)
{
	busy = false;
	line_begin(&line, PROMPT);
}

static void key(uint8_t c)
{
	switch (line_key(&line, c)) {
	case LINE_DONE:
		line_remember(&line, line.text);
		busy = line.text[0] && !session_run(&person, line.text);
		if (!busy)
			finish();
		break;
	case LINE_CANCEL:
	case LINE_END:
		finish();
		break;
	case LINE_NONE:
		break;
	}
}

void monitor_poll(void)
{
	uint8_t c;

	system_poll_end();
	program_poll();
	if (busy && console_monitor_skip_to(CTRL_C))
		session_cancel(&person);
	if (busy && session_poll(&person))
		finish();
	/* What is typed ahead of a command that waits is for the next prompt. */
	while (!busy && console_monitor_read(&c))
		key(c);
	if (console_monitor_disturbed() && !busy)
		line_show(&line);
}

bool monitor_busy(void)
{
	return busy || program_busy();
}

void monitor_event(const char *what, const char *vm, const char *text)
{
	program_event(what, vm, text);
}
