/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace as a reader inside the kernel finds it, while writers may go on: rings, rows of the event table,
 * records. And the stream that dumps go through.
 */
#ifndef KTRACE_CORE_READER_H
#define KTRACE_CORE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "ktrace/dump.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- rings ------------------------------------------------------------------------------------ */

/* The ring table, NULL if there is none that can be read in place; *rings: its rows. */
const struct ktrx_ring *ktrace_root_rings(const struct ktrx_root *root, uint32_t *rings);

/*
 * Index of the next free slot, now. While the CPU is not online what is added to its word goes to the boot
 * ring, and its own ring is empty.
 */
uint64_t ktrace_ring_head(const struct ktrx_ring *ring);

/* The ring's number: its row in the ring table. */
uint32_t ktrace_ring_number(const struct ktrx_ring *ring);

/*
 * Copies slots that CPUs may be writing. A writer stores a slot's first word last, so that word is loaded
 * first. The caller must look at the ring's head after that: slots may have been overwritten.
 */
static inline void ktrace_copy_slots(void *to, const void *from, uint32_t slots)
{
	volatile uint64_t *out = (volatile uint64_t *)to;
	const volatile uint64_t *in = (const volatile uint64_t *)from;

	for (uint32_t n = 0; n < slots; n++, out += 4, in += 4) {
		out[0] = __atomic_load_n(in, __ATOMIC_ACQUIRE);
		out[1] = in[1];
		out[2] = in[2];
		out[3] = in[3];
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Copies whole 64-bit words, each in one load: what is copied may change meanwhile. */
static inline __attribute__((__unused__)) void ktrace_copy_words(void *to, const void *from, size_t bytes)
{
	volatile uint64_t *out = (volatile uint64_t *)to;
	const volatile uint64_t *in = (const volatile uint64_t *)from;

	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		out[i] = in[i];
}

/* ---- rows ------------------------------------------------------------------------------------- */

/*
 * Rows of the event table as a reader inside the kernel sees them: found by id through the root, and looked
 * at no further than their own size, whatever they hold.
 */

/* Which of a row's strings; the name of field n is KTRACE_ROW_FIELDS + 2 * n, its unit the next one. */
enum { KTRACE_ROW_GROUP, KTRACE_ROW_NAME, KTRACE_ROW_TEXT, KTRACE_ROW_FILE, KTRACE_ROW_FIELDS };

/*
 * Row of event `id`, from 1; NULL if the table that can be read in place has none, or not all of its strings.
 */
const struct ktrx_event *ktrace_row_find(const struct ktrx_root *root, uint32_t id);

/*
 * The row of the event that a record with that id is of, NULL as above. *place: the row of the place that
 * recorded, NULL if the id is the event's own.
 */
const struct ktrx_event *ktrace_row_of(const struct ktrx_root *root, uint32_t id,
				       const struct ktrx_place **place);

/*
 * The file that belongs to the line of the place, or of the event if there is no place; empty if it does not
 * end within the row.
 */
const char *ktrace_row_file(const struct ktrx_event *row, const struct ktrx_place *place);

/* The row's n-th string; empty if it does not end within the row. */
const char *ktrace_row_string(const struct ktrx_event *row, uint32_t n);

/* Bytes of a field of fixed size, 0 for others. */
uint32_t ktrace_field_bytes(uint8_t type);

/* A field of 1 to 8 bytes, sign extended if its type has a sign. */
uint64_t ktrace_field_value(const uint8_t *from, uint8_t type);

/* ---- walks ------------------------------------------------------------------------------------ */

/*
 * Walks the records of one ring from the kernel's own side, oldest or newest first, while writers may go on.
 * Only whole records are returned: what is empty, in flight, torn, or overwritten since the head was taken is
 * passed over.
 */

struct ktrace_walk {
	const struct ktrx_ring *ring;
	uint64_t index, head; /* what is left: from index up to, but without, head */
	uint64_t reference;   /* whole stamp of the anchor that the next record's stamp is counted from */
	/* newest first only: slots that were reserved again before they could be read … */
	uint64_t overwritten;
	uint64_t unreadable; /* … and slots that hold no part of a whole record */
};

struct ktrace_walk_record {
	const struct ktrx_ring *ring;
	uint64_t index;	    /* of its first slot */
	uint64_t stamp;	    /* whole */
	uint64_t caller[2]; /* 0: not recorded */
	uint32_t event;
	uint32_t thread;
	uint32_t cpu;	/* KTRX_NO_CPU if unknown */
	uint32_t bytes; /* of payload that are here; those behind the last field mean nothing */
	uint8_t payload[KTRX_RECORD_MAX_PAYLOAD];
};

/* From the oldest slot that counts up to `head`, an index got from the ring before. */
void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head);

/* The next record, anchors excepted; false at the end. */
bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record);

/* From the newest slot, as the ring is now, back to the oldest that counts. */
void ktrace_walk_start_newest(struct ktrace_walk *walk, const struct ktrx_ring *ring);

/* The record before, anchors excepted; false at the end, or where the ring has been overwritten. */
bool ktrace_walk_previous(struct ktrace_walk *walk, struct ktrace_walk_record *record);

/* ---- dumps: dump.c ---------------------------------------------------------------------------- */

/*
 * The way from a dump to its sink: bytes gather in the sink's buffer and leave in pieces of its size. The
 * first error sticks; what comes after it is dropped, and the end of the dump reports it.
 */

struct ktrace_stream {
	struct ktrace_sink *sink;
	uint64_t *heads; /* of each ring, as frozen when the dump began */
	uint32_t rings;
	unsigned char *buffer; /* behind the heads */
	size_t size, fill;     /* bytes of it, bytes waiting in it */
	uint64_t at;	       /* bytes produced so far */
	int error;
};

/*
 * Splits the sink's buffer, and freezes the heads of up to `limit` rings of `root`: KTRACE_OUTPUT_ARGUMENT if
 * the buffer is too small for them or the root has no ring table.
 */
int ktrace_stream_open(struct ktrace_stream *stream, struct ktrace_sink *sink, const struct ktrx_root *root,
		       uint32_t limit);

/* Tells the sink how much will come; its error sticks. */
void ktrace_stream_begin(struct ktrace_stream *stream, uint64_t bytes);

/* Room for the next bytes, at most KTRACE_STREAM_ROOM, to be filled in place; aligned if all before was. */
void *ktrace_stream_room(struct ktrace_stream *stream, size_t bytes);
#define KTRACE_STREAM_ROOM 1024u

void ktrace_stream_put(struct ktrace_stream *stream, const void *data, uint64_t bytes);
void ktrace_stream_zero(struct ktrace_stream *stream, uint64_t bytes);
int ktrace_stream_close(struct ktrace_stream *stream);

#endif
