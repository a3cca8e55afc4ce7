/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals that end a program (Ctrl-C), while something has to be put in order first: they are held back, work
 * that takes long looks for them, and they take effect in the end.
 */
#ifndef CAPTURE_DIAL_H
#define CAPTURE_DIAL_H

#include <signal.h>
#include <stdbool.h>

void capture_hold_signals(sigset_t *before);
/* 0; CAPTURE_E_SYSTEM if one has come that is held back, with a message about `what`. */
int capture_check_interrupt(const char *what);
/* Takes one that has come, so that what tidies up is not hurried by it. 0: none has. */
int capture_take_signal(void);
/* As it was before; the one that was taken (0: none) comes again. */
void capture_release_signals(const sigset_t *before, int taken);

/* Connecting to a QEMU or a debug probe that listens, in bounded time. */

/*
 * `address`: a socket's path, with or without "unix:", or HOST:PORT (HOST may be empty: this machine), with
 * or
 * without "tcp:". Returns a non-blocking descriptor, or an error whose message names the address.
 */
int capture_dial(const char *address, int timeout_ms);
/*
 * Waits until `fd` can be read, or written. 0; CAPTURE_E_ABSENT when the time is up, CAPTURE_E_SYSTEM when
 * interrupted or poll failed; the message is about `address`.
 */
int capture_await(int fd, bool to_write, int timeout_ms, const char *address);

#endif
