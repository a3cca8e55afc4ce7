/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"

uint64_t keyed_hash(const void *bytes, size_t length)
{
	return base_hash_bytes(0, bytes, length);
}

bool keyed_field(const struct ktread_event *event, const char *field, uint64_t *word)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0)
		return false;
	*word = value.type == KTRX_TYPE_STRING ? keyed_hash(value.string, value.length) : value.number;
	return true;
}

/* Leaves out words that are 0, because most keys have only one word that is not 0. */
static uint64_t hash_of(const uint64_t *key)
{
	uint64_t hash = 0;

	for (uint32_t n = 0; n < KEYED_WORDS; n++)
		hash = key[n] ? base_hash(hash, key[n]) : hash;
	return hash;
}

void keyed_free(struct keyed *table)
{
	free(table->entry);
	base_index_free(&table->index);
	*table = (struct keyed){ .entry = NULL };
}

static struct keyed_entry *find(const struct keyed *table, uint64_t hash, const uint64_t *key)
{
	for (uint32_t probe = 0, n; base_index_next(&table->index, hash, &probe, &n);)
		if (memcmp(table->entry[n].key, key, sizeof(table->entry[n].key)) == 0)
			return &table->entry[n];
	return NULL;
}

struct keyed_entry *keyed_find(const struct keyed *table, const uint64_t *key)
{
	return table->count ? find(table, hash_of(key), key) : NULL;
}

int keyed_put(struct keyed *table, const uint64_t *key, struct keyed_entry **entry)
{
	const uint64_t hash = hash_of(key);
	struct keyed_entry *grown;

	*entry = find(table, hash, key);
	if (*entry || table->count == KEYED_MAX)
		return 0;
	grown = base_grow(table->entry, &table->room, table->count + 1u, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	table->entry = grown;
	if (base_index_add(&table->index, hash, table->count) < 0)
		return KTREAD_E_MEMORY;
	*entry = &grown[table->count++];
	**entry = (struct keyed_entry){ .stamp = 0 };
	memcpy((*entry)->key, key, sizeof((*entry)->key));
	return 0;
}

void keyed_remove(struct keyed *table, struct keyed_entry *entry)
{
	const uint32_t at = (uint32_t)(entry - table->entry), last = --table->count;

	base_index_remove(&table->index, hash_of(entry->key), at);
	if (at == last)
		return;
	*entry = table->entry[last];
	base_index_remove(&table->index, hash_of(entry->key), last);
	base_index_add(&table->index, hash_of(entry->key), at);
}
