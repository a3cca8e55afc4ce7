/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A machine that is read through gdb's remote protocol: QEMU's -s, or a board's debug probe. The machine is
 * halted from the first packet to the last, because memory can be read only while it is halted. Addresses are
 * physical if the server supports that (QEMU), otherwise virtual.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_state.h"
#include "wait.h"
#include "error.h"
#include "gdb.h"
#include "extract.h"

/* maximum number of bytes of memory to read outside the user's ranges */
#define MOST_READ     (UINT64_C(256) << 20)
#define PHYSICAL_END  (UINT64_C(1) << 52)
#define MOST_THREADS  4096u
#define GENERAL_BYTES 4096u /* largest size, in bytes, of the registers of one CPU */
#define THREAD_NAME   44u

struct peer_gdb {
	struct capture_peer peer;
	struct gdb gdb;
	const char *address;
	/* `read`: number of bytes of memory read so far; `allowed`: maximum number */
	uint64_t read, allowed;
	double begin; /* time at which we halted the machine */
	/* names of the server's threads, each of which is a CPU; NULL: the server has no threads */
	char (*thread)[THREAD_NAME];
	uint32_t threads;
};

/*
 * Reads memory, at most gdb.most bytes per packet. `address` is physical or virtual, depending on which was
 * selected last.
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
	(void)peer; /* nothing to do: the machine has been halted since the connection was opened */
	return 0;
}

static int gdb_resume(struct capture_peer *base)
{
	struct peer_gdb *peer = (struct peer_gdb *)base;

	if (!base->halted)
		return 0;
	base->halted = false;
	gdb_grant(&peer->gdb);
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

	do { /* Fail if a list is empty: otherwise the caller would request further lists without end. */
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
	int error = list_threads(peer), unfinished;
	size_t length;
	FILE *lines = open_memstream(text, &length);

	if (!lines)
		return capture_fail_errno("registers");
	for (uint32_t cpu = 0; !error && (cpu == 0 || cpu < peer->threads); cpu++) {
		unsigned char bytes[GENERAL_BYTES];
		size_t size;

		error = select_cpu(peer, cpu);
		if (!error)
			error = gdb_command_bytes(&peer->gdb, "g", bytes, sizeof(bytes), &size);
		if (!error)
			capture_registers_of_gdb(lines, cpu, machine, bytes, size);
	}
	unfinished = capture_registers_finish(lines, text);
	return error ? error : unfinished;
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
	/*
	 * Physical addresses are supported only by QEMU, which halts a running guest when a debugger
	 * connects.
	 */
	peer->peer.was_running = peer->gdb.was_running || !peer->peer.by_virtual;
	return error;
}
