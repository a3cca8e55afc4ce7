/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The virtual machine as QEMU reports it: whether the guest runs, where its RAM lies, how it ended. QEMU's
 * exit status says little (a triple fault ends it with 0), these events say it all.
 *
 * Life: QEMU dials, is greeted, tells its memory map and run state; then the guest is started, unless someone
 * else was to do that. From there on events come.
 */
#ifndef CAPTURE_MACHINE_H
#define CAPTURE_MACHINE_H

#include <stdbool.h>

#include "memory.h"
#include "qmp.h"

/* Why QEMU says it ends. */
enum capture_shutdown {
	CAPTURE_SHUTDOWN_NONE,	 /* not a word */
	CAPTURE_SHUTDOWN_GUEST,	 /* the guest switched itself off */
	CAPTURE_SHUTDOWN_RESET,	 /* it reset, a triple fault included */
	CAPTURE_SHUTDOWN_PANIC,	 /* it told a panic device */
	CAPTURE_SHUTDOWN_USER,	 /* quit in the monitor or a window, by us as well */
	CAPTURE_SHUTDOWN_SIGNAL, /* a signal to QEMU */
	CAPTURE_SHUTDOWN_ERROR,	 /* QEMU's own trouble */
};

struct capture_machine {
	struct capture_qmp qmp;
	const char *backend;   /* id of the memory backend that the map is wanted of */
	bool starts;	       /* we start the guest */
	bool ended;	       /* QEMU hung up */
	bool running;	       /* the guest runs now */
	bool ran;	       /* … or did once */
	bool stopped_for_good; /* QEMU has given up on the guest, yet stays: `state` says why */
	char state[32];	       /* QEMU's run state when it last stopped: "internal-error" */
	enum capture_shutdown shutdown;
	uint64_t timebase;	/* Hz of a RISC-V board's timer, 0 if there is none */
	struct capture_map map; /* no ranges while unknown */
	/* Of capture_machine_ask(). */
	bool answered;
	bool refused; /* with an error */
	char *answer; /* the text that was returned, NULL: none */
};

/* Listens. 0 or an error. */
int capture_machine_open(struct capture_machine *machine, const char *path);
/* QEMU dials; `backend` is borrowed. 0, CAPTURE_E_ABSENT if it has not, or an error. */
int capture_machine_connect(struct capture_machine *machine, const char *backend, bool starts);
/* The descriptor to wait on. */
int capture_machine_descriptor(const struct capture_machine *machine);
/* Takes in what QEMU said. */
void capture_machine_listen(struct capture_machine *machine);
/* The guest stands still until someone lets it go on. */
void capture_machine_pause(struct capture_machine *machine);
void capture_machine_resume(struct capture_machine *machine);
/* Has a command carried out whose answer is wanted: one at a time. */
void capture_machine_ask(struct capture_machine *machine, const char *command, const char *arguments);
void capture_machine_quit(struct capture_machine *machine);
void capture_machine_close(struct capture_machine *machine);

#endif
