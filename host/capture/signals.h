/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Delivers SIGINT, SIGTERM, SIGHUP and SIGCHLD through a descriptor, for a command that must clean up before
 * it ends. The signals are blocked while the descriptor is open. Several descriptors may be open; only the
 * one that was opened last may be read, and gets the signals.
 */
#ifndef CAPTURE_SIGNALS_H
#define CAPTURE_SIGNALS_H

#include <signal.h>

struct capture_signals {
	int from; /* the descriptor, which is readable when a signal has arrived; -1: not open */
	sigset_t before;
};

/*
 * Blocks the signals and opens the descriptor. Returns 0 or CAPTURE_E_SYSTEM; after an error, nothing has
 * changed and `from` is -1.
 */
int capture_signals_open(struct capture_signals *signals);
/*
 * Consumes the signals that have arrived, without waiting. Returns the last SIGINT, SIGTERM or SIGHUP among
 * them, or 0; adds the number of these to *count.
 */
int capture_signals_take(const struct capture_signals *signals, unsigned *count);
/* Restores the signal mask that was set before capture_signals_open(). Does nothing if `from` is -1. */
void capture_signals_close(struct capture_signals *signals);

#endif
