/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that read the trace inside the kernel while writers may be active: rings, event descriptors,
 * records. Also functions for the output stream of dumps.
 */
#ifndef KTRACE_CORE_READER_H
#define KTRACE_CORE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "ktrace/dump.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- rings and their slots -------------------------------------------------------------------- */

/*
 * Returns the ring table, and its number of entries in *rings; NULL if no ring table is at a virtual address,
 * where it can be read without a copy.
 */
const struct ktrx_ring *ktrace_root_rings(const struct ktrx_root *root, uint32_t *rings);

/*
 * Returns the index of the next free slot at this moment. While the ring's CPU is offline, the CPU's reserve
 * word refers to the boot ring, and the ring is empty.
 */
uint64_t ktrace_ring_head(const struct ktrx_ring *ring);

/* Returns the ring's number: its index in the ring table. */
uint32_t ktrace_ring_number(const struct ktrx_ring *ring);

/*
 * Copies slots that CPUs may be writing. A writer stores a slot's first word last, so that word is loaded
 * first. The caller must check the ring's head afterwards, because slots may have been overwritten.
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

/* Copies whole 64-bit words, each by a single load, from memory that may change at the same time. */
static inline __attribute__((__unused__)) void ktrace_copy_words(void *to, const void *from, size_t bytes)
{
	volatile uint64_t *out = (volatile uint64_t *)to;
	const volatile uint64_t *in = (const volatile uint64_t *)from;

	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		out[i] = in[i];
}

/* ---- descriptors of events and places --------------------------------------------------------- */

/*
 * Descriptors in the event table, as a reader inside the kernel sees them. A descriptor is found by its id,
 * through the root. No access goes beyond a descriptor's size, even if its content is damaged.
 */

/*
 * Indices of a descriptor's strings. String KTRACE_DESCRIPTOR_FIELDS + 2 * n is the name of field n. The
 * string after it is the unit of the field.
 */
enum {
	KTRACE_DESCRIPTOR_GROUP,
	KTRACE_DESCRIPTOR_NAME,
	KTRACE_DESCRIPTOR_TEXT,
	KTRACE_DESCRIPTOR_FILE,
	KTRACE_DESCRIPTOR_FIELDS
};

/*
 * Returns the descriptor of event `id`; ids count from 1. Returns NULL if the event table is not at a virtual
 * address, if it has no such event, or if the descriptor's strings are not complete.
 */
const struct ktrx_event *ktrace_descriptor_find(const struct ktrx_root *root, uint32_t id);

/*
 * Returns the event descriptor for a record's id, which may be the id of an event or of a place. Returns NULL
 * in the same cases as ktrace_descriptor_find(). Stores in *place the descriptor of the place that made the
 * record, or NULL if the id is that of an event.
 */
const struct ktrx_event *ktrace_descriptor_of(const struct ktrx_root *root, uint32_t id,
					      const struct ktrx_place **place);

/*
 * Returns the source file of the place, or of the event if `place` is NULL. Returns "" if the name does not
 * end within the descriptor.
 */
const char *ktrace_descriptor_file(const struct ktrx_event *row, const struct ktrx_place *place);

/* Returns the descriptor's n-th string; "" if it does not end within the descriptor. */
const char *ktrace_descriptor_string(const struct ktrx_event *row, uint32_t n);

/* Returns the size of a field type in bytes; 0 if the size is not fixed. */
uint32_t ktrace_field_bytes(uint8_t type);

/* Returns the value of a field of 1 to 8 bytes, sign-extended if its type is signed. */
uint64_t ktrace_field_value(const uint8_t *from, uint8_t type);

/* ---- walks of the records of a ring ----------------------------------------------------------- */

/*
 * Walks over the records of one ring, oldest or newest first, while writers may be active. Only complete
 * records are returned. Slots that are empty, being written, torn, or overwritten since the walk began are
 * skipped.
 */

struct ktrace_walk {
	const struct ktrx_ring *ring;
	uint64_t index, head; /* the walk has not visited the slots from `index` to `head` - 1 yet */
	/* full timestamp of the anchor from which the next record's timestamp is counted */
	uint64_t reference;
	/*
	 * number of slots that were overwritten before they could be read; counted only if the walk is newest
	 * first
	 */
	uint64_t overwritten;
	/* number of slots without a complete record; counted only if the walk is newest first */
	uint64_t unreadable;
};

struct ktrace_walk_record {
	const struct ktrx_ring *ring;
	uint64_t index;	    /* index of the record's first slot */
	uint64_t stamp;	    /* timestamp with all its bits */
	uint64_t caller[2]; /* return addresses; 0: not recorded */
	uint32_t event;
	uint32_t thread;
	uint32_t cpu;	/* number of the CPU; KTRX_NO_CPU if unknown */
	uint32_t bytes; /* number of bytes of the payload; bytes after the last field have no meaning */
	uint8_t payload[KTRX_RECORD_MAX_PAYLOAD];
};

/*
 * Starts a walk at the oldest valid slot. `head` is an index that ktrace_ring_head() returned for this ring
 * before.
 */
void ktrace_walk_start(struct ktrace_walk *walk, const struct ktrx_ring *ring, uint64_t head);

/* Reads the next record, skipping anchors. Returns false at the end. */
bool ktrace_walk_next(struct ktrace_walk *walk, struct ktrace_walk_record *record);

/* Starts a walk from the ring's newest slot back to the oldest valid slot. */
void ktrace_walk_start_newest(struct ktrace_walk *walk, const struct ktrx_ring *ring);

/*
 * Reads the previous record, skipping anchors. Returns false at the end, or when it reaches overwritten
 * slots.
 */
bool ktrace_walk_previous(struct ktrace_walk *walk, struct ktrace_walk_record *record);

/* ---- dumps: dump.c ---------------------------------------------------------------------------- */

/*
 * The output of a dump: bytes are stored in the sink's buffer, and passed to the sink when the buffer is
 * full. The first error stops all output; ktrace_stream_close() returns it.
 */

struct ktrace_stream {
	struct ktrace_sink *sink;
	uint64_t *heads; /* the head of each ring at the time when the dump began */
	uint32_t rings;
	unsigned char *buffer; /* the part of the sink's buffer after the heads */
	size_t size, fill;     /* `size`: capacity of `buffer` in bytes; `fill`: number of bytes in it */
	uint64_t at;	       /* number of bytes produced so far */
	int error;
};

/*
 * Stores the current heads of up to `limit` rings of `root` at the beginning of the sink's buffer; the rest
 * becomes the stream's buffer.
 * Returns KTRACE_OUTPUT_ARGUMENT if the buffer is too small for them or if the root has no ring table.
 */
int ktrace_stream_open(struct ktrace_stream *stream, struct ktrace_sink *sink, const struct ktrx_root *root,
		       uint32_t limit);

/* Reports the size of the dump in bytes to the sink. If the sink returns an error, there is no output. */
void ktrace_stream_begin(struct ktrace_stream *stream, uint64_t bytes);

/*
 * Reserves the next bytes, at most KTRACE_STREAM_ROOM, for the caller to fill in. The memory is aligned if
 * all earlier pieces were multiples of the alignment.
 */
void *ktrace_stream_room(struct ktrace_stream *stream, size_t bytes);
#define KTRACE_STREAM_ROOM 1024u

void ktrace_stream_put(struct ktrace_stream *stream, const void *data, uint64_t bytes);
void ktrace_stream_zero(struct ktrace_stream *stream, uint64_t bytes);
int ktrace_stream_close(struct ktrace_stream *stream);

#endif
