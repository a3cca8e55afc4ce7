/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "gdb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wait.h"
#include "error.h"

#define TRIES 3u /* number of attempts to receive a reply that arrives damaged */
/* maximum number of stop replies, which the server may send unasked, that are skipped before a reply */
#define STOPS	     8u
#define PACKET_MOST  256u
#define LEAST_PACKET 128u /* packet size, in bytes, that every server accepts */
#define HALT_MS	     500  /* time, in ms, to wait for an answer if the machine may be running */
/*
 * A server may send short replies slowly, each of them in time. All waiting together is limited to PATIENCE
 * times the time for one reply, plus the time in which SLOWEST bytes per second send what was received.
 */
#define PATIENCE 4
#define SLOWEST	 256.0
#define FRAME	 4u /* number of bytes in a packet that are not data: $, #, and 2 digits of checksum */

int gdb_open(struct gdb *gdb, const char *address, int timeout_ms)
{
	memset(gdb, 0, sizeof(*gdb));
	gdb->address = address;
	gdb->timeout_ms = timeout_ms;
	gdb->most = (LEAST_PACKET - FRAME) / 2;
	gdb_grant(gdb);
	gdb->fd = capture_dial(address, timeout_ms);
	return gdb->fd < 0 ? gdb->fd : 0;
}

static double most_patience(const struct gdb *gdb)
{
	return PATIENCE * gdb->timeout_ms / 1000.0;
}

void gdb_grant(struct gdb *gdb)
{
	gdb->patience = most_patience(gdb);
}

void gdb_close(struct gdb *gdb)
{
	if (gdb->fd >= 0)
		close(gdb->fd);
	gdb->fd = -1;
}

/*
 * Sends bytes. They fit into any socket's buffer, because the next packet is sent only after the answer to
 * this packet.
 */
static int put(struct gdb *gdb, const char *bytes, size_t size)
{
	if (send(gdb->fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size)
		return 0;
	return capture_fail_errno("%s", gdb->address);
}

static int fail_silent(const struct gdb *gdb)
{
	return capture_fail(CAPTURE_E_ABSENT, "%s: no answer in gdb's remote protocol", gdb->address);
}

/*
 * Waits until bytes can be read, at most until `end`, and no longer than the patience lasts. Returns 0;
 * CAPTURE_E_ABSENT if no bytes arrive; or CAPTURE_E_SYSTEM.
 */
static int await_bytes(struct gdb *gdb, double end)
{
	const double begin = capture_now(), time = end - begin;
	const bool is_impatient = gdb->patience < time;
	const double wait = is_impatient ? gdb->patience : time;
	const int error = capture_await(gdb->fd, false, wait > 0 ? (int)(wait * 1000) : 0, gdb->address);

	gdb->patience -= capture_now() - begin;
	if (error != CAPTURE_E_ABSENT)
		return error;
	if (!is_impatient)
		return fail_silent(gdb);
	return capture_fail(CAPTURE_E_ABSENT,
			    "%s: the answers arrive too slowly, at less than %.0f bytes per second",
			    gdb->address, SLOWEST);
}

/* Adds the time that `bytes` received bytes are worth. */
static void gain_patience(struct gdb *gdb, size_t bytes)
{
	const double most = most_patience(gdb), gained = gdb->patience + (double)bytes / SLOWEST;

	gdb->patience = gained < most ? gained : most;
}

/* Returns the next byte, or an error if none arrives until `end`. */
static int get(struct gdb *gdb, double end)
{
	while (gdb->begin == gdb->end) {
		const int error = await_bytes(gdb, end);
		ssize_t got;

		if (error)
			return error;
		got = recv(gdb->fd, gdb->input, sizeof(gdb->input), 0);
		if (got == 0)
			return capture_fail(CAPTURE_E_SYSTEM, "%s: the connection was closed", gdb->address);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return capture_fail_errno("%s", gdb->address);
		gdb->begin = 0;
		gdb->end = got > 0 ? (size_t)got : 0;
		gain_patience(gdb, gdb->end);
	}
	return gdb->input[gdb->begin++];
}

static int hex_digit(int c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Appends a byte to the reply `times` times. */
static int append(struct gdb *gdb, int c, size_t times)
{
	if (times > GDB_REPLY_MOST - gdb->length)
		return capture_fail(CAPTURE_E_FORMAT, "%s: a reply is longer than %zu bytes", gdb->address,
				    GDB_REPLY_MOST);
	while (times-- > 0)
		gdb->reply[gdb->length++] = (char)c;
	return 0;
}

/*
 * Adds the data byte `c` of a packet to the reply. If `c` is '*' (repetition) or '}' (escape), also receives
 * the byte after it, and adds the bytes that the two bytes encode.
 */
static int take_data(struct gdb *gdb, int c, unsigned char *sum, double end)
{
	int next;

	*sum = (unsigned char)(*sum + c);
	if (c != '*' && c != '}')
		return append(gdb, c, 1);
	next = get(gdb, end);
	if (next < 0)
		return next;
	*sum = (unsigned char)(*sum + next);
	if (c == '}')
		return append(gdb, next ^ 0x20, 1);
	if (gdb->length == 0 || next < 29 + 3)
		return capture_fail(CAPTURE_E_FORMAT, "%s: a reply repeats a character that is missing",
				    gdb->address);
	return append(gdb, (unsigned char)gdb->reply[gdb->length - 1], (size_t)next - 29);
}

/* Receives the next packet into gdb->reply. Returns 0; 1 if the packet's checksum is wrong; or an error. */
static int receive(struct gdb *gdb, double end)
{
	unsigned char sum = 0;
	int c, high, low, error;

	while ((c = get(gdb, end)) != '$') {
		if (c < 0)
			return c;
		/* prevents an endless loop if the server sends bytes without end, but none begins a packet */
		if (capture_now() >= end)
			return fail_silent(gdb);
	}
	gdb->length = 0;
	while ((c = get(gdb, end)) >= 0 && c != '#') {
		error = take_data(gdb, c, &sum, end);
		if (error)
			return error;
	}
	if (c < 0 || (c = high = get(gdb, end)) < 0 || (c = low = get(gdb, end)) < 0)
		return c;
	gdb->reply[gdb->length] = '\0';
	return hex_digit(high) < 0 || hex_digit(low) < 0 || hex_digit(high) * 16 + hex_digit(low) != sum;
}

/* Writes a packet to a buffer, with its "$" and checksum. Returns the packet's length. */
static size_t put_frame(char frame[PACKET_MOST + FRAME + 1], const char *packet)
{
	unsigned char sum = 0;

	for (const char *at = packet; *at; at++)
		sum = (unsigned char)(sum + (unsigned char)*at);
	return (size_t)snprintf(frame, PACKET_MOST + FRAME + 1, "$%.*s#%02x", (int)PACKET_MOST, packet, sum);
}

static int send_packet(struct gdb *gdb, const char *packet)
{
	char frame[PACKET_MOST + FRAME + 1];

	return put(gdb, frame, put_frame(frame, packet));
}

void gdb_batch_add(struct gdb_batch *batch, const char *packet)
{
	char frame[PACKET_MOST + FRAME + 1];
	const size_t length = put_frame(frame, packet);

	if (batch->full || length > sizeof(batch->bytes) - batch->length) {
		batch->full = true;
		return;
	}
	memcpy(batch->bytes + batch->length, frame, length);
	batch->length += length;
}

void gdb_batch_interrupt(struct gdb_batch *batch)
{
	if (batch->length < sizeof(batch->bytes))
		batch->bytes[batch->length++] = '\003';
	else
		batch->full = true;
}

int gdb_batch_send(struct gdb *gdb, struct gdb_batch *batch)
{
	int error = batch->full ? capture_fail(CAPTURE_E_SYSTEM, "%s: too many packets", gdb->address)
				: put(gdb, batch->bytes, batch->length);

	batch->length = 0;
	batch->full = false;
	return error;
}

int gdb_batch_reply(struct gdb *gdb)
{
	const int status = receive(gdb, capture_now() + gdb->timeout_ms / 1000.0);

	return status <= 0 ? status
			   : capture_fail(CAPTURE_E_FORMAT, "%s: a reply arrived damaged", gdb->address);
}

int gdb_batch_acknowledge(struct gdb *gdb)
{
	return put(gdb, "+", 1);
}

/* Waits for a reply and acknowledges it. If the reply arrives damaged, asks the server to send it again. */
static int await_reply(struct gdb *gdb, int timeout_ms)
{
	double end = capture_now() + timeout_ms / 1000.0;

	for (unsigned i = 0; i < TRIES; i++) {
		int status = receive(gdb, end);

		if (status < 0)
			return status;
		if (put(gdb, status ? "-" : "+", 1) != 0)
			return CAPTURE_E_SYSTEM;
		if (status == 0)
			return 0;
	}
	return capture_fail(CAPTURE_E_FORMAT, "%s: replies arrive damaged", gdb->address);
}

bool gdb_is_stop(const struct gdb *gdb)
{
	return gdb->length >= 3 && (gdb->reply[0] == 'T' || gdb->reply[0] == 'S') &&
	       hex_digit(gdb->reply[1]) >= 0 && hex_digit(gdb->reply[2]) >= 0;
}

int gdb_command(struct gdb *gdb, const char *packet, const char **reply)
{
	int error = send_packet(gdb, packet);

	for (unsigned i = 0; !error && (i == 0 || (gdb_is_stop(gdb) && i < STOPS)); i++)
		error = await_reply(gdb, gdb->timeout_ms);
	*reply = gdb->reply;
	return error;
}

bool gdb_command_ok(struct gdb *gdb, const char *packet)
{
	const char *reply;

	return gdb_command(gdb, packet, &reply) == 0 && strcmp(reply, "OK") == 0;
}

int gdb_reply_bytes(const struct gdb *gdb, void *bytes, size_t room, size_t *size)
{
	unsigned char *to = bytes;

	/* Errors are "E14" (an odd length) and "E.text". Any other reply that begins with E is data. */
	if (gdb->length == 0 || gdb->length % 2 || strncmp(gdb->reply, "E.", 2) == 0)
		return CAPTURE_E_FORMAT;
	for (*size = 0; *size < room && *size * 2 + 1 < gdb->length; ++*size) {
		const char *digit = gdb->reply + *size * 2;
		int high = digit[0] == 'x' ? 0 : hex_digit(digit[0]),
		    low = digit[1] == 'x' ? 0 : hex_digit(digit[1]);

		if (high < 0 || low < 0)
			return CAPTURE_E_FORMAT;
		to[*size] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

int gdb_command_bytes(struct gdb *gdb, const char *packet, void *bytes, size_t room, size_t *size)
{
	const char *reply;
	int error = gdb_command(gdb, packet, &reply);

	if (error)
		return error;
	if (gdb_reply_bytes(gdb, bytes, room, size) != 0)
		return capture_fail(CAPTURE_E_FORMAT, "%s: packet %.40s refused: '%.20s'", gdb->address,
				    packet, reply);
	return 0;
}

int gdb_read_memory(struct gdb *gdb, uint64_t address, void *to, size_t bytes)
{
	char packet[64];
	size_t got;
	int error;

	snprintf(packet, sizeof(packet), "m%" PRIx64 ",%zx", address, bytes);
	error = gdb_command_bytes(gdb, packet, to, bytes, &got);
	if (!error && gdb->length / 2 != bytes)
		error = capture_fail(CAPTURE_E_FORMAT, "%s: %zu bytes instead of %zu at 0x%" PRIx64,
				     gdb->address, gdb->length / 2, bytes, address);
	return error;
}

/* Reads the packet size from the list of features that the server supports. */
static void take_size(struct gdb *gdb, const char *features)
{
	const char *found = strstr(features, "PacketSize=");
	uint64_t size = found ? strtoull(found + strlen("PacketSize="), NULL, 16) : 0;

	if (size > GDB_REPLY_MOST)
		size = GDB_REPLY_MOST;
	if (size >= LEAST_PACKET)
		gdb->most = (size_t)(size - FRAME) / 2;
}

int gdb_run_for(struct gdb *gdb, int ms)
{
	int error = send_packet(gdb, "c"), halted;
	const double patience = gdb->patience;

	if (error)
		return error;
	/* no reply comes in this time, unless the machine halts by itself; so it does not count as waiting */
	gdb->patience = ms / 1000.0 + 1;
	error = await_reply(gdb, ms);
	gdb->patience = patience;
	if (error == 0)
		return 0;
	/*
	 * Halt the machine after an error, too: while it runs, the server accepts no packet, not even the one
	 * that resumes it.
	 */
	halted = put(gdb, "\003", 1);
	if (halted == 0)
		halted = await_reply(gdb, gdb->timeout_ms);
	return error == CAPTURE_E_ABSENT ? halted : error;
}

int gdb_await_halt(struct gdb *gdb)
{
	const char *features;
	int error = send_packet(gdb, "?");

	if (!error)
		error = await_reply(gdb, HALT_MS < gdb->timeout_ms ? HALT_MS : gdb->timeout_ms);
	/* no answer: the server answers only while the machine is halted, and the machine is running */
	if (error == CAPTURE_E_ABSENT) {
		gdb->was_running = true;
		error = put(gdb, "\003", 1);
		if (!error)
			error = await_reply(gdb, gdb->timeout_ms);
	}
	if (!error && (gdb->length == 0 || !strchr("TSWX", gdb->reply[0])))
		error = capture_fail(CAPTURE_E_FORMAT, "%s: does not halt: '%.40s'", gdb->address,
				     gdb->reply);
	if (!error)
		error = gdb_command(gdb, "qSupported", &features);
	if (!error)
		take_size(gdb, features);
	return error;
}
