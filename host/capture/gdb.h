/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A client of gdb's remote serial protocol: sends a packet and waits for its reply, in bounded time and
 * space. A packet is $DATA#CHECKSUM and is acknowledged with + or -; DATA may be run-length encoded.
 */
#ifndef CAPTURE_GDB_H
#define CAPTURE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* maximum size of a reply in bytes, after run-length decoding */
#define GDB_REPLY_MOST ((size_t)64 << 10)

struct gdb {
	int fd;
	const char *address; /* address of the server, for messages; borrowed */
	int timeout_ms;	     /* maximum time, in ms, to wait for one reply */
	/*
	 * Time, in seconds, for which the client may still wait. Waiting reduces it, and each received byte
	 * adds to it, so a server that sends too slowly is left after a limited time.
	 */
	double patience;
	size_t most; /* maximum number of bytes of memory that can be read with one packet */
	unsigned char input[4096];
	size_t begin, end;		/* bytes [begin, end) of `input` are not processed yet */
	char reply[GDB_REPLY_MOST + 1]; /* the last reply, NUL-terminated */
	size_t length;
	bool was_running; /* the machine was running until gdb_await_halt() halted it */
};

/* Connects. Returns 0 or an error. */
int gdb_open(struct gdb *gdb, const char *address, int timeout_ms);
/* Lets the client wait again as if the connection were new, to resume the machine after an error. */
void gdb_grant(struct gdb *gdb);
/* Halts the machine if it runs, and reads the packet size that the server supports. */
int gdb_await_halt(struct gdb *gdb);
/* Lets a halted machine run for `ms` milliseconds, and halts it again. */
int gdb_run_for(struct gdb *gdb, int ms);
/*
 * Sends a packet and waits for its reply. *reply is valid until the next command; "" means that the server
 * does not support the packet. Returns 0 or an error.
 */
int gdb_command(struct gdb *gdb, const char *packet, const char **reply);
/* Sends a packet and returns whether the reply was OK. */
bool gdb_command_ok(struct gdb *gdb, const char *packet);
/* Sends a packet and decodes its reply as gdb_reply_bytes() does. Returns 0 or an error. */
int gdb_command_bytes(struct gdb *gdb, const char *packet, void *bytes, size_t room, size_t *size);
/* Reads exactly `bytes` bytes. Requires: `bytes` is not more than gdb->most. */
int gdb_read_memory(struct gdb *gdb, uint64_t address, void *to, size_t bytes);
/*
 * Decodes the last reply from hexadecimal digits, at most `room` bytes. "xx" represents an unknown byte,
 * which becomes 0.
 * Returns 0, or CAPTURE_E_FORMAT if the reply is an error or has other characters.
 */
int gdb_reply_bytes(const struct gdb *gdb, void *bytes, size_t room, size_t *size);
/*
 * Returns whether the last reply reports that the machine was halted ("T02thread:01;"). The server may send
 * such a reply at any time.
 */
bool gdb_is_stop(const struct gdb *gdb);
void gdb_close(struct gdb *gdb);

/*
 * Several packets that are sent together, so that the machine is halted for a short time only. Their replies
 * arrive in the same order. They are not acknowledged: QEMU accepts the next packet as an acknowledgement.
 */

struct gdb_batch {
	char bytes[8192];
	size_t length;
	/* a packet was left out because the batch was full, so capture_gdb_batch_send() will fail */
	bool full;
};

/* Appends a packet to the batch. */
void gdb_batch_add(struct gdb_batch *batch, const char *packet);
/* Appends the byte that halts a running machine. */
void gdb_batch_interrupt(struct gdb_batch *batch);
/* Sends the packets and empties the batch. Returns 0 or an error. */
int gdb_batch_send(struct gdb *gdb, struct gdb_batch *batch);
/* Waits for the next reply and stores it in `reply`. Returns 0 or an error. */
int gdb_batch_reply(struct gdb *gdb);
/*
 * Acknowledges the last reply. Call it if another program may resume the machine before the next batch: QEMU
 * waits for an acknowledgement or a packet, and would discard the byte that interrupts the machine.
 */
int gdb_batch_acknowledge(struct gdb *gdb);

#endif
