/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "ktrx/v2.h"

#define FIRST 64u /* places at first */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

uint64_t keyed_hash(const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;
	uint64_t hash = length;

	for (size_t n = 0; n < length; n++)
		hash = mix(hash, byte[n]);
	return hash;
}

bool keyed_field(const struct ktread_event *event, const char *field, uint64_t *word)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0)
		return false;
	*word = value.type == KTRX_TYPE_STRING ? keyed_hash(value.string, value.length) : value.number;
	return true;
}

/* The place of a key, or the free one where it belongs. */
static uint32_t find(const struct keyed *table, const uint64_t *key)
{
	uint64_t hash = 0;
	uint32_t at;

	for (uint32_t n = 0; n < KEYED_WORDS; n++)
		hash = mix(hash, key[n]);
	at = (uint32_t)(hash >> 32) & (table->places - 1);
	while (table->entry[at].used && memcmp(table->entry[at].key, key, sizeof(table->entry[at].key)) != 0)
		at = (at + 1) & (table->places - 1);
	return at;
}

static int grow(struct keyed *table)
{
	struct keyed_entry *old = table->entry;
	uint32_t places = table->places, larger = places ? places * 2 : FIRST;
	struct keyed_entry *entry = calloc(larger, sizeof(*entry));

	if (!entry)
		return KTREAD_E_MEMORY;
	table->entry = entry;
	table->places = larger;
	for (uint32_t n = 0; n < places; n++)
		if (old[n].used)
			entry[find(table, old[n].key)] = old[n];
	free(old);
	return 0;
}

void keyed_free(struct keyed *table)
{
	free(table->entry);
}

struct keyed_entry *keyed_find(const struct keyed *table, const uint64_t *key)
{
	struct keyed_entry *entry = table->places ? &table->entry[find(table, key)] : NULL;

	return entry && entry->used ? entry : NULL;
}

int keyed_put(struct keyed *table, const uint64_t *key, struct keyed_entry **entry)
{
	int error;

	*entry = keyed_find(table, key);
	if (*entry || table->count == KEYED_MAX)
		return 0;
	if (table->count >= table->places / 2) {
		error = grow(table);
		if (error)
			return error;
	}
	*entry = &table->entry[find(table, key)];
	**entry = (struct keyed_entry){ .used = true };
	memcpy((*entry)->key, key, sizeof((*entry)->key));
	table->count++;
	return 0;
}

/* Those behind it that were pushed on by it move up. */
void keyed_remove(struct keyed *table, struct keyed_entry *entry)
{
	uint32_t mask = table->places - 1, at = (uint32_t)(entry - table->entry);

	entry->used = false;
	table->count--;
	for (uint32_t next = (at + 1) & mask; table->entry[next].used; next = (next + 1) & mask) {
		struct keyed_entry moved = table->entry[next];

		table->entry[next].used = false;
		table->entry[find(table, moved.key)] = moved;
	}
}
