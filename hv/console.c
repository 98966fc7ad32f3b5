/* SPDX-License-Identifier: BSD-2-Clause */
/* console: the one serial line for people, shared by log, monitor and VMs. */
#include "hv/console.h"

#include "hv/fmt.h"
#include "hv/lock.h"
#include "hv/monitor/mux.h"
#include "hv/serial.h"
#include "hv/time.h"
#include "mm/frame.h"

#define GUEST_ORDER 4 /* pages of a VM's screen: 64 KiB */
#define GUEST_SIZE  (PAGE_SIZE << GUEST_ORDER)
#define LOG_SIZE    (64 * KIB)
#define MONITOR_SIZE (16 * KIB)
#define QUEUE	    4096
#define SHOW_LINES  24
#define SHOW_MAX    4096
#define FLUSH_MS    2000
#define STALL_NS    2000000000ULL /* so long may a guest leave its input lying */

/* Typed, and not taken yet.  The head is under the lock, the tail is the boot CPU's. */
struct queue {
	uint32_t head, tail, lost;
	uint8_t byte[QUEUE];
};

struct guest_console {
	bool attached;
	char name[CONFIG_NAME_LEN];
	struct queue in;
};

static struct lock console_lock;
static struct serial line;
static struct mux mux;
static struct guest_console guest[CONFIG_MAX_VMS];
static struct queue monitor_in;
static uint8_t log_ring[LOG_SIZE], monitor_ring[MONITOR_SIZE];
static struct screen screens[CONSOLE_SCREENS] = {
	[CONSOLE_LOG] = { log_ring, LOG_SIZE, 0 },
	[CONSOLE_MONITOR] = { monitor_ring, MONITOR_SIZE, 0 },
};
static unsigned focus = CONSOLE_LOG, focus_before = CONSOLE_MONITOR;
static bool at_line_start = true, disturbed;
static uint64_t moved_ns; /* when a byte of input last found its way */

enum hv_status console_init(const struct config_console *c)
{
	mux.escape = c->escape;
	return serial_init(&line, c);
}

/* ---- output ---------------------------------------------------------------------- */

static void tx_put(uint8_t c)
{
	serial_put(&line, c);
	at_line_start = c == '\n' || (at_line_start && c == '\r');
}

/* Text of our own: begins on a fresh line, newlines get their carriage return. */
static void tx_text(const char *s, size_t n)
{
	if (!at_line_start) {
		tx_put('\r');
		tx_put('\n');
	}
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			tx_put('\r');
		tx_put((uint8_t)s[i]);
	}
	disturbed = true;
}

static void tx_printf(const char *f, ...) __printf(1, 2);
static void tx_printf(const char *f, ...)
{
	char text[200];
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = hv_vsnprintf(text, sizeof(text), f, ap);
	va_end(ap);
	tx_text(text, n < sizeof(text) ? n : sizeof(text) - 1);
}

void console_log_write(const char *s, size_t n, bool show)
{
	lock(&console_lock);
	for (size_t i = 0; i < n; i++)
		screen_put(&screens[CONSOLE_LOG], (uint8_t)s[i]);
	if (show) {
		tx_text(s, n);
		serial_drain(&line);
	}
	unlock(&console_lock);
}

void console_panic_write(const char *s)
{
	if (line.present)
		uart16550_write_text(&line.uart, s);
}

static void write_screen(unsigned s, uint8_t c)
{
	screen_put(&screens[s], c);
	if (focus == s)
		tx_put(c);
}

void console_guest_put(unsigned index, uint8_t c)
{
	lock(&console_lock);
	write_screen(index, c);
	serial_drain(&line);
	unlock(&console_lock);
}

void console_monitor_write(const char *s, size_t n)
{
	static char before;

	lock(&console_lock);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n' && before != '\r')
			write_screen(CONSOLE_MONITOR, '\r');
		write_screen(CONSOLE_MONITOR, (uint8_t)s[i]);
		before = s[i];
	}
	serial_drain(&line);
	unlock(&console_lock);
}

size_t console_copy(unsigned s, uint64_t *at, char *buf, size_t size)
{
	const struct screen *screen = &screens[s];
	size_t n = 0;

	lock(&console_lock);
	/* What lies beyond the end was on a screen that has gone. */
	if (*at > screen->len || screen->len - *at > screen->size)
		*at = screen->len - min_u64(screen->len, screen->size);
	for (; n < size && *at < screen->len; n++)
		buf[n] = (char)screen_at(screen, (*at)++);
	unlock(&console_lock);
	return n;
}

/* ---- focus ------------------------------------------------------------------------- */

static bool can_have_focus(unsigned s)
{
	return s < CONSOLE_SCREENS && (s >= CONSOLE_LOG || guest[s].attached);
}

static void announce(unsigned s)
{
	unsigned n = 0, place = 0;

	if (s == CONSOLE_LOG) {
		tx_printf("-- console: hypervisor log, Ctrl-%c ? for help --\n", mux.escape + 64);
		return;
	}
	if (s == CONSOLE_MONITOR) {
		tx_printf("-- console: monitor, Ctrl-%c ? for help --\n", mux.escape + 64);
		return;
	}
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		n += guest[i].attached;
		place += guest[i].attached && i <= s;
	}
	tx_printf("-- console: vm '%s' (%u of %u), Ctrl-%c ? for help --\n", guest[s].name, place, n,
		  mux.escape + 64);
}

static void set_focus(unsigned s)
{
	const struct screen *screen = &screens[s];

	if (s != focus)
		focus_before = focus;
	focus = s;
	announce(s);
	/* The monitor shows its prompt itself. */
	if (s == CONSOLE_MONITOR || !screen->ring)
		return;
	for (uint64_t at = screen_tail(screen, SHOW_LINES, SHOW_MAX); at < screen->len; at++) {
		if (s == CONSOLE_LOG && screen_at(screen, at) == '\n')
			tx_put('\r');
		tx_put(screen_at(screen, at));
	}
}

/* VMs, then the monitor; the log only by its own key. */
static unsigned next_focus(unsigned from)
{
	for (unsigned i = 1; i <= CONSOLE_SCREENS; i++) {
		unsigned s = (from + i) % CONSOLE_SCREENS;

		if (s != CONSOLE_LOG && can_have_focus(s))
			return s;
	}
	return CONSOLE_MONITOR;
}

/* Whoever sits at the line cares for the VMs that are left. */
static unsigned vm_left(unsigned from)
{
	for (unsigned i = 1; i <= CONFIG_MAX_VMS; i++)
		if (guest[(from + i) % CONFIG_MAX_VMS].attached)
			return (from + i) % CONFIG_MAX_VMS;
	return CONSOLE_MONITOR;
}

void console_focus(unsigned s)
{
	lock(&console_lock);
	if (can_have_focus(s))
		set_focus(s);
	serial_drain(&line);
	unlock(&console_lock);
}

void console_attach(unsigned index, const char *name)
{
	uint8_t *ring = screens[index].ring ? NULL : hv_pages_alloc(GUEST_ORDER);

	lock(&console_lock);
	if (ring)
		screens[index] = (struct screen){ ring, GUEST_SIZE, 0 };
	guest[index].attached = true;
	guest[index].in.tail = guest[index].in.head;
	hv_snprintf(guest[index].name, sizeof(guest[index].name), "%s", name);
	if (focus == CONSOLE_LOG)
		set_focus(index);
	unlock(&console_lock);
}

void console_detach(unsigned index)
{
	lock(&console_lock);
	guest[index].attached = false;
	if (focus == index) {
		set_focus(vm_left(index));
		serial_drain(&line);
	}
	unlock(&console_lock);
}

void console_forget(unsigned index)
{
	uint8_t *ring;

	console_detach(index);
	lock(&console_lock);
	ring = screens[index].ring;
	screens[index] = (struct screen){ 0 };
	unlock(&console_lock);
	if (ring)
		hv_pages_free(ring, GUEST_ORDER);
}

/* ---- input ------------------------------------------------------------------------- */

static struct queue *queue_of(unsigned s)
{
	if (s == CONSOLE_MONITOR)
		return &monitor_in;
	return s < CONFIG_MAX_VMS ? &guest[s].in : NULL;
}

static bool is_full(const struct queue *q)
{
	return q && q->head - READ_ONCE(q->tail) == QUEUE;
}

static void queue_put(struct queue *q, uint8_t c)
{
	if (!q)
		return;
	if (is_full(q))
		q->lost++;
	else
		q->byte[q->head++ % QUEUE] = c;
}

static void choose(unsigned number)
{
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (guest[i].attached && !--number) {
			set_focus(i);
			return;
		}
	tx_printf("-- console: there is no such VM --\n");
}

static void help(void)
{
	char e = (char)(mux.escape + 64);

	tx_printf("-- console: Ctrl-%c then: n next, 1-9 that VM, b back, m monitor, l log, ? this, Ctrl-%c itself --\n",
		  e, e);
}

static void input(uint8_t c)
{
	struct mux_key k = mux_input(&mux, c);

	switch (k.what) {
	case MUX_NOTHING:
		break;
	case MUX_BYTE:
		queue_put(queue_of(focus), k.byte);
		break;
	case MUX_NEXT:
		set_focus(next_focus(focus));
		break;
	case MUX_BACK:
		set_focus(can_have_focus(focus_before) ? focus_before : next_focus(focus));
		break;
	case MUX_CHOOSE:
		choose(k.number);
		break;
	case MUX_MONITOR:
		set_focus(CONSOLE_MONITOR);
		break;
	case MUX_LOG:
		set_focus(CONSOLE_LOG);
		break;
	case MUX_HELP:
	case MUX_UNKNOWN:
		help();
		break;
	}
}

/* False: whoever it is for has no room yet, and a sender with flow control can wait. */
static bool may_take(uint8_t c)
{
	uint64_t now = time_now_ns();

	if (mux.escaped || c == mux.escape || !is_full(queue_of(focus))) {
		moved_ns = now;
		return true;
	}
	return now - moved_ns > STALL_NS;
}

size_t console_type(unsigned index, const char *s, size_t n)
{
	struct queue *q = &guest[index].in;
	size_t i = 0;

	lock(&console_lock);
	for (; guest[index].attached && i < n && !is_full(q); i++)
		queue_put(q, (uint8_t)s[i]);
	unlock(&console_lock);
	return i;
}

void console_use_interrupt(void)
{
	serial_use_interrupt(&line);
}

void console_rx_interrupt(void)
{
	serial_take(&line);
}

static void report_losses(void)
{
	if (line.uart.overruns) {
		tx_printf("-- console: input came too fast and was lost %u times --\n",
			  line.uart.overruns);
		line.uart.overruns = 0;
	}
	if (line.tx_lost && line.tx_head == line.tx_tail) {
		tx_printf("-- console: %llu bytes did not fit the line's buffer --\n",
			  (unsigned long long)line.tx_lost);
		line.tx_lost = 0;
	}
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		if (!guest[i].in.lost)
			continue;
		tx_printf("-- console: vm '%s' did not take %u bytes of input --\n", guest[i].name,
			  guest[i].in.lost);
		guest[i].in.lost = 0;
	}
	if (monitor_in.lost) {
		tx_printf("-- console: the monitor did not take %u bytes of input --\n", monitor_in.lost);
		monitor_in.lost = 0;
	}
}

void console_poll(bool (*deliver)(unsigned index, uint8_t c))
{
	uint8_t c;

	lock(&console_lock);
	serial_take(&line); /* also where no interrupt could be routed */
	for (; serial_peek(&line, &c) && may_take(c); serial_skip(&line))
		input(c);
	report_losses();
	serial_drain(&line);
	unlock(&console_lock);
	/* The queues' tails are ours alone, so delivery needs no lock. */
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		struct queue *q = &guest[i].in;

		while (q->tail != READ_ONCE(q->head) && deliver(i, q->byte[q->tail % QUEUE]))
			WRITE_ONCE(q->tail, q->tail + 1);
	}
}

bool console_monitor_read(uint8_t *c)
{
	struct queue *q = &monitor_in;

	if (q->tail == READ_ONCE(q->head))
		return false;
	*c = q->byte[q->tail % QUEUE];
	WRITE_ONCE(q->tail, q->tail + 1);
	return true;
}

bool console_monitor_skip_to(uint8_t c)
{
	struct queue *q = &monitor_in;
	uint32_t head = READ_ONCE(q->head);

	for (uint32_t at = q->tail; at != head; at++)
		if (q->byte[at % QUEUE] == c) {
			WRITE_ONCE(q->tail, at + 1);
			return true;
		}
	return false;
}

bool console_monitor_disturbed(void)
{
	return focus == CONSOLE_MONITOR && __atomic_exchange_n(&disturbed, false, __ATOMIC_ACQ_REL);
}

bool console_busy(void)
{
	if (serial_busy(&line))
		return true;
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (READ_ONCE(guest[i].in.head) != guest[i].in.tail)
			return true;
	return false;
}

void console_flush(void)
{
	uint64_t end = time_now_ns() + FLUSH_MS * 1000000ULL;

	lock(&console_lock);
	while (line.tx_tail != line.tx_head && time_now_ns() < end)
		serial_drain(&line);
	unlock(&console_lock);
}
