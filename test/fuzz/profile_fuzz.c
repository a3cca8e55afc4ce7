/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the data that `ktrace profile` and `ktrace why --qmp` read from QEMU and from the kernel's
 * ELF file. The bytes up to the first 0 are used as replies in gdb's protocol, with registers and memory, and
 * as the text of QEMU's "info registers". The bytes after it are call frame information: FRAME_BYTES bytes
 * for each function.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/gdb.h"
#include "observe/observe.h"
#include "profile/stack.h"

#define MOST	    16384u
#define FRAME_BYTES 25u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "profile: %s\n", what);
	abort();
}

/* The part of the input that is call frame information. */
struct frames {
	const uint8_t *bytes;
	size_t size, used;
	struct symbols_frame frame; /* the last result of find_frame() */
};

static int64_t word_at(const uint8_t *bytes)
{
	int64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/*
 * Returns the next function's call frame information, whatever the address is. After the last function,
 * begins with the first one again.
 */
static const struct symbols_frame *find_frame(void *context, uint64_t address)
{
	struct frames *frames = context;
	const uint8_t *bytes;

	(void)address;
	if (frames->size < FRAME_BYTES)
		return NULL;
	if (frames->size - frames->used < FRAME_BYTES)
		frames->used = 0;
	bytes = frames->bytes + frames->used;
	frames->used += FRAME_BYTES;
	frames->frame = (struct symbols_frame){ .by_frame = bytes[0] & 1,
						.is_outermost = bytes[0] & 2,
						.back_stored = bytes[0] & 4,
						.frame_stored = bytes[0] & 8,
						.cfa = word_at(bytes + 1),
						.back = word_at(bytes + 9),
						.frame = word_at(bytes + 17) };
	return bytes[0] & 16 ? NULL : &frames->frame;
}

/* Walks a stack. The memory that contains the stack comes from the next replies. */
static void walk(struct gdb *gdb, uint16_t machine, const struct stack_registers *registers,
		 struct frames *frames)
{
	unsigned char memory[STACK_WINDOW];
	struct stack_walk walk;
	uint64_t address;
	size_t size, got;
	unsigned pieces = 0;

	stack_walk_begin(&walk, machine, registers, find_frame, frames);
	while (stack_walk_wants(&walk, &address, &size)) {
		check(size <= sizeof(memory), "a walk asks for too much");
		check(pieces++ <= STACK_PLACES, "a walk makes no progress");
		if (gdb_batch_reply(gdb) != 0 || gdb_reply_bytes(gdb, memory, size, &got) != 0)
			got = 0;
		stack_walk_put(&walk, address, memory, got);
	}
	check(walk.places >= 1 && walk.places <= STACK_PLACES, "a walk has too many places");
}

/*
 * Converts each line to a packet with a valid checksum, because the client discards packets with a wrong one.
 * Returns the size of all packets. If the bytes begin with '$', they are used unchanged.
 */
static size_t make_packets(uint8_t packets[3 * MOST], const uint8_t *bytes, size_t size)
{
	size_t used = 0;
	uint8_t sum = 0;

	if (size && *bytes == '$') {
		memcpy(packets, bytes, size);
		return size;
	}
	for (size_t n = 0; n < size && used < 3 * MOST - 8; n++) {
		if (n == 0 || bytes[n - 1] == '\n') {
			packets[used++] = '$';
			sum = 0;
		}
		if (bytes[n] == '\n') {
			used += (size_t)sprintf((char *)packets + used, "#%02x", sum);
		} else {
			packets[used++] = bytes[n];
			sum = (uint8_t)(sum + bytes[n]);
		}
	}
	return used;
}

static void read_replies(const uint8_t *bytes, size_t size, uint16_t machine)
{
	static uint8_t packets[3 * MOST];
	const size_t replies = strnlen((const char *)bytes, size);
	const size_t length = make_packets(packets, bytes, replies);
	struct frames frames = { .size = 0 };

	static struct gdb gdb;
	unsigned char registers[4096];
	struct stack_registers read;
	size_t got;
	int ends[2];

	if (replies < size)
		frames = (struct frames){ .bytes = bytes + replies + 1, .size = size - replies - 1 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return;
	gdb = (struct gdb){ .fd = ends[0], .address = "fuzz", .timeout_ms = 1000 };
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	check(send(ends[1], packets, length, MSG_NOSIGNAL) == (ssize_t)length, "the socket is too small");
	close(ends[1]);
	while (gdb_batch_reply(&gdb) == 0) {
		gdb_is_stop(&gdb);
		if (gdb_reply_bytes(&gdb, registers, sizeof(registers), &got) == 0 &&
		    profile_registers_read(&read, machine, registers, got))
			walk(&gdb, machine, &read, &frames);
	}
	gdb_close(&gdb);
}

static void read_text(const uint8_t *bytes, size_t size, uint16_t machine)
{
	static struct observe observe;
	struct findings findings = { 0 };
	char *text = strndup((const char *)bytes, size);

	observe = (struct observe){ .machine = machine, .state = "running" };
	for (unsigned n = 0; text && n < OBSERVE_SAMPLES; n++)
		observe_add(&observe, text);
	check(observe.cpus <= OBSERVE_CPUS, "too many CPUs");
	observe_judge(&findings, &observe, NULL);
	check(findings.count > 0, "no finding");
	findings_free(&findings);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_RISCV };

	size = size < MOST ? size : MOST;
	for (unsigned n = 0; n < 3; n++) {
		read_replies(bytes, size, machines[n]);
		read_text(bytes, size, machines[n]);
	}
	return 0;
}
