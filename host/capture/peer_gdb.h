/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gdb's remote serial protocol as a client: a packet, then its reply, in bounded time and space. Each packet
 * is $DATA#CHECKSUM and is acknowledged with + or -; DATA may be run-length encoded.
 */
#ifndef CAPTURE_PEER_GDB_H
#define CAPTURE_PEER_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GDB_REPLY_MOST ((size_t)64 << 10) /* bytes of a reply once expanded */

struct gdb {
	int fd;
	const char *address; /* borrowed */
	int timeout_ms;
	size_t most; /* bytes of memory that one packet reads */
	unsigned char input[4096];
	size_t begin, end;		/* of what was received and not yet looked at */
	char reply[GDB_REPLY_MOST + 1]; /* NUL-terminated */
	size_t length;
	bool ran; /* until gdb_await_halt() */
};

/* Dials. 0 or an error. */
int gdb_open(struct gdb *gdb, const char *address, int timeout_ms);
/* Halts the machine if it is not, and agrees on sizes. */
int gdb_await_halt(struct gdb *gdb);
/* Lets a machine that is halted run for so long, and halts it again. */
int gdb_run_for(struct gdb *gdb, int ms);
/*
 * 0 with the reply, which lasts until the next command; "" means that the other side does not know the
 * packet.
 */
int gdb_command(struct gdb *gdb, const char *packet, const char **reply);
/* Reads exactly `bytes`, gdb->most at most. */
int gdb_read_memory(struct gdb *gdb, uint64_t address, void *to, size_t bytes);
void gdb_close(struct gdb *gdb);

#endif
