/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A file of hardware trace: its streams, their clocks, the bytes of their buffers, and rings in memory. */
#ifndef HWT_FILE_H
#define HWT_FILE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwt.h"
#include "ktread/ktread.h"
#include "ktrx/hwt_unit.h"

/*
 * From a unit's time to stamps. What is known are moments at which both were read; between two of them time
 * runs evenly, before the first and behind the last by the frequencies. Without a moment the unit's time is
 * the stamp.
 */

struct hwt_moment {
	uint64_t unit_time, stamp;
	uint64_t unit_frequency; /* 0: unknown */
};

struct hwt_clock {
	struct hwt_moment *moment;
	size_t moments;
	uint32_t room;
	uint64_t frequency; /* of stamps, 0: unknown */
	unsigned bits;	    /* of the unit's time that its packets have */
};

/* -1: out of memory. */
int hwt_clock_add(struct hwt_clock *clock, const struct hwt_moment *moment);
/* Behind the last that is added. */
void hwt_clock_settle(struct hwt_clock *clock);
uint64_t hwt_clock_stamp(const struct hwt_clock *clock, uint64_t unit_time);
void hwt_clock_free(struct hwt_clock *clock);

/*
 * What a ring's unit knew and had not yet written when it was stopped, as the packets that it would have
 * written: without it a machine that is killed has not run its last branches, and the decoder runs on behind
 * what was run.
 */

#define HWT_TAIL_MOST 64u

/*
 * Where a file's bytes are read when they are wanted: in the file itself, or, of one that is packed or a
 * pipe, in a temporary file that what was read of it is put into. So nothing of a stream is in memory that
 * nobody asks for.
 */

struct hwt_store {
	int descriptor;
	bool copies; /* what is put is kept */
	uint64_t size;
};

/*
 * Bytes that stand at *offset in the file: sets where the store has them. 0, or KTREAD_E_SYSTEM with errno.
 */
int hwt_store_put(struct hwt_store *store, uint64_t *offset, const void *bytes, size_t size);
/* How many of them are there: fewer than `size` behind the end, or where reading fails. */
size_t hwt_store_read(const struct hwt_store *store, uint64_t offset, void *to, size_t size);

/*
 * A file of hardware trace from inside: what file.c owns, and records.c or rings.c fill in. Of the bytes
 * themselves only the places are kept (above); a piece is put together when it is first asked for.
 */

#define HWT_STREAMS_MOST  4096u
#define HWT_WARNINGS_MOST 64u
#define HWT_NO_CPU	  0xffffffffu

/* Bytes of a stream that stand together in the store. */
struct hwt_chunk {
	uint64_t position; /* of the first, since the unit was made */
	uint64_t offset;   /* in the store */
	uint64_t size;
	bool torn; /* does not follow the one before it, whatever its position */
};

struct hwt_joined {
	struct hwt_piece piece; /* bytes: NULL until it is asked for */
	size_t first, chunks;	/* of the stream's */
};

struct hwt_unit_stream {
	/* First: hwt_stream_stamp() finds the rest by it. */
	struct hwt_stream stream;
	uint32_t session; /* which context of that ident */
	struct hwt_chunk *chunk;
	size_t chunks;
	uint32_t chunk_room;
	struct hwt_joined *joined;
	size_t pieces;
	uint64_t written; /* as BUFFER says */
	/* Packets behind the last chunk, of which the unit has only left what they tell. */
	unsigned char tail[HWT_TAIL_MOST];
	size_t tail_size;
	struct hwt_clock clock;
};

/* Code or a file that has come to lie somewhere, or is gone from there. */
struct hwt_mapping {
	uint32_t type; /* KTRX_HWT_MMAP, MUNMAP, EXECUTABLE, KERNEL */
	uint32_t pid;
	uint64_t stamp;
	uint64_t address, size, offset;
	uint32_t access;
	char *path; /* "" of MUNMAP */
};

/* Bytes of code, in the store. */
struct hwt_code {
	uint64_t stamp, address, space, offset;
	uint32_t size;
};

/* CLOCK records, for the streams that they are about. */
struct hwt_told_moment {
	struct hwt_moment moment;
	uint32_t context, unit;
};

struct hwt_file {
	char *path;
	struct hwt_store store;
	uint64_t frequency, nonce;
	uint16_t machine;
	struct hwt_unit_stream *stream;
	size_t streams;
	uint32_t stream_room;
	struct hwt_mapping *mapping;
	size_t mappings;
	uint32_t mapping_room;
	struct hwt_code *code;
	size_t codes;
	uint32_t code_room;
	struct hwt_told_moment *told;
	size_t tolds;
	uint32_t told_room;
	char *warning[HWT_WARNINGS_MOST];
	size_t warnings;
	uint64_t damaged;
	char message[512];
};

/* Sets the text and returns `code`. */
int hwt_file_fail(struct hwt_file *file, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int hwt_file_no_memory(struct hwt_file *file);
/* What is to be told in any case; behind the most it is told that there is more. */
void hwt_file_warn(struct hwt_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, of what is not as it was written: it counts as damage. */
void hwt_file_damage(struct hwt_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each: 0 or an error. */
int hwt_file_add_chunk(struct hwt_file *file, struct hwt_unit_stream *stream, const struct hwt_chunk *chunk);
int hwt_file_add_code(struct hwt_file *file, const struct hwt_code *code);
/* A new stream, its clock and pieces made by hwt_file_open(); NULL: out of memory, or too many. */
struct hwt_unit_stream *hwt_file_add_stream(struct hwt_file *file);

int hwt_records_read(struct hwt_file *file);
/* Is it a file of rings? */
bool hwt_rings_is(const struct hwt_store *store);
int hwt_rings_read(struct hwt_file *file);

#endif
