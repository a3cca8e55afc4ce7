/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A hash table for things that have begun and not ended, such as calls. A key consists of a few 64-bit words.
 * The number of entries is limited, so memory is bounded even if a trace has any number of things that never
 * end.
 */
#ifndef ANALYZE_KEYED_H
#define ANALYZE_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "ktread/ktread.h"

#define KEYED_WORDS 4u
#define KEYED_MAX   65536u /* maximum number of entries at one time */

struct keyed_entry {
	uint64_t key[KEYED_WORDS];
	uint64_t stamp; /* timestamp at which the thing began */
	uint64_t time;	/* time at which it began, counted as in threads.h */
	uint64_t count; /* only the owner of the table uses this field */
	uint32_t cpu, thread;
	uint16_t off; /* only the owner of the table uses this field */
	bool known;   /* only the owner of the table uses this field */
};

/* A zero-initialised structure is ready for use. */
struct keyed {
	/* array of entries; keyed_remove() moves the last entry to the place that becomes free */
	struct keyed_entry *entry;
	uint32_t count, room;
	struct base_index index; /* index that finds an entry by its key */
};

/* Empties the table and frees its memory. */
void keyed_free(struct keyed *table);
/*
 * Returns the entry of a key, or NULL if there is none. The entry is valid until the next keyed_put() or
 * keyed_remove().
 */
struct keyed_entry *keyed_find(const struct keyed *table, const uint64_t *key);
/*
 * Finds or adds the entry of a key. A new entry is all zeros except for its key. *entry is NULL if the table
 * is full. Returns 0 or KTREAD_E_MEMORY.
 */
int keyed_put(struct keyed *table, const uint64_t *key, struct keyed_entry **entry);
void keyed_remove(struct keyed *table, struct keyed_entry *entry);

/* Returns a hash of the bytes, for use as a word of a key. */
uint64_t keyed_hash(const void *bytes, size_t length);
/*
 * Stores a field as a word of a key: a number, or the hash of a string. Returns false if the payload lacks
 * the field.
 */
bool keyed_field(const struct ktread_event *event, const char *field, uint64_t *word);

/*
 * Returns the ticks between two timestamps; 0 if `to` is not later, for example because a clock was set back.
 */
static inline uint64_t elapsed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

#endif
