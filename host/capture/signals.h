/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD as a descriptor, for a command that must clean up before it ends. The
 * signals are blocked while the descriptor is open. Several descriptors may be open, one inside the other:
 * signals go to the innermost one, which is read.
 */
#ifndef CAPTURE_SIGNALS_H
#define CAPTURE_SIGNALS_H

#include <signal.h>

struct capture_signals {
	int from; /* descriptor; readable when a signal has arrived; -1: not open */
	sigset_t before;
};

/* Blocks the signals. Returns 0, or CAPTURE_E_SYSTEM with nothing changed and `from` -1. */
int capture_signals_open(struct capture_signals *signals);
/*
 * Takes the signals that have arrived, and never waits. Returns the last SIGINT, SIGTERM or SIGHUP among
 * them, or 0; adds the number of these to *count.
 */
int capture_signals_take(const struct capture_signals *signals, unsigned *count);
/* Restores the signals as they were. Has no effect if `from` is -1. */
void capture_signals_close(struct capture_signals *signals);

#endif
