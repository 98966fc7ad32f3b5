/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor: the person at the console. */
#include "hv/monitor/monitor.h"

#include "hv/console.h"
#include "hv/monitor/line.h"
#include "hv/monitor/pager.h"
#include "hv/monitor/program.h"
#include "hv/monitor/session.h"
#include "mm/frame.h"

#define PROMPT "faultline> "
#define WIDTH  80
#define HEIGHT 24
#define CTRL_C 3
#define HELD_ORDER 6 /* 256 KiB: a VM's screen, and the escapes that it takes to show it */

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
static struct pager pager = { .put = put, .height = HEIGHT, .width = WIDTH };
static void put_answer(void *ctx, const char *s, size_t n);
static struct session person = { .put = put_answer, .format = OUT_TEXT };
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

/* ---- answers, by the page ------------------------------------------------------------ */

static void put_answer(void *ctx, const char *s, size_t n)
{
	if (person.redraws)
		put(ctx, s, n);
	else
		pager_write(&pager, s, n);
}

static void begin_answer(void)
{
	char *held = pager.height ? hv_pages_alloc(HELD_ORDER) : NULL;

	pager_begin(&pager, held, PAGE_SIZE << HELD_ORDER);
}

static void prompt(void)
{
	if (pager.held)
		hv_pages_free(pager.held, HELD_ORDER);
	pager_begin(&pager, NULL, 0);
	line_begin(&line, PROMPT);
}

static void finish(void)
{
	busy = false;
	if (pager_waits(&pager))
		pager_show(&pager);
	else
		prompt();
}

static void page(struct session *s)
{
	uint64_t lines = 0;

	if (s != &person) {
		out_refuse(&s->out, "only answers at the console are shown by the page");
		return;
	}
	if (s->argc > 1 || (s->argc && strcmp(s->argv[0], "off") && words_number(s->argv[0], 3, 1000, &lines))) {
		out_refuse(&s->out, "the screen's height is needed, 3 to 1000 lines, or off");
		return;
	}
	if (s->argc)
		pager.height = (unsigned)lines;
	if (pager.height)
		out_done(&s->out, "answers stop after a page of %u lines", pager.height);
	else
		out_done(&s->out, "answers do not stop");
}

const struct command monitor_commands[] = {
	{ "page", "[LINES|off]", "how high the screen is where long answers stop", "page 50", page, NO_VM, 1 },
	{ 0 },
};

/* ---- keys ------------------------------------------------------------------------------ */

static void line_of(uint8_t c)
{
	switch (line_key(&line, c)) {
	case LINE_DONE:
		line_remember(&line, line.text);
		if (line.text[0]) {
			begin_answer();
			busy = !session_run(&person, line.text);
		}
		if (!busy)
			finish();
		break;
	case LINE_CANCEL:
	case LINE_END:
		prompt();
		break;
	case LINE_NONE:
		break;
	}
}

static void key(uint8_t c)
{
	enum pager_key k = PAGER_OTHER;

	if (pager_waits(&pager)) {
		k = pager_key(&pager, c);
		if (k != PAGER_MORE)
			prompt();
	}
	if (k == PAGER_OTHER)
		line_of(c);
}

void monitor_poll(void)
{
	uint8_t c;

	system_poll_end();
	program_poll();
	if (busy && console_monitor_skip_to(CTRL_C))
		session_cancel(&person);
	if (busy && person.drawn && console_monitor_read(&c)) {
		session_cancel(&person);
		session_poll(&person);
		finish();
		if (c != 'q')
			key(c);
	}
	if (busy && session_poll(&person))
		finish();
	/* What is typed ahead of a command that waits is for the next prompt. */
	while (!busy && console_monitor_read(&c))
		key(c);
	if (!console_monitor_disturbed() || busy)
		return;
	if (pager_waits(&pager))
		pager_show(&pager);
	else
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
