/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Connecting to a QEMU or a debug probe that listens, in bounded time. */
#ifndef CAPTURE_DIAL_H
#define CAPTURE_DIAL_H

#include <stdbool.h>

/*
 * `address`: a socket's path, with or without "unix:", or HOST:PORT (HOST may be empty: this machine), with or
 * without "tcp:". Returns a non-blocking descriptor, or an error whose message names the address.
 */
int capture_dial(const char *address, int timeout_ms);
/*
 * Waits until `fd` can be read, or written. 0; CAPTURE_E_ABSENT when the time is up, CAPTURE_E_SYSTEM when
 * interrupted or poll failed; the message is about `address`.
 */
int capture_await(int fd, bool to_write, int timeout_ms, const char *address);

#endif
