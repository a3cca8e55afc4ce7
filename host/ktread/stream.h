/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Streams as sources: the memory inside one is the dump it was made from, so whoever reads dumps reads
 * streams. What a stream lacks, because it was cut short or damaged, reads as zeros, which are slots that
 * nobody wrote.
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

/* Bytes of recoded dump that a reader keeps, in which one block of each ring should find room. */
#define KTREAD_STREAM_KEPT (UINT32_C(2) << 20)

/* Whether a stream's head stands at the start of a file. */
bool ktread_stream_is(struct ktread_memory *memory);
/*
 * Puts the memory inside in the place of the trace's own, and takes from the stream's head what the options
 * leave open. `form` is set to KTRX_STREAM_*.
 */
int ktread_stream_enter(struct ktread *trace, uint32_t *form);

/* Slots as columns of bytes, which compress well: the order of columns, and numbers within one. */

/*
 * A column of a stream: values of 32 bits, the bytes of which stand apart, those that are 0 throughout left
 * out. Normative text: spec/stream.md.
 */

/* What is left to be read of a block's content. */
struct ktread_column_source {
	const unsigned char *at, *end;
};

/* Writes the values as they are; returns the place behind them. */
unsigned char *ktread_column_put_values(unsigned char *to, const uint32_t *value, uint32_t count);
/* As values or as differences, whichever seem smaller. `value` is used up. */
unsigned char *ktread_column_put(unsigned char *to, uint32_t *value, uint32_t count);

/*
 * Slots as columns. Slots of one event stand together, value by value, and each value's bytes apart: what is
 * alike comes to lie side by side, so that a fast compressor finds it. Every 32 bytes come back as they were,
 * whatever they are. Normative text: spec/stream.md.
 *
 * A slot's key says which group it is in, and the key's shape which of its words are taken apart how:
 *
 *	FIRST	a record, or a first slot		stamp, lead, lap; words 3 to 7
 *	MORE	a continuation				lap; upper half of word 0, words 1 to 7
 *	EMPTY	32 zero bytes				nothing
 *	ODD	any other				words 0 to 7
 *
 * The lead is what of word 2 tells CPU, thread and context; the event and the kind are in the key.
 */

#define KTREAD_COLUMNS_SLOTS (KTRX_STREAM_BLOCK_MAX / KTRX_SLOT_SIZE)
/* No block's columns are longer: a slot takes less than 64 bytes even where each is in a group of its own. */
#define KTREAD_COLUMNS_MAX (2u * KTRX_STREAM_BLOCK_MAX)

#define KTREAD_COLUMNS_KEYS (KTRX_STREAM_KEY_ODD + 1u)
#define KTREAD_FIRST_WORD   3u	/* of the payload of a record or a first slot */
#define KTREAD_LEAD_BITS    25u /* of word 2 of a first slot, below the generation */
#define KTREAD_LEAD_MASK    ((1u << KTREAD_LEAD_BITS) - 1u)
#define KTREAD_STAMP_SHIFT  (64u - KTRX_STAMP_BITS)

enum ktread_columns_shape { KTREAD_SHAPE_FIRST, KTREAD_SHAPE_MORE, KTREAD_SHAPE_EMPTY, KTREAD_SHAPE_ODD };

struct ktread_columns_group {
	uint16_t key;
	uint16_t shape;
	uint32_t slots;
	uint32_t end; /* in order[], behind its last slot */
};

struct ktread_columns {
	struct ktrx_stream_columns head;
	uint16_t group_of_key[KTREAD_COLUMNS_KEYS]; /* + 1; 0: none yet. All 0 between blocks */
	uint32_t groups;
	struct ktread_columns_group group[KTREAD_COLUMNS_SLOTS];
	uint32_t order[KTREAD_COLUMNS_SLOTS];  /* slots by group */
	uint32_t member[KTREAD_COLUMNS_SLOTS]; /* group of each slot */
	uint32_t stamps, generations;
	uint32_t first_lap;
	uint32_t stamp[2][KTREAD_COLUMNS_SLOTS]; /* low and high halves of zigzag differences */
	uint32_t lead[KTREAD_COLUMNS_SLOTS];
	uint32_t generation[KTREAD_COLUMNS_SLOTS];
	uint32_t lap[KTREAD_COLUMNS_SLOTS]; /* of each slot; modulo 256 without KTRX_STREAM_CHECKED */
	bool regular
		[KTREAD_COLUMNS_SLOTS]; /* a writer's: what of it is told from the rest need not be kept */
	uint32_t value[KTREAD_COLUMNS_SLOTS];
};

/* What of one slot the next one is told by. */
struct ktread_columns_trail {
	uint64_t stamp;
	uint32_t lead, lap, event;
};

/* Where slots of KTRX_STREAM_CHECKED lie: their laps are told from it. */
struct ktread_columns_ring {
	struct ktread_slot_form form;
	uint64_t head;	   /* of the ring */
	uint64_t position; /* of the first slot, in the ring */
};

static inline uint64_t ktread_words(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

struct ktread_columns *ktread_columns_create(void);
void ktread_columns_free(struct ktread_columns *columns);
/*
 * Of at most KTREAD_COLUMNS_SLOTS slots into KTREAD_COLUMNS_MAX bytes at `to`; returns how many it filled.
 * `ring` is used with KTRX_STREAM_CHECKED alone.
 */
size_t ktread_columns_encode(struct ktread_columns *columns, uint32_t coding,
			     const struct ktread_columns_ring *ring, const uint32_t (*slot)[8],
			     uint32_t slots, unsigned char *to);
/* The reverse: 0, or KTREAD_E_FORMAT without a message where the bytes are not columns of so many slots. */
int ktread_columns_decode(struct ktread_columns *columns, uint32_t coding, const unsigned char *from,
			  size_t size, uint32_t (*slot)[8], uint32_t slots);

/* For both directions. */
static inline void ktread_columns_words(const uint32_t *slot, uint64_t word[4])
{
	for (unsigned n = 0; n < 4; n++)
		word[n] = ktread_words(slot + 2 * n);
}

enum ktread_columns_shape ktread_columns_shape_of(uint32_t coding, uint32_t key);
/* Lists the slots of each group one behind the other. */
void ktread_columns_order(struct ktread_columns *columns, uint32_t slots);

#endif
