/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals that end a program (SIGINT, SIGTERM, SIGHUP) are blocked while a guest is halted or a temporary
 * file exists. A long operation checks for pending signals and fails if there is one. After cleanup the
 * signals are unblocked, and the pending signal takes effect.
 */
#ifndef CAPTURE_DIAL_H
#define CAPTURE_DIAL_H

#include <signal.h>
#include <stdbool.h>

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

/* Functions that connect to a QEMU or a debug probe, in bounded time. */

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
