/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A file of hardware trace: its streams, their clocks, and the bytes of their buffers or of rings in memory.
 */
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
 * Converts the time of a unit to timestamps. A moment is a reading of both clocks at the same time. Times
 * between two moments are interpolated. Times before the first and after the last moment are extrapolated by
 * the clocks' frequencies. If there is no moment, the unit's time is used as the timestamp.
 */

struct hwt_moment {
	uint64_t unit_time, stamp;
	uint64_t unit_frequency; /* frequency of the unit's clock; 0: unknown */
};

struct hwt_clock {
	struct hwt_moment *moment;
	size_t moments;
	uint32_t room;
	uint64_t frequency; /* frequency of the clock of the timestamps; 0: unknown */
	unsigned bits;	    /* width in bits of the time in the unit's packets */
};

/* Returns 0, or -1 if out of memory. */
int hwt_clock_add(struct hwt_clock *clock, const struct hwt_moment *moment);
/* Sorts the moments. Call it after the last hwt_clock_add() and before hwt_clock_stamp(). */
void hwt_clock_settle(struct hwt_clock *clock);
uint64_t hwt_clock_stamp(const struct hwt_clock *clock, uint64_t unit_time);
void hwt_clock_free(struct hwt_clock *clock);

/*
 * Maximum size, in bytes, of the packets that the reader appends to a ring. These packets contain what the
 * unit had recorded but not written yet: the last branches, and the address that was reached. Without them,
 * the trace of a machine that was killed would lack its last branches, and the decoder would follow code that
 * was never executed.
 */
#define HWT_TAIL_MOST 64u

/*
 * The store of a file's bytes. It reads bytes when they are needed: from the file itself or, if the file is
 * compressed or a pipe, from a temporary copy. So only the parts of a stream that are used are in memory.
 */

struct hwt_store {
	int descriptor;
	bool copies; /* true: hwt_store_put() copies bytes into a temporary file */
	uint64_t size;
};

/*
 * Makes bytes at *offset of the file available in the store, and sets *offset to their offset in the store.
 * Returns 0, or KTREAD_E_SYSTEM with errno.
 */
int hwt_store_put(struct hwt_store *store, uint64_t *offset, const void *bytes, size_t size);
/*
 * Reads bytes from the store. Returns how many bytes were read: fewer than `size` at the end, or if reading
 * fails.
 */
size_t hwt_store_read(const struct hwt_store *store, uint64_t offset, void *to, size_t size);

/*
 * Internal structure of struct hwt_file. file.c owns it; records.c or rings.c fills it in. It contains only
 * the positions of the streams' bytes (struct hwt_chunk). A piece is read into memory when it is first
 * needed.
 */

#define HWT_STREAMS_MOST  4096u
#define HWT_WARNINGS_MOST 64u
#define HWT_NO_CPU	  0xffffffffu

/* Bytes of a stream that are contiguous in the store. */
struct hwt_chunk {
	uint64_t position; /* position of the first byte, counted from the unit's creation */
	uint64_t offset;   /* offset of the first byte in the store */
	uint64_t size;
	/* set if the chunk begins a new piece, even if its position is directly after the previous chunk */
	bool torn;
};

struct hwt_joined {
	struct hwt_piece piece; /* piece.bytes is NULL until the piece has been read into memory */
	size_t first, chunks;	/* indexes into hwt_unit_stream.chunk */
};

struct hwt_unit_stream {
	/* Must be first: hwt_stream_stamp() casts from struct hwt_stream. */
	struct hwt_stream stream;
	/* number of the context in the file; needed because several contexts may have the same ident */
	uint32_t session;
	struct hwt_chunk *chunk;
	size_t chunks;
	uint32_t chunk_room;
	struct hwt_joined *joined;
	size_t pieces;
	uint64_t written; /* number of bytes that the unit has written, from the last BUFFER record */
	/* Packets that follow the last chunk, see HWT_TAIL_MOST. */
	unsigned char tail[HWT_TAIL_MOST];
	size_t tail_size;
	struct hwt_clock clock;
};

/* The mapping of a file at an address, or the unmapping of an address range. */
struct hwt_mapping {
	uint32_t type; /* type of the record: KTRX_HWT_MMAP, MUNMAP, EXECUTABLE or KERNEL */
	uint32_t pid;
	uint64_t stamp;
	uint64_t address, size, offset;
	uint32_t access;
	char *path; /* path of the file; "" for MUNMAP */
};

/* A range of code bytes in the store. */
struct hwt_code {
	uint64_t stamp, address, space, offset;
	uint32_t size;
};

/* A CLOCK record, with the context and the unit to which it applies. */
struct hwt_clock_record {
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
	struct hwt_clock_record *clock;
	size_t clock_records;
	uint32_t clock_room;
	char *warning[HWT_WARNINGS_MOST];
	size_t warnings;
	uint64_t damaged;
	char message[512];
};

/* Sets the text of the error, and returns `code`. */
int hwt_file_fail(struct hwt_file *file, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int hwt_file_no_memory(struct hwt_file *file);
/*
 * Adds a warning, which the caller must print. If there are too many warnings, the last one states that there
 * are more.
 */
void hwt_file_warn(struct hwt_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a warning about data that was changed after it was written, and counts it as damage. */
void hwt_file_damage(struct hwt_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* These functions return 0 or an error. */
int hwt_file_add_chunk(struct hwt_file *file, struct hwt_unit_stream *stream, const struct hwt_chunk *chunk);
int hwt_file_add_code(struct hwt_file *file, const struct hwt_code *code);
/*
 * Adds a stream, whose clock and pieces hwt_file_open() makes later. Returns NULL if there are too many
 * streams, or if out of memory; then the message is in `file`.
 */
struct hwt_unit_stream *hwt_file_add_stream(struct hwt_file *file);

int hwt_records_read(struct hwt_file *file);
/* Returns true if the file contains rings of a software trace unit. */
bool hwt_rings_is(const struct hwt_store *store);
int hwt_rings_read(struct hwt_file *file);

#endif
