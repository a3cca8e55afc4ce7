/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is under way, by the few words that tell one from another: a table that grows up to a limit, so that a
 * trace which begins things for ever and ends none costs bounded memory.
 */
#ifndef ANALYZE_KEYED_H
#define ANALYZE_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "ktread/ktread.h"

#define KEYED_WORDS 4u
#define KEYED_MAX   65536u /* entries at once */

struct keyed_entry {
	uint64_t key[KEYED_WORDS];
	uint64_t stamp; /* of its beginning */
	uint64_t time;	/* the same as threads.h has it */
	uint64_t count; /* the owner's */
	uint32_t cpu, thread;
	bool known; /* the owner's */
};

/* Zero-initialised is ready for use. */
struct keyed {
	struct keyed_entry *entry; /* the last one takes the place of one that is removed */
	uint32_t count, room;
	struct base_index index; /* entries by key */
};

/* Frees the memory of the table, and makes it empty. */
void keyed_free(struct keyed *table);
/* NULL: there is none. Valid until the next keyed_put() or keyed_remove(). */
struct keyed_entry *keyed_find(const struct keyed *table, const uint64_t *key);
/*
 * The entry of that key, a new one (all zeros but for its key) if need be; *entry is NULL past the limit. 0
 * or KTREAD_E_MEMORY.
 */
int keyed_put(struct keyed *table, const uint64_t *key, struct keyed_entry **entry);
void keyed_remove(struct keyed *table, struct keyed_entry *entry);

/* Bytes as a word of a key: a hash of them. */
uint64_t keyed_hash(const void *bytes, size_t length);
/* A field as a word of a key: a number, or a string's hash. False if the payload does not hold it. */
bool keyed_field(const struct ktread_event *event, const char *field, uint64_t *word);

#endif
