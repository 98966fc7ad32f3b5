/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session: somebody at the monitor, a person or a program, one command at a time.
 *
 * A command is found by its first one or two words, runs to its end at once, or
 * leaves something to wait for: then session_poll() asks until it is there.  The
 * word --json anywhere in the line makes the answer an object (hv/monitor/out.h).
 * Boot CPU, between turns: what a command looks at does not change under it but
 * for what running VMs do.
 */
#pragma once

#include "hv/monitor/out.h"
#include "hv/monitor/words.h"
#include "hv/vm.h"

struct session {
	void (*put)(void *ctx, const char *s, size_t n);
	void *ctx;
	enum out_format format;
	struct out out;
	struct words words;
	unsigned argc; /* the words after the command's name */
	char **argv;
	/* Of a command that waits: true when it has said what there was to say. */
	bool (*wait)(struct session *s);
	uint64_t wait_until; /* ns */
	struct vm *vm;	     /* that the command is of; it may be gone by then: session_vm() */
	char vm_name[CONFIG_NAME_LEN];
	enum vm_state want;
	const char *done;
	void *memory; /* pages of the command's, freed when it has ended */
	unsigned memory_order;
	bool no_cancel; /* what it has begun it must end */
	bool redraws;	/* the screen, until a key; has it done so? */
	bool drawn;
};

struct command {
	const char *name; /* one or two words */
	const char *args;
	const char *help;
	const char *example;
	void (*run)(struct session *s);
	enum { NO_VM, OF_VM, OF_VM_IF_NAMED } of; /* the first word names it: s->vm, or NULL */
	unsigned most;				  /* words after the name */
};

/* Terminated by an entry without name. */
extern const struct command vm_commands[], memory_commands[], system_commands[], look_commands[],
	irq_commands[], config_commands[], monitor_commands[], top_commands[];

/* False: the command has left something to wait for. */
bool session_run(struct session *s, const char *line);
/* Likewise, later. */
bool session_poll(struct session *s);
/* The person has lost patience: session_poll() ends the command, where it can be left. */
void session_cancel(struct session *s);

/* At each turn of the monitor: ends the machine a moment after a command has said so. */
void system_poll_end(void);

/* The VM that is waited for, or NULL: it is gone. */
struct vm *session_vm(const struct session *s);

/* The @index-th command line word that could stand after @text; for completion. */
const char *session_complete(const char *text, size_t len, unsigned index);
