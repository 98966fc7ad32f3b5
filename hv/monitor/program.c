/* SPDX-License-Identifier: BSD-2-Clause */
/* program: the second serial line, where programs ask. */
#include "hv/monitor/program.h"

#include "hv/lock.h"
#include "hv/log.h"
#include "hv/monitor/json.h"
#include "hv/monitor/session.h"
#include "hv/serial.h"

#define REQUEST_MAX 1024
#define EVENTS	    32
#define ID_MAX	    64
#define EVENT_ROOM  2048 /* for an event's object, with every byte escaped */

struct event {
	char what[24], vm[CONFIG_NAME_LEN], text[160];
};
_Static_assert(6 * sizeof(struct event) + 100 < EVENT_ROOM, "an event fits");

static struct serial line;
static struct lock event_lock;
static struct event events[EVENTS];
static uint32_t event_head, event_tail, event_lost;

static char request[REQUEST_MAX + 1];
static size_t request_len;
static bool too_long, busy;
static uint64_t reply_at, lost_before; /* where the reply's object begins; tx_lost there */

static void put_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		serial_put(&line, (uint8_t)s[i]);
}

/* An answer is one object and its newline; the newline is ours to send, after the rest. */
static void put_answer(void *ctx, const char *s, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		if (s[i] != '\n')
			put_text(&s[i], 1);
}

static struct session session = { .put = put_answer, .format = OUT_JSON };

void program_init(const struct config_console *c)
{
	enum hv_status st = serial_init(&line, c);

	if (st)
		log_info("control: no serial port at %llx (%s): the console is all there is",
			 (unsigned long long)c->base, hv_status_name(st));
	else if (line.present)
		log_info("control: programs are served at %llx", (unsigned long long)c->base);
}

void program_use_interrupt(void)
{
	serial_use_interrupt(&line);
}

void program_rx_interrupt(void)
{
	serial_take(&line);
}

/* ---- events ----------------------------------------------------------------------- */

void program_event(const char *what, const char *vm, const char *text)
{
	struct event *e;

	lock(&event_lock);
	if (event_head - event_tail == EVENTS) {
		event_tail++;
		event_lost++;
	}
	e = &events[event_head++ % EVENTS];
	hv_snprintf(e->what, sizeof(e->what), "%s", what);
	hv_snprintf(e->vm, sizeof(e->vm), "%s", vm);
	hv_snprintf(e->text, sizeof(e->text), "%s", text);
	unlock(&event_lock);
}

static bool next_event(struct event *e, uint32_t *lost)
{
	bool any;

	lock(&event_lock);
	any = event_tail != event_head;
	if (any)
		*e = events[event_tail++ % EVENTS];
	*lost = event_lost;
	event_lost = 0;
	unlock(&event_lock);
	return any;
}

static void send_events(void)
{
	struct event e;
	uint32_t lost;
	struct out o;

	while (SERIAL_TX - (line.tx_head - line.tx_tail) >= EVENT_ROOM && next_event(&e, &lost)) {
		out_begin(&o, put_answer, NULL, OUT_JSON);
		out_str(&o, "event", "%s", e.what);
		out_str(&o, "vm", "%s", e.vm);
		out_str(&o, "text", "%s", e.text);
		if (lost)
			out_u64(&o, "lost_before", lost);
		out_end(&o);
		put_text("\n", 1);
	}
}

/* ---- requests ----------------------------------------------------------------------- */

static void begin_reply(const char *id, size_t len)
{
	put_text("{\"id\":", 6);
	put_text(id, len);
	put_text(",\"reply\":", 9);
	reply_at = line.tx_head;
	lost_before = line.tx_lost;
}

/* Half an object would be none: the line's buffer has no room for this reply. */
static void take_back(void)
{
	struct out o;

	line.tx_head = reply_at;
	out_begin(&o, put_answer, NULL, OUT_JSON);
	out_refuse(&o, "the answer is too long for the line: console read gives a screen in pieces");
	out_end(&o);
}

static void end_reply(void)
{
	if (line.tx_lost != lost_before && line.tx_tail <= reply_at)
		take_back();
	put_text("}\n", 2);
	busy = false;
}

static void refuse(const char *id, size_t len, const char *why, unsigned long long at)
{
	struct out o;

	begin_reply(id, len);
	out_begin(&o, put_answer, NULL, OUT_JSON);
	out_refuse(&o, why, at);
	out_end(&o);
	end_reply();
}

static void answer(void)
{
	struct json_value id = { .type = JSON_NULL, .text = "null", .len = 4 }, command;
	char text[sizeof(session.words.text)];
	enum hv_status st;
	size_t at = 0;

	st = json_check(request, request_len, &at);
	if (st) {
		refuse(id.text, id.len, st == HV_RANGE ? "nested too deep, at byte %llu" :
							 "no JSON object: wrong at byte %llu", at);
		return;
	}
	if (json_member(request, request_len, "id", &id) &&
	    (id.len > ID_MAX || (id.type != JSON_NUMBER && id.type != JSON_STRING))) {
		refuse("null", 4, "\"id\" must be a number or a string of at most %llu bytes", ID_MAX);
		return;
	}
	if (!json_member(request, request_len, "command", &command) || command.type != JSON_STRING ||
	    json_string(&command, text, sizeof(text))) {
		refuse(id.text, id.len, "\"command\" must be a string of at most %llu bytes",
		       sizeof(text) - 1);
		return;
	}
	begin_reply(id.text, id.len);
	busy = true;
	if (session_run(&session, text))
		end_reply();
}

static void take(uint8_t c)
{
	if (c != '\n') {
		if (request_len < REQUEST_MAX)
			request[request_len++] = (char)c;
		else
			too_long = true;
		return;
	}
	if (too_long)
		refuse("null", 4, "a request has at most %llu bytes", REQUEST_MAX);
	else if (request_len && !(request_len == 1 && request[0] == '\r'))
		answer();
	request_len = 0;
	too_long = false;
}

/* No request can have been understood that was on the line then. */
static void report_overruns(void)
{
	if (!line.uart.overruns)
		return;
	refuse("null", 4, "requests came too fast and were lost %llu times", line.uart.overruns);
	line.uart.overruns = 0;
}

/*
 * A request is looked at when all that was said before has gone out: whoever does
 * not read is not served, and so a reply finds all of the line's buffer free.
 */
static bool may_serve(void)
{
	return !busy && line.tx_head == line.tx_tail;
}

void program_poll(void)
{
	uint8_t c;

	if (!line.present)
		return;
	serial_take(&line);
	if (busy && session_poll(&session))
		end_reply();
	if (may_serve())
		report_overruns();
	for (; may_serve() && serial_peek(&line, &c); serial_skip(&line))
		take(c);
	if (!busy)
		send_events();
	serial_drain(&line);
}

bool program_busy(void)
{
	return busy || serial_busy(&line);
}
