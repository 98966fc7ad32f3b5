/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pager: an answer that is longer than the screen, a page at a time.
 *
 * What goes over the page is kept until it has been asked for; what the buffer has
 * no room for is counted, and told at the end.  It stops between lines only.
 * Pure (tests/host/test_pager.c).
 */
#pragma once

#include "hv/base.h"

struct pager {
	void (*put)(void *ctx, const char *s, size_t n);
	void *ctx;
	unsigned height, width; /* of the screen; height 0: nothing stops */
	int rows;		/* left on this page */
	unsigned column;
	char *held;
	size_t size, len, at; /* held[at..len) is still to be shown */
	uint64_t dropped;
};

enum pager_key {
	PAGER_MORE,  /* taken; the pager waits for another */
	PAGER_DONE,  /* taken; all has been shown, or is not wanted */
	PAGER_OTHER, /* not for the pager, which has shown all: the key is somebody else's */
};

/* A new answer.  @held has @size bytes; with NULL nothing stops. */
void pager_begin(struct pager *p, char *held, size_t size);
void pager_write(struct pager *p, const char *s, size_t n);
/* A key is needed for the rest. */
bool pager_waits(const struct pager *p);
/* The line that tells so. */
void pager_show(const struct pager *p);
enum pager_key pager_key(struct pager *p, uint8_t c);
