/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The command that is run, and the signals that concern it. It stays in our process group, so the terminal is
 * its own and Ctrl-C reaches it as ever. Orphans of it become ours, so that the status of a QEMU whose
 * stand-in was killed is still known.
 */
#ifndef CAPTURE_CHILD_H
#define CAPTURE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct capture_child {
	int signals; /* descriptor: readable when a signal is there to be taken */
	sigset_t before;
	pid_t pid;
	int output; /* what it gets for its standard output, -1: ours */
	bool ended;
	bool alone;	  /* it has ended, and so have all processes that it started */
	int status;	  /* as from wait(), once it has ended */
	pid_t guest;	  /* QEMU's process if it is known, 0 if not */
	bool guest_ended; /* … and could be waited for */
	int guest_status;
};

/* From here on SIGINT, SIGTERM, SIGHUP and SIGCHLD come through `signals` until capture_child_close(). */
int capture_child_open(struct capture_child *child);
/*
 * Starts `command` with the shim of `directory` in its way. 0 once the program runs; CAPTURE_E_USAGE if the
 * shim refused the QEMU line, CAPTURE_E_SYSTEM if there is no such program.
 */
int capture_child_start(struct capture_child *child, const char *directory, char *const *command);
/* Takes signals and reaps. Returns the last of SIGINT, SIGTERM, SIGHUP that came, or 0; adds to *count. */
int capture_child_signals(struct capture_child *child, unsigned *count);
void capture_child_close(struct capture_child *child);

#endif
