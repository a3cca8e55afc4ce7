/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes process traces, byte by byte as the formats are documented, for tests of programs that read them.
 * Shares no code with the reader, and does not use the structures that the reader shares with kernels.
 *
 *	struct put put = put_trace(PUT_DRAGONFLY);
 *	put_call(&put, 5, 2, (uint64_t[]){ 0x1000, 0 });
 *	put_ret(&put, 5, 0, 3);
 */
#ifndef PROC_PUT_H
#define PROC_PUT_H

#include "unit/support/ktread_support.h"

enum put_format { PUT_KTRX, PUT_DRAGONFLY, PUT_FREEBSD0, PUT_FREEBSD0_I386, PUT_FREEBSD1 };

struct put {
	struct bytes bytes;
	enum put_format format;
	/* The following fields apply to the records that are added next. */
	uint32_t pid, tid, cpu;
	const char
		*name; /* name of the process; in ktrace's own format it is a separate record: put_name() */
	uint64_t ns;   /* time of the next record in ns since 1970; each record adds 125 µs */
	/* number of records that were lost before the next record; becomes 0 after that record */
	uint32_t lost;
	/* flags of the next record: KTRX_PROC_CUT = 1, KTRX_PROC_QUEUED = 2; become 0 after that record */
	uint32_t flags;
	size_t record; /* offset in `bytes` at which the last record begins */
};

/* Returns a trace without records. In ktrace's own format it has the head of a session. */
struct put put_trace(enum put_format format);
/* Adds another session's head in ktrace's own format, as in a file to which a session was appended. */
void put_head(struct put *put);

void put8(struct put *put, unsigned value);
void put16(struct put *put, unsigned value);
void put32(struct put *put, uint32_t value);
void put64(struct put *put, uint64_t value);
/* Adds a number that is as wide as a register of the format's machine. */
void put_word(struct put *put, uint64_t value);
void put_bytes(struct put *put, const void *bytes, size_t size);
/* Adds a text without its NUL. */
void put_text(struct put *put, const char *text);
void put_zeroes(struct put *put, size_t bytes);

/* Begins a record: adds its head. */
void put_begin(struct put *put, unsigned type);
/* Completes the record after its payload was added. */
void put_end(struct put *put);

/* Adds a record whose payload is a text. */
void put_line(struct put *put, unsigned type, const char *text);
void put_name(struct put *put, const char *name);
void put_call(struct put *put, unsigned number, unsigned args, const uint64_t *arg);
void put_ret(struct put *put, unsigned number, int error, int64_t result);
void put_io(struct put *put, int fd, int write, const void *data, size_t size);
void put_sig(struct put *put, unsigned signal, uint64_t handler, int code, uint64_t mask);
/*
 * Adds a context switch. `message` is what the thread waits for. It is NULL if this is unknown, or if the
 * format does not have it.
 */
void put_switch(struct put *put, int out, int voluntary, const char *message);
void put_struct(struct put *put, const char *name, const void *bytes, size_t size);
void put_array(struct put *put, const char *name, size_t element, const void *bytes, size_t size);
void put_fault(struct put *put, uint64_t address, unsigned access);
void put_fault_end(struct put *put, int result);

/* Overwrites bytes of the last record, at offset `at` from its start. */
void put_over(struct put *put, size_t at, uint64_t value, unsigned bytes);
/* Writes the trace to DIRECTORY/NAME.ktrace and frees it. Ends the program on errors. */
void put_save(struct put *put, const char *directory, const char *name);

#endif
