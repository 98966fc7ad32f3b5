/* SPDX-License-Identifier: BSD-2-Clause */
/* pager: an answer that is longer than the screen, a page at a time.  Pure. */
#include "hv/monitor/pager.h"

#include "hv/fmt.h"

#define MORE   "\r-- more --"
#define ERASE  "\r          \r"
#define CTRL_C 3
#define ALL    INT32_MAX

_Static_assert(sizeof(ERASE) == sizeof(MORE) + 1, "all of it is erased");

void pager_begin(struct pager *p, char *held, size_t size)
{
	p->held = held;
	p->size = size;
	p->len = p->at = 0;
	p->dropped = 0;
	p->column = 0;
	p->rows = p->height && held ? (int)p->height - 1 : ALL;
}

/* Shows what the page has room for; how many bytes that was. */
static size_t emit(struct pager *p, const char *s, size_t n)
{
	size_t i = 0;

	if (p->rows == ALL) {
		p->put(p->ctx, s, n);
		return n;
	}
	while (i < n && (p->rows > 0 || p->column)) {
		if (s[i++] == '\n') {
			p->rows--;
			p->column = 0;
		} else if (p->column++ && p->column % p->width == 1) {
			p->rows--; /* the line goes on in another row */
		}
	}
	p->put(p->ctx, s, i);
	return i;
}

void pager_write(struct pager *p, const char *s, size_t n)
{
	size_t shown = pager_waits(p) ? 0 : emit(p, s, n), room;

	if (shown == n)
		return;
	room = min_u64(n - shown, p->size - p->len);
	memcpy(p->held + p->len, s + shown, room);
	p->len += room;
	p->dropped += n - shown - room;
}

bool pager_waits(const struct pager *p)
{
	return p->at < p->len;
}

void pager_show(const struct pager *p)
{
	p->put(p->ctx, MORE, sizeof(MORE) - 1);
}

static void tell_dropped(struct pager *p)
{
	char text[80];

	if (!p->dropped)
		return;
	hv_snprintf(text, sizeof(text), "%s-- %llu bytes more had no room --\n", p->column ? "\n" : "",
		    (unsigned long long)p->dropped);
	p->put(p->ctx, text, strlen(text));
	p->dropped = 0;
}

static void go_on(struct pager *p, int rows)
{
	p->rows = rows;
	p->at += emit(p, p->held + p->at, p->len - p->at);
	if (!pager_waits(p))
		tell_dropped(p);
}

enum pager_key pager_key(struct pager *p, uint8_t c)
{
	p->put(p->ctx, ERASE, sizeof(ERASE) - 1);
	switch (c) {
	case ' ':
		go_on(p, (int)p->height - 1);
		break;
	case '\r':
	case '\n':
		go_on(p, 1);
		break;
	case 'q':
	case CTRL_C:
		p->at = p->len;
		break;
	default:
		go_on(p, ALL);
		return PAGER_OTHER;
	}
	if (!pager_waits(p))
		return PAGER_DONE;
	pager_show(p);
	return PAGER_MORE;
}
