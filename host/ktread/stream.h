/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Streams as sources. A stream is read as if it were the dump from which it was made, so all code that reads
 * dumps can read streams. Parts of a stream may be missing, because it was truncated or damaged. Missing
 * parts read as zeros, like slots that were never written.
 */
#ifndef KTREAD_STREAM_H
#define KTREAD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/stream.h"
#include "layout.h"
#include "trace.h"

/*
 * Maximum number of bytes of decoded blocks that a reader caches. The cache should have room for one block of
 * each ring.
 */
#define KTREAD_STREAM_CACHE (UINT32_C(2) << 20)

/* Returns true if the file begins with a stream's head. */
bool ktread_stream_is(struct ktread_memory *memory);
/*
 * Replaces the trace's memory by the dump inside the stream. Options that the caller has not set get the
 * values in the stream's head. Sets *form to KTRX_STREAM_*. Returns 0 or an error.
 */
int ktread_stream_enter(struct ktread *trace, uint32_t *form);

/*
 * Uses the index of a stream to find the part of a ring that can contain the events of a time window.
 * `position` and `bytes` are the position and size of the ring in the dump, `oldest` is the offset in the
 * ring of its oldest slot, `window` contains the first and the last timestamp, as recorded. Sets *from and
 * *to to distances in bytes from the oldest slot. Returns false if the memory is not a stream with an index.
 */
bool ktread_stream_find(const struct ktread_memory *memory, uint64_t position, uint64_t bytes,
			uint64_t oldest, const uint64_t window[2], uint64_t *from, uint64_t *to);
/*
 * Uses the index of a stream to find the oldest slot of a ring of version 1. Sets *oldest to its offset in
 * the ring. Returns false if the memory is not a stream with an index, or the ring is not in the order of
 * time.
 */
bool ktread_stream_oldest(const struct ktread_memory *memory, uint64_t position, uint64_t bytes,
			  uint64_t *oldest);

/*
 * Sets the number of rings that are read at the same time. Before this call, only a few decoded blocks are
 * cached. Does nothing if the memory is not a stream.
 */
void ktread_stream_expect(struct ktread_memory *memory, uint32_t rings);

/* The index of a stream. */

struct ktread_stream_index {
	struct ktrx_stream_span *span; /* the spans; sorted by position if the index was loaded for reading */
	uint32_t spans, room;
};

/* Returns the index that is used for this memory; NULL if there is none. */
const struct ktread_stream_index *ktread_stream_index_of(const struct ktread_memory *memory);
/*
 * Loads the index at the end of a stream. `head_size` and `length` are the size of the stream's head, and the
 * length of the dump as stated in it. Returns 1 on success, and 0 if the stream has no index. If the index is
 * damaged or does not fit the stream, returns KTREAD_E_FORMAT without setting a message. May return another
 * error. If the result is 1, the spans are in the order in which they are in the stream, their blocks lie one
 * after another between the head and the END block, and their bytes are within the dump.
 */
int ktread_stream_index_load(struct ktread_stream_index *index, struct ktread_memory *file,
			     uint64_t head_size, uint64_t length);
/* Adds a span, and returns it. Returns NULL if out of memory. */
struct ktrx_stream_span *ktread_stream_index_add(struct ktread_stream_index *index,
						 const struct ktrx_stream_span *span);
/*
 * Encodes the bytes that follow the END block at offset `at`. Sets *bytes, which the caller frees, and *size.
 * Returns 0 or an error.
 */
int ktread_stream_index_make(const struct ktread_stream_index *index, uint64_t at, unsigned char **bytes,
			     size_t *size);

/* A ring while it is written to a stream: what is needed to compute the timestamps of its slots. */
struct ktread_stream_ring {
	const struct ktread_layout *layout; /* layout of the dump; NULL: version 1 */
	uint32_t ring;
	uint64_t begin, head; /* indices of slots, as in struct ktread_v2_ring */
	uint64_t reference;
	bool known; /* true if whole timestamps can be computed */
};

/* Prepares *ring for a ring of version 2. Returns 0 or an error. */
int ktread_stream_ring_init(struct ktread_stream_ring *ring, const struct ktread_layout *layout,
			    uint32_t number);
/*
 * Sets the members first, last and events of a span that contains `slots` slots. `index` is the number of the
 * first slot, as in struct ktread_v2_ring. Requires: this function is called for the spans of a ring in the
 * order in which they were recorded.
 */
void ktread_stream_ring_measure(struct ktread_stream_ring *ring, struct ktrx_stream_span *span,
				uint64_t index, unsigned char *bytes, uint32_t slots);

/*
 * Encodes slots as columns of bytes, which compress well. The comments below specify the order of the
 * columns, and the encoding of numbers in a column.
 */

/*
 * A column of a stream holds values of 32 bits as byte planes: first the lowest bytes of all values, then the
 * second bytes, and so on. Planes whose bytes are all 0 are left out. Normative text: spec/stream.md.
 */

/* The bytes of a block that the decoder has not read yet. */
struct ktread_column_source {
	const unsigned char *at, *end;
};

/* Writes a column of plain values. Returns the end of the bytes written. */
unsigned char *ktread_column_put_values(unsigned char *to, const uint32_t *value, uint32_t count);
/*
 * Writes a column of values or of their differences, whichever will probably be smaller. Overwrites `value`.
 * Returns the end of the bytes written.
 */
unsigned char *ktread_column_put(unsigned char *to, uint32_t *value, uint32_t count);

/*
 * Slots as columns. Slots of one event are grouped, word by word, and the bytes of each word are separate
 * planes. So similar bytes are adjacent, which helps a fast compressor. Every slot of 32 bytes is restored
 * exactly, whatever it contains. Normative text: spec/stream.md.
 *
 * A slot's key identifies the group of the slot. The key's shape decides which words are coded in which way:
 *
 *	FIRST	a record, or a first slot		timestamp, lead, lap; words 3 to 7
 *	MORE	a continuation				lap; upper half of word 0, words 1 to 7
 *	EMPTY	32 zero bytes				nothing
 *	ODD	any other				words 0 to 7
 *
 * The lead is the part of word 2 that holds CPU, thread and context. The event and the kind are in the key.
 */

#define KTREAD_COLUMNS_SLOTS (KTRX_STREAM_BLOCK_MAX / KTRX_SLOT_SIZE)
/*
 * Maximum size of a block's columns. A slot needs less than 64 bytes, even if each slot is a group of its
 * own.
 */
#define KTREAD_COLUMNS_MAX (2u * KTRX_STREAM_BLOCK_MAX)

#define KTREAD_COLUMNS_KEYS (KTRX_STREAM_KEY_ODD + 1u)
#define KTREAD_FIRST_WORD   3u	/* in a record or a first slot: index of the first word of the payload */
#define KTREAD_LEAD_BITS    25u /* in word 2 of a first slot: number of bits below the generation */
#define KTREAD_LEAD_MASK    ((1u << KTREAD_LEAD_BITS) - 1u)
#define KTREAD_STAMP_SHIFT  (64u - KTRX_STAMP_BITS)

enum ktread_columns_shape { KTREAD_SHAPE_FIRST, KTREAD_SHAPE_MORE, KTREAD_SHAPE_EMPTY, KTREAD_SHAPE_ODD };

struct ktread_columns_group {
	uint16_t key;
	uint16_t shape;
	uint32_t slots;
	uint32_t end; /* index in order[] after the group's last slot */
};

struct ktread_columns {
	struct ktrx_stream_columns head;
	/*
	 * for each key, the index of the group that has this key, plus 1; 0: no group has it yet. All
	 * elements are 0 when a block begins.
	 */
	uint16_t group_of_key[KTREAD_COLUMNS_KEYS];
	uint32_t groups;
	struct ktread_columns_group group[KTREAD_COLUMNS_SLOTS];
	uint32_t order[KTREAD_COLUMNS_SLOTS];  /* the slots' numbers, sorted by group */
	uint32_t member[KTREAD_COLUMNS_SLOTS]; /* group number of each slot */
	uint32_t stamps, generations;
	uint32_t first_lap;
	/* low and high halves of the timestamps' differences, in zigzag form */
	uint32_t stamp[2][KTREAD_COLUMNS_SLOTS];
	uint32_t lead[KTREAD_COLUMNS_SLOTS];
	uint32_t generation[KTREAD_COLUMNS_SLOTS];
	/* lap of each slot, modulo 256 except with KTRX_STREAM_CHECKED */
	uint32_t lap[KTREAD_COLUMNS_SLOTS];
	/*
	 * used only by the encoder: true for a slot that is exactly as a kernel writes it, so that its
	 * checksum need not be stored
	 */
	bool regular[KTREAD_COLUMNS_SLOTS];
	uint32_t value[KTREAD_COLUMNS_SLOTS];
};

/*
 * Values of the previous slot. The encoder stores the difference between them and the values of the next
 * slot.
 */
struct ktread_columns_trail {
	uint64_t stamp;
	uint32_t lead, lap, event;
};

/*
 * Position of the slots in their ring. With KTRX_STREAM_CHECKED, the laps of the slots are computed from it.
 */
struct ktread_columns_ring {
	struct ktread_slot_form form;
	uint64_t head;	   /* head of the slots' ring */
	uint64_t position; /* position of the first slot in the ring */
};

static inline uint64_t ktread_words(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

struct ktread_columns *ktread_columns_create(void);
void ktread_columns_free(struct ktread_columns *columns);
/*
 * Encodes at most KTREAD_COLUMNS_SLOTS slots. Writes at most KTREAD_COLUMNS_MAX bytes to `to`, and returns
 * their number. `ring` is only used if `coding` is KTRX_STREAM_CHECKED.
 */
size_t ktread_columns_encode(struct ktread_columns *columns, uint32_t coding,
			     const struct ktread_columns_ring *ring, const uint32_t (*slot)[8],
			     uint32_t slots, unsigned char *to);
/*
 * Decodes `slots` slots. Returns 0; or KTREAD_E_FORMAT, without a message, if the bytes do not contain
 * exactly this number of slots.
 */
int ktread_columns_decode(struct ktread_columns *columns, uint32_t coding, const unsigned char *from,
			  size_t size, uint32_t (*slot)[8], uint32_t slots);

/* Loads a slot as four words. */
static inline void ktread_columns_words(const uint32_t *slot, uint64_t word[4])
{
	for (unsigned n = 0; n < 4; n++)
		word[n] = ktread_words(slot + 2 * n);
}

enum ktread_columns_shape ktread_columns_shape_of(uint32_t coding, uint32_t key);
/* Sorts the numbers of the slots by group, into order[]. */
void ktread_columns_order(struct ktread_columns *columns, uint32_t slots);

#endif
