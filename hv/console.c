/* SPDX-License-Identifier: BSD-2-Clause */
/* console: the one serial line, shared by the log and the VMs' consoles. */
#include "hv/console.h"

#include "drivers/uart16550.h"
#include "hv/fmt.h"
#include "hv/lock.h"
#include "hv/time.h"
#include "mm/paging.h"

#define TX_RING	   (128 * KIB)
#define LOG_RING   (64 * KIB)
#define GUEST_KEEP (4 * KIB)
#define RX_QUEUE   (64 * KIB)
#define ARRIVED	   (16 * KIB)
#define RX_BURST   256
#define NO_FOCUS   CONFIG_MAX_VMS
#define FLUSH_MS   2000

struct guest_console {
	bool attached;
	char name[CONFIG_NAME_LEN];
	uint32_t kept; /* bytes ever written while not in focus; the ring holds the last ones */
	uint8_t keep[GUEST_KEEP];
	uint32_t rx_head, rx_tail;
	uint8_t rx[RX_QUEUE / CONFIG_MAX_VMS];
	uint32_t rx_lost;
};

static struct lock console_lock;
static struct uart16550 uart;
static bool have_uart;
static uint8_t escape_key;

static uint8_t tx[TX_RING];
static uint64_t tx_head, tx_tail, tx_lost;
static bool at_line_start = true;

static char log_ring[LOG_RING];
static uint64_t log_head;

/*
 * What the interrupt took out of the UART's FIFO of 16 bytes, until the next
 * poll.  Filled and emptied on the boot CPU only, never at the same time.
 */
static uint8_t arrived[ARRIVED];
static uint32_t arrived_head, arrived_tail, arrived_lost;

static struct guest_console guest[CONFIG_MAX_VMS];
static unsigned focus = NO_FOCUS;

void console_init(const struct config_console *c)
{
	struct config_console s = *c;

	escape_key = c->escape;
	if (s.kind == CONSOLE_NONE)
		return;
	if (s.kind == CONSOLE_MMIO) {
		s.base = (uint64_t)paging_map_device(HPA(c->base), 8ULL * c->stride);
		if (!s.base)
			return;
	}
	have_uart = uart16550_init(&uart, &s) == HV_OK;
}

/* Sends what the UART takes without waiting. */
static void drain(void)
{
	unsigned room;

	if (!have_uart)
		tx_tail = tx_head;
	while (tx_tail != tx_head && (room = uart16550_tx_room(&uart)))
		for (; room && tx_tail != tx_head; room--)
			uart16550_put_nowait(&uart, tx[tx_tail++ % TX_RING]);
}

static void tx_put(uint8_t c)
{
	if (tx_head - tx_tail == TX_RING) {
		tx_lost++;
		return;
	}
	tx[tx_head++ % TX_RING] = c;
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
}

static void tx_printf(const char *f, ...) __printf(1, 2);
static void tx_printf(const char *f, ...)
{
	char line[160];
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = hv_vsnprintf(line, sizeof(line), f, ap);
	va_end(ap);
	tx_text(line, n < sizeof(line) ? n : sizeof(line) - 1);
}

void console_log_write(const char *s, size_t n, bool show)
{
	lock(&console_lock);
	for (size_t i = 0; i < n; i++)
		log_ring[log_head++ % LOG_RING] = s[i];
	if (show) {
		tx_text(s, n);
		drain();
	}
	unlock(&console_lock);
}

void console_panic_write(const char *s)
{
	if (have_uart)
		uart16550_write_text(&uart, s);
}

static void set_focus(unsigned index)
{
	struct guest_console *g;
	unsigned n = 0, place = 0;
	uint32_t len;

	focus = index;
	if (index == NO_FOCUS) {
		tx_printf("-- console: hypervisor log --\n");
		return;
	}
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		n += guest[i].attached;
		place += guest[i].attached && i <= index;
	}
	g = &guest[index];
	tx_printf("-- console: vm '%s' (%u of %u), Ctrl-%c changes --\n", g->name, place, n,
		  escape_key + 64);
	len = g->kept < GUEST_KEEP ? g->kept : GUEST_KEEP;
	for (uint32_t i = g->kept - len; i != g->kept; i++)
		tx_put(g->keep[i % GUEST_KEEP]);
	g->kept = 0;
}

static unsigned next_focus(unsigned from)
{
	for (unsigned i = 1; i <= CONFIG_MAX_VMS; i++) {
		unsigned k = (from + i) % (CONFIG_MAX_VMS + 1);

		if (k == NO_FOCUS || guest[k].attached)
			return k;
	}
	return NO_FOCUS;
}

void console_attach(unsigned index, const char *name)
{
	lock(&console_lock);
	guest[index].attached = true;
	hv_snprintf(guest[index].name, sizeof(guest[index].name), "%s", name);
	if (focus == NO_FOCUS)
		set_focus(index);
	unlock(&console_lock);
}

void console_detach(unsigned index)
{
	lock(&console_lock);
	guest[index].attached = false;
	if (focus == index) {
		/* Whoever sits at the line cares for the VMs that are left, not the log. */
		unsigned next = next_focus(index);

		set_focus(next == NO_FOCUS ? next_focus(next) : next);
		drain();
	}
	unlock(&console_lock);
}

void console_guest_put(unsigned index, uint8_t c)
{
	struct guest_console *g = &guest[index];

	lock(&console_lock);
	if (focus == index) {
		tx_put(c);
		drain();
	} else {
		g->keep[g->kept++ % GUEST_KEEP] = c;
	}
	unlock(&console_lock);
}

static void queue_input(uint8_t c)
{
	struct guest_console *g;

	if (focus == NO_FOCUS)
		return;
	g = &guest[focus];
	if (g->rx_head - g->rx_tail == sizeof(g->rx)) {
		g->rx_lost++;
		return;
	}
	g->rx[g->rx_head++ % sizeof(g->rx)] = c;
}

static void input(uint8_t c)
{
	if (c == escape_key)
		set_focus(next_focus(focus));
	else
		queue_input(c);
}

void console_use_interrupt(void)
{
	if (have_uart)
		uart16550_rx_interrupt(&uart, true);
}

void console_rx_interrupt(void)
{
	int c;

	/* Bounded: a port that has gone reads as data without end. */
	for (int i = 0; i < RX_BURST && have_uart && (c = uart16550_get(&uart)) >= 0; i++) {
		if (arrived_head - arrived_tail == ARRIVED)
			arrived_lost++;
		else
			arrived[arrived_head++ % ARRIVED] = (uint8_t)c;
	}
}

static void report_losses(void)
{
	if (arrived_lost) {
		tx_printf("-- console: %u bytes of input came too fast --\n", arrived_lost);
		arrived_lost = 0;
	}
	if (tx_lost && tx_head == tx_tail) {
		tx_printf("-- console: %llu bytes did not fit the line's buffer --\n",
			  (unsigned long long)tx_lost);
		tx_lost = 0;
	}
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		if (!guest[i].rx_lost)
			continue;
		tx_printf("-- console: vm '%s' did not take %u bytes of input --\n", guest[i].name,
			  guest[i].rx_lost);
		guest[i].rx_lost = 0;
	}
}

void console_poll(bool (*deliver)(unsigned index, uint8_t c))
{
	lock(&console_lock);
	console_rx_interrupt(); /* also where no interrupt could be routed */
	while (arrived_tail != arrived_head)
		input(arrived[arrived_tail++ % ARRIVED]);
	report_losses();
	drain();
	unlock(&console_lock);
	/* The queues' tails are ours alone, so delivery needs no lock. */
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++) {
		struct guest_console *g = &guest[i];

		while (g->rx_tail != READ_ONCE(g->rx_head) &&
		       deliver(i, g->rx[g->rx_tail % sizeof(g->rx)]))
			g->rx_tail++;
	}
}

bool console_busy(void)
{
	if (READ_ONCE(tx_head) != READ_ONCE(tx_tail) || arrived_head != arrived_tail)
		return true;
	for (unsigned i = 0; i < CONFIG_MAX_VMS; i++)
		if (READ_ONCE(guest[i].rx_head) != guest[i].rx_tail)
			return true;
	return false;
}

void console_flush(void)
{
	uint64_t end = time_now_ns() + FLUSH_MS * 1000000ULL;

	lock(&console_lock);
	while (tx_tail != tx_head && time_now_ns() < end)
		drain();
	unlock(&console_lock);
}
