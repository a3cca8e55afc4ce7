/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "peer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dial.h"
#include "error.h"
#include "watch.h"
#include "cpu_state.h"

#define TRIES	     3u /* number of attempts to receive a reply that arrives damaged */
#define STOPS	     8u /* largest number of unsolicited stop replies that are skipped before a reply */
#define PACKET_MOST  256u
#define LEAST_PACKET 128u /* packet size, in bytes, that every server accepts */
#define HALT_MS	     500  /* time, in ms, to wait for an answer if the machine may be running */
#define FRAME	     4u	  /* number of bytes in a packet that are not data: $, #, and 2 digits of checksum */

int gdb_open(struct gdb *gdb, const char *address, int timeout_ms)
{
	memset(gdb, 0, sizeof(*gdb));
	gdb->address = address;
	gdb->timeout_ms = timeout_ms;
	gdb->most = (LEAST_PACKET - FRAME) / 2;
	gdb->fd = capture_dial(address, timeout_ms);
	return gdb->fd < 0 ? gdb->fd : 0;
}

void gdb_close(struct gdb *gdb)
{
	if (gdb->fd >= 0)
		close(gdb->fd);
	gdb->fd = -1;
}

/* Sends bytes. They fit into any socket's buffer, because only one packet is under way at a time. */
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

/* Returns the next byte, or an error if none comes before the time `end`. */
static int get(struct gdb *gdb, double end)
{
	while (gdb->begin == gdb->end) {
		int left = (int)((end - capture_now()) * 1000);
		int error = capture_await(gdb->fd, false, left > 0 ? left : 0, gdb->address);
		ssize_t got;

		if (error == CAPTURE_E_ABSENT)
			return fail_silent(gdb);
		if (error)
			return error;
		got = recv(gdb->fd, gdb->input, sizeof(gdb->input), 0);
		if (got == 0)
			return capture_fail(CAPTURE_E_SYSTEM, "%s: the connection was closed", gdb->address);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return capture_fail_errno("%s", gdb->address);
		gdb->begin = 0;
		gdb->end = got > 0 ? (size_t)got : 0;
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

/* Appends a byte to the reply, `times` times. */
static int append(struct gdb *gdb, int c, size_t times)
{
	if (times > GDB_REPLY_MOST - gdb->length)
		return capture_fail(CAPTURE_E_FORMAT, "%s: a reply is longer than %zu bytes", gdb->address,
				    GDB_REPLY_MOST);
	memset(gdb->reply + gdb->length, c, times);
	gdb->length += times;
	return 0;
}

/*
 * Adds the data byte `c` of a packet to the reply. If `c` is '*' (repetition) or '}' (escape), also receives
 * the byte after it and adds the bytes that both together stand for.
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
		if (capture_now() >= end) /* the server sends bytes without end, but no packet */
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

static int send_packet(struct gdb *gdb, const char *packet)
{
	char frame[PACKET_MOST + FRAME + 1];
	unsigned char sum = 0;
	int length;

	for (const char *at = packet; *at; at++)
		sum = (unsigned char)(sum + (unsigned char)*at);
	length = snprintf(frame, sizeof(frame), "$%.*s#%02x", (int)PACKET_MOST, packet, sum);
	return put(gdb, frame, (size_t)length);
}

/* Waits for a reply and acknowledges it. Asks for it again if it arrives damaged. */
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

/*
 * Returns whether the reply reports that the machine was halted ("T02thread:01;"). The server may send such a
 * reply at any time.
 */
static bool is_stop(const struct gdb *gdb)
{
	return gdb->length >= 3 && (gdb->reply[0] == 'T' || gdb->reply[0] == 'S') &&
	       hex_digit(gdb->reply[1]) >= 0 && hex_digit(gdb->reply[2]) >= 0;
}

int gdb_command(struct gdb *gdb, const char *packet, const char **reply)
{
	int error = send_packet(gdb, packet);

	for (unsigned i = 0; !error && (i == 0 || (is_stop(gdb) && i < STOPS)); i++)
		error = await_reply(gdb, gdb->timeout_ms);
	*reply = gdb->reply;
	return error;
}

/* Sends a packet and returns whether the reply was OK. */
static bool gdb_command_ok(struct gdb *gdb, const char *packet)
{
	const char *reply;

	return gdb_command(gdb, packet, &reply) == 0 && strcmp(reply, "OK") == 0;
}

/*
 * Sends a packet and decodes its reply from hexadecimal digits, at most `room` bytes. "xx" stands for an
 * unknown byte, which becomes 0.
 */
static int gdb_command_bytes(struct gdb *gdb, const char *packet, void *bytes, size_t room, size_t *size)
{
	unsigned char *to = bytes;
	const char *reply;
	int error = gdb_command(gdb, packet, &reply);

	if (error)
		return error;
	/* Errors are "E14" (an odd length) and "E.text". Any other reply that begins with E is data. */
	if (gdb->length == 0 || gdb->length % 2 || strncmp(reply, "E.", 2) == 0)
		return capture_fail(CAPTURE_E_FORMAT, "%s: packet %.40s refused: '%.20s'", gdb->address,
				    packet, reply);
	for (*size = 0; *size < room && *size * 2 + 1 < gdb->length; ++*size) {
		const char *digit = reply + *size * 2;
		int high = digit[0] == 'x' ? 0 : hex_digit(digit[0]),
		    low = digit[1] == 'x' ? 0 : hex_digit(digit[1]);

		if (high < 0 || low < 0)
			return capture_fail(CAPTURE_E_FORMAT,
					    "%s: packet %.40s: the reply is not hexadecimal", gdb->address,
					    packet);
		to[*size] = (unsigned char)(high << 4 | low);
	}
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

/* Takes the packet size from the server's list of features. */
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

	if (error)
		return error;
	/* A reply comes only if the machine halts by itself. */
	error = await_reply(gdb, ms);
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
	/* no answer: the machine is running, and the server answers only after the machine was halted */
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

/*
 * A machine that is read through gdb's remote protocol: QEMU's -s, or a board's debug probe. The machine is
 * halted from the first packet to the last, because memory cannot be read otherwise. Addresses are physical
 * if the server supports that (QEMU), otherwise virtual.
 */

/* largest number of bytes of memory to read, in addition to reads of the user's ranges */
#define MOST_READ     (UINT64_C(256) << 20)
#define PHYSICAL_END  (UINT64_C(1) << 52)
#define MOST_THREADS  4096u
#define GENERAL_BYTES 4096u /* largest size, in bytes, of the registers of one CPU */
#define THREAD_NAME   44u

struct peer_gdb {
	struct capture_peer peer;
	struct gdb gdb;
	const char *address;
	/* `read`: bytes of memory read so far; `allowed`: largest value that `read` may reach */
	uint64_t read, allowed;
	double begin; /* time at which we halted the machine */
	/* names of the server's threads, one for each CPU; NULL: the server has no threads */
	char (*thread)[THREAD_NAME];
	uint32_t threads;
};

/*
 * Reads memory in pieces of gdb.most bytes. `address` is physical or virtual: the kind that was selected
 * last.
 */
static int read_all(struct peer_gdb *peer, uint64_t address, unsigned char *to, size_t bytes)
{
	int error = 0;

	for (size_t part; bytes && !error; bytes -= part, to += part, address += part) {
		part = bytes < peer->gdb.most ? bytes : peer->gdb.most;
		error = capture_check_interrupt(peer->address);
		if (!error)
			error = gdb_read_memory(&peer->gdb, address, to, part);
	}
	return error;
}

static int gdb_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct peer_gdb *peer = context;

	if (bytes > peer->allowed - peer->read) {
		capture_fail(CAPTURE_E_FORMAT,
			     "%s: the trace refers to more than %" PRIu64 " MiB of memory: "
			     "is it damaged?",
			     peer->address, peer->allowed >> 20);
		return KTREAD_E_SYSTEM;
	}
	peer->read += bytes;
	return read_all(peer, physical, buffer, bytes) ? KTREAD_E_SYSTEM : 0;
}

static int open_memory(struct peer_gdb *peer, const struct capture_ranges *ranges)
{
	static const struct ktread_memory_ops ops = { .read = gdb_read, .message = capture_memory_message };
	struct ktread_range all = { 0, PHYSICAL_END };
	int status;

	peer->peer.by_virtual = !gdb_command_ok(&peer->gdb, "Qqemu.PhyMemMode:1");
	peer->peer.searchable = ranges->count != 0;
	peer->allowed = MOST_READ;
	for (uint32_t i = 0; i < ranges->count; i++)
		peer->allowed += 2 * ranges->range[i].length;
	if (peer->peer.by_virtual)
		all.length = UINT64_MAX;
	status = ranges->count
			 ? ktread_memory_open(&peer->peer.memory, &ops, peer, ranges->range, ranges->count)
			 : ktread_memory_open(&peer->peer.memory, &ops, peer, &all, 1);
	return status < 0 ? capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message()) : 0;
}

static int gdb_halt(struct capture_peer *peer)
{
	(void)peer; /* the machine has been halted since the connection was opened */
	return 0;
}

static int gdb_resume(struct capture_peer *base)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;

	if (!base->halted)
		return 0;
	base->halted = false;
	if (!base->by_virtual)
		gdb_command_ok(&peer->gdb, "Qqemu.PhyMemMode:0");
	if (gdb_command_ok(&peer->gdb, "D")) {
		base->pause = capture_now() - peer->begin;
		return 0;
	}
	return capture_fail(CAPTURE_E_SYSTEM, "%s: cannot detach (packet D): the machine may still be halted",
			    peer->address);
}

static int gdb_let_run(struct capture_peer *base, int ms)
{
	return gdb_run_for(&((struct peer_gdb *)base)->gdb, ms);
}

/* Adds the threads in `list`, the part of a reply "mNAME,NAME…" after the "m". Each thread is a CPU. */
static int add_threads(struct peer_gdb *peer, const char *list)
{
	const char *id = list;

	do { /* Fail if a list is empty, because the caller would ask for more lists without end. */
		size_t length = strcspn(id, ",");
		char(*grown)[THREAD_NAME];

		if (length == 0 || length >= THREAD_NAME)
			return capture_fail(CAPTURE_E_FORMAT, "%s: the list of threads has an invalid name",
					    peer->address);
		grown = realloc(peer->thread, (peer->threads + 1) * sizeof(*peer->thread));
		if (!grown)
			return capture_fail_errno("registers");
		peer->thread = grown;
		snprintf(peer->thread[peer->threads++], THREAD_NAME, "%.*s", (int)length, id);
		id += length;
		id += *id == ',';
	} while (*id && peer->threads < MOST_THREADS);
	return 0;
}

static int list_threads(struct peer_gdb *peer)
{
	const char *reply;
	int error = gdb_command(&peer->gdb, "qfThreadInfo", &reply);

	while (!error && reply[0] == 'm' && peer->threads < MOST_THREADS) {
		error = add_threads(peer, reply + 1);
		if (!error)
			error = gdb_command(&peer->gdb, "qsThreadInfo", &reply);
	}
	return error;
}

/* Makes later packets refer to CPU `cpu`. A probe without threads has only CPU 0. */
static int select_cpu(struct peer_gdb *peer, uint32_t cpu)
{
	char packet[THREAD_NAME + 2];

	if (cpu >= peer->threads)
		return cpu == 0 ? 0
				: capture_fail(CAPTURE_E_FORMAT, "%s: no CPU %" PRIu32, peer->address, cpu);
	snprintf(packet, sizeof(packet), "Hg%s", peer->thread[cpu]);
	return gdb_command_ok(&peer->gdb, packet)
		       ? 0
		       : capture_fail(CAPTURE_E_FORMAT, "%s: no thread %s", peer->address, peer->thread[cpu]);
}

static int gdb_registers(struct capture_peer *base, uint16_t machine, char **text)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;
	int error = list_threads(peer);

	for (uint32_t cpu = 0; !error && (cpu == 0 || cpu < peer->threads); cpu++) {
		unsigned char bytes[GENERAL_BYTES];
		size_t size;

		error = select_cpu(peer, cpu);
		if (!error)
			error = gdb_command_bytes(&peer->gdb, "g", bytes, sizeof(bytes), &size);
		if (!error)
			error = capture_registers_of_gdb(text, cpu, machine, bytes, size);
	}
	return error;
}

static int gdb_read_pages(struct capture_peer *base, struct capture_stack_page *page, unsigned pages)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;

	if (!base->by_virtual && !gdb_command_ok(&peer->gdb, "Qqemu.PhyMemMode:0"))
		return 0;
	for (unsigned i = 0; i < pages; i++)
		page[i].readable = select_cpu(peer, page[i].cpu) == 0 &&
				   read_all(peer, page[i].address, page[i].bytes, sizeof(page[i].bytes)) == 0;
	if (!base->by_virtual && !gdb_command_ok(&peer->gdb, "Qqemu.PhyMemMode:1"))
		return capture_fail(CAPTURE_E_ABSENT, "%s: cannot read physical addresses any more",
				    peer->address);
	return 0;
}

static void gdb_close_peer(struct capture_peer *base)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;

	gdb_resume(base);
	ktread_memory_close(base->memory);
	gdb_close(&peer->gdb);
	free(peer->thread);
	free(peer);
}

int capture_peer_open_gdb(struct capture_peer **opened, const char *address,
			  const struct capture_ranges *ranges, int timeout_ms)
{
	static const struct capture_peer_ops ops = { .halt = gdb_halt,
						     .resume = gdb_resume,
						     .let_run = gdb_let_run,
						     .registers = gdb_registers,
						     .read_pages = gdb_read_pages,
						     .close = gdb_close_peer };
	struct peer_gdb *peer = calloc(1, sizeof(*peer));
	int error;

	if (!peer)
		return capture_fail_errno("%s", address);
	peer->peer.ops = &ops;
	peer->address = address;
	error = gdb_open(&peer->gdb, address, timeout_ms);
	if (error) {
		free(peer);
		return error;
	}
	*opened = &peer->peer;
	peer->peer.halted = true;
	peer->begin = capture_now();
	error = gdb_await_halt(&peer->gdb);
	if (!error)
		error = open_memory(peer, ranges);
	/* Only QEMU supports physical addresses, and QEMU halts a running guest when a debugger connects. */
	peer->peer.was_running = peer->gdb.was_running || !peer->peer.by_virtual;
	return error;
}
