/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A machine by gdb's remote protocol: QEMU's -s, or a board's debug probe. It is halted from the first packet to
 * the last, for memory cannot be read otherwise. Physical addresses where the other side has that mode (QEMU), else
 * the CPU's own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "frequency.h"
#include "gdb.h"
#include "peer.h"
#include "registers.h"

#define MOST_READ \
	(UINT64_C(256) << 20) /* of memory that is not searched: a descriptor that claims more lies */
#define PHYSICAL_END  (UINT64_C(1) << 52)
#define MOST_THREADS  4096u
#define GENERAL_BYTES 4096u /* of a CPU's registers */

struct peer_gdb {
	struct capture_peer peer;
	struct gdb gdb;
	const char *address;
	uint64_t read, allowed; /* bytes of memory */
	double begin;		/* when it was halted */
};

static int gdb_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct peer_gdb *peer = context;
	unsigned char *to = buffer;

	if (bytes > peer->allowed - peer->read) {
		capture_fail(CAPTURE_E_FORMAT, "%s: what is found in memory claims more than %" PRIu64 " MiB",
			     peer->address, peer->allowed >> 20);
		return KTREAD_E_SYSTEM;
	}
	peer->read += bytes;
	while (bytes) {
		size_t part = bytes < peer->gdb.most ? bytes : peer->gdb.most;

		if (gdb_read_memory(&peer->gdb, physical, to, part) != 0)
			return KTREAD_E_SYSTEM;
		to += part;
		physical += part;
		bytes -= part;
	}
	return 0;
}

static int open_memory(struct peer_gdb *peer, const struct capture_ranges *ranges)
{
	static const struct ktread_memory_ops ops = { .read = gdb_read };
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
	(void)peer; /* since it was opened */
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
	return capture_fail(CAPTURE_E_SYSTEM,
			    "%s: does not let go (packet D): the machine may still be halted", peer->address);
}

/* Registers of one thread, which is a CPU. */
static int add_thread(struct peer_gdb *peer, const char *id, size_t length, uint32_t cpu, uint16_t machine,
		      char **text)
{
	unsigned char bytes[GENERAL_BYTES];
	char packet[64];
	size_t size;
	int error;

	if (length == 0 || length > 40)
		return capture_fail(CAPTURE_E_FORMAT, "%s: no name of a thread", peer->address);
	snprintf(packet, sizeof(packet), "Hg%.*s", (int)length, id);
	if (!gdb_command_ok(&peer->gdb, packet))
		return capture_fail(CAPTURE_E_FORMAT, "%s: no thread %.*s", peer->address, (int)length, id);
	error = gdb_command_bytes(&peer->gdb, "g", bytes, sizeof(bytes), &size);
	return error ? error : capture_registers_of_gdb(text, cpu, machine, bytes, size);
}

static int gdb_registers(struct capture_peer *base, uint16_t machine, char **text)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;
	const char *packet = "qfThreadInfo";
	uint32_t cpus = 0;
	int error = 0;

	while (!error && cpus < MOST_THREADS) {
		const char *reply;
		char *list;

		error = gdb_command(&peer->gdb, packet, &reply);
		if (error || reply[0] != 'm')
			break;
		list = strdup(reply + 1); /* the next command replaces the reply */
		if (!list)
			return capture_fail_errno("registers");
		for (const char *id = list; !error && *id && cpus < MOST_THREADS; id += *id == ',') {
			size_t length = strcspn(id, ",");

			error = add_thread(peer, id, length, cpus++, machine, text);
			id += length;
		}
		free(list);
		packet = "qsThreadInfo";
	}
	if (!error && cpus == 0) { /* a probe without threads: the CPU that it is at */
		unsigned char bytes[GENERAL_BYTES];
		size_t size;

		error = gdb_command_bytes(&peer->gdb, "g", bytes, sizeof(bytes), &size);
		if (!error)
			error = capture_registers_of_gdb(text, 0, machine, bytes, size);
	}
	return error;
}

static void gdb_close_peer(struct capture_peer *base)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;

	gdb_resume(base);
	ktread_memory_close(base->memory);
	gdb_close(&peer->gdb);
	free(peer);
}

int capture_peer_open_gdb(struct capture_peer **opened, const char *address,
			  const struct capture_ranges *ranges, int timeout_ms)
{
	static const struct capture_peer_ops ops = { gdb_halt, gdb_resume, gdb_registers, gdb_close_peer };
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
	return error ? error : open_memory(peer, ranges);
}
