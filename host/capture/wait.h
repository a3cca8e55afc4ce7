/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Waiting for the world outside: signals that end a command, and connections that open in bounded time.
 *
 * Signals that end a program (SIGINT, SIGTERM, SIGHUP) are blocked while a guest is halted or a temporary
 * file exists. A long operation checks for pending signals and fails if there is one. After cleanup the
 * signals are unblocked, and the pending signal takes effect.
 */
#ifndef CAPTURE_WAIT_H
#define CAPTURE_WAIT_H

#include <signal.h>
#include <stdbool.h>

/* Returns the host's monotonic clock in seconds. */
double capture_now(void);

/* Blocks SIGINT, SIGTERM and SIGHUP. Stores the previous mask in *before, for capture_release_signals(). */
void capture_hold_signals(sigset_t *before);
/*
 * Checks whether SIGINT, SIGTERM or SIGHUP is pending. Returns 0 if not, otherwise CAPTURE_E_SYSTEM with a
 * message about the interrupted operation, `what`.
 */
int capture_check_interrupt(const char *what);
/*
 * Consumes a pending SIGINT, SIGTERM or SIGHUP, so that capture_check_interrupt() does not make cleanup fail.
 * Returns the signal's number; 0 if none is pending.
 */
int capture_take_signal(void);
/* Raises the signal `taken` again if it is not 0, and restores the signal mask `before`. */
void capture_release_signals(const sigset_t *before, int taken);

/* ---- Signals through a descriptor ---- */

/*
 * Delivers SIGINT, SIGTERM, SIGHUP and SIGCHLD through a descriptor, for a command that must clean up before
 * it ends. The signals are blocked while the descriptor is open. Several descriptors may be open; only the
 * one that was opened last may be read, and gets the signals.
 */

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

/* ---- Connections to a QEMU or a debug probe, in bounded time ---- */

/*
 * Connects to `address`: a socket's path, with or without "unix:", or HOST:PORT, with or without "tcp:". An
 * empty HOST means this machine. Returns a non-blocking descriptor, or an error whose message contains the
 * address.
 */
int capture_dial(const char *address, int timeout_ms);
/*
 * Waits until `fd` can be read, or written if `to_write` is set. Messages begin with `address`.
 * Returns 0; CAPTURE_E_ABSENT if the time is up; CAPTURE_E_SYSTEM if a signal is pending or poll() failed.
 */
int capture_await(int fd, bool to_write, int timeout_ms, const char *address);

#endif
