/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The virtual machine as QEMU reports it over QMP: whether the guest runs, where its RAM is, how it ended.
 * QEMU's exit status is not enough (a triple fault ends QEMU with status 0).
 *
 * Sequence: QEMU connects. We enable commands, ask for its memory map and run state, and start the guest,
 * unless QEMU was given options by which the user starts it. After that, QEMU sends events.
 */
#ifndef CAPTURE_MACHINE_H
#define CAPTURE_MACHINE_H

#include <stdbool.h>

#include "memory.h"
#include "qmp.h"

/* The reason that QEMU reports in a SHUTDOWN event. */
enum capture_shutdown {
	CAPTURE_SHUTDOWN_NONE,	/* there was no SHUTDOWN event */
	CAPTURE_SHUTDOWN_GUEST, /* the guest powered off */
	CAPTURE_SHUTDOWN_RESET, /* the guest reset, or had a triple fault */
	CAPTURE_SHUTDOWN_PANIC, /* the guest reported a panic to a panic device */
	/*
	 * the guest reported a failure to the test device of RISC-V (QEMU 8.2 and later; earlier versions end
	 * without an event)
	 */
	CAPTURE_SHUTDOWN_FAILURE,
	CAPTURE_SHUTDOWN_USER,	 /* the user ended QEMU in its monitor or window, or ktrace ended it */
	CAPTURE_SHUTDOWN_SIGNAL, /* QEMU ended because of a signal */
	CAPTURE_SHUTDOWN_ERROR,	 /* any other reason */
};

struct capture_machine {
	struct capture_qmp qmp;
	const char *backend; /* id of the memory backend that `map` describes */
	bool starts;	     /* true if ktrace, not the user, starts the guest */
	bool ended;	     /* true if QEMU has closed the connection */
	bool running;	     /* true if the guest is running */
	bool ran;	     /* true if the guest is running or has run before */
	/* true if QEMU has not exited, but will not run the guest again; `state` is the reason */
	bool stopped_for_good;
	char state[32]; /* run state in QEMU's last answer, such as "internal-error" */
	enum capture_shutdown shutdown;
	bool panicked;		/* QEMU has sent the event GUEST_PANICKED */
	char version[96];	/* version and package of QEMU; "" before QEMU's greeting has arrived */
	uint64_t timebase;	/* frequency of a RISC-V board's timer in Hz; 0: unknown */
	struct capture_map map; /* map of the guest's RAM; it has no ranges until QEMU has reported them */
	/* Answer to the last command of capture_machine_ask(). */
	bool answered;
	bool refused; /* true if the answer is an error */
	char *answer; /* text in the answer; NULL: none */
};

/* Listens for QEMU on a socket at `path`. Returns 0 or an error. */
int capture_machine_open(struct capture_machine *machine, const char *path);
/*
 * Accepts QEMU's connection and sends the first commands. `backend` is borrowed. If `starts` is set, also
 * starts the guest. Returns 0, CAPTURE_E_ABSENT if QEMU has not connected yet, or an error.
 */
int capture_machine_connect(struct capture_machine *machine, const char *backend, bool starts);
/* Returns the descriptor to poll. */
int capture_machine_descriptor(const struct capture_machine *machine);
/* Processes the messages that have arrived from QEMU. */
void capture_machine_receive(struct capture_machine *machine);
/* Halts the guest until capture_machine_resume() or another program resumes it. */
void capture_machine_pause(struct capture_machine *machine);
void capture_machine_resume(struct capture_machine *machine);
/*
 * Sends a command. Its answer is stored later in `answered`, `refused` and `answer`. Requires: no earlier
 * command waits for its answer.
 */
void capture_machine_ask(struct capture_machine *machine, const char *command, const char *arguments);
/* Asks QEMU to end. */
void capture_machine_quit(struct capture_machine *machine);
void capture_machine_close(struct capture_machine *machine);

#endif
