/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A hash table of translated blocks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define LINE	((size_t)64) /* size of a cache line */
#define BUCKETS 65536u
/* number of places in a set of addresses of handlers; enough, because x86 has only 256 vectors */
#define HANDLERS 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *bucket[BUCKETS];

/* A set of addresses, with open addressing. An element that is 0 is free. */
struct set {
	uint64_t place[HANDLERS];
	unsigned count;
};

static struct set handlers; /* the addresses to which interrupts and exceptions have led */
/* tables of handlers; for each of these tables, `handlers` contains at least one of its entries */
static struct set vectors;

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static struct block **bucket_of(uint64_t start)
{
	return &bucket[mix(0, start) % BUCKETS];
}

static uint64_t *place_of(struct set *set, uint64_t address)
{
	uint64_t i = mix(1, address) % HANDLERS;

	while (set->place[i] != 0 && set->place[i] != address)
		i = (i + 1) % HANDLERS;
	return &set->place[i];
}

static int holds(struct set *set, uint64_t address)
{
	return address != 0 && *place_of(set, address) == address;
}

/* Adds an address, unless only one place is free, because one place must always stay free. */
static void keep(struct set *set, uint64_t address)
{
	uint64_t *place = place_of(set, address);

	if (address == 0 || *place == address || set->count + 1 >= HANDLERS)
		return;
	*place = address;
	set->count++;
}

static uint64_t hash_of(const struct instruction *instruction, size_t count, size_t *points, size_t *size)
{
	uint64_t hash = count;

	*points = *size = 0;
	for (size_t i = 0; i < count; i++) {
		hash = mix(hash, instruction[i].size << 1 | instruction[i].stop);
		for (size_t k = 0; k < instruction[i].size; k++)
			hash = mix(hash, instruction[i].bytes[k]);
		if (instruction[i].stop && i + 1 < count)
			++*points;
		*size += instruction[i].size;
	}
	return hash;
}

static void fill(const struct encoder *encoder, struct block *block, const struct instruction *instruction,
		 size_t count)
{
	const struct instruction *last = &instruction[count - 1];
	struct point *passed = block->passed;

	block->start = instruction->address;
	block->last = last->address;
	block->next = last->address + last->size;
	block->modes = 0xff;
	for (size_t i = 0; i < count; i++) {
		const struct instruction *one = &instruction[i];

		block->modes &= encoder->modes(one->bytes, one->size, one->address);
		if (one->stop || one == last)
			*(one == last ? &block->end_point : passed++) = (struct point){
				.block = block,
				.address = one->address,
				.size = (uint8_t)one->size,
				.last = one == last,
			};
	}
	block->faults = encoder->faults(last->bytes, last->size) != 0;
	encoder->classify(block, last->bytes, last->size);
	block->untaken = block->end == END_CONDITIONAL ? block->next : block->target;
	if (!block->reported)
		block->outcomes = 0;
	else
		block->outcomes = block->end < END_INDIRECT && block->end != END_CALL ? 1 : OUTCOMES_AND_MORE;
	block->vectors = encoder->vectors(block, instruction->bytes, instruction->size);
	block->handler = holds(&handlers, block->start) || holds(&vectors, block->vectors);
}

static struct block *block_new(const struct instruction *instruction, size_t points, size_t size)
{
	size_t head = sizeof(struct block) + points * sizeof(struct point);
	size_t total = (head + size + LINE - 1) & ~(LINE - 1);
	struct block *block = aligned_alloc(LINE, total);
	unsigned char *to = (unsigned char *)block + head;

	if (block == NULL)
		return NULL;
	memset(block, 0, head);
	block->bytes = to;
	for (; size > 0; size -= instruction++->size)
		to = (unsigned char *)memcpy(to, instruction->bytes, instruction->size) + instruction->size;
	return block;
}

struct block *block_get(const struct encoder *encoder, const struct instruction *instruction, size_t count)
{
	size_t points, size;
	uint64_t hash = hash_of(instruction, count, &points, &size);
	struct block **place = bucket_of(instruction->address), *block;

	pthread_mutex_lock(&lock);
	for (block = *place; block != NULL; block = block->chain) {
		if (block->start == instruction->address && block->hash == hash)
			break;
	}
	if (block == NULL) {
		block = block_new(instruction, points, size);
		if (block != NULL) {
			block->hash = hash;
			fill(encoder, block, instruction, count);
			block->chain = *place;
			*place = block;
		}
	}
	pthread_mutex_unlock(&lock);
	return block;
}

struct block *block_covering(uint64_t start, uint64_t address)
{
	struct block *block;

	pthread_mutex_lock(&lock);
	for (block = *bucket_of(start); block != NULL; block = block->chain) {
		if (block->start == start && address > start && address < block->next)
			break;
	}
	pthread_mutex_unlock(&lock);
	return block;
}

void block_is_handler(struct block *block)
{
	pthread_mutex_lock(&lock);
	keep(&handlers, block->start);
	keep(&vectors, block->vectors);
	block->handler = 1;
	pthread_mutex_unlock(&lock);
}

void blocks_forget(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (bucket[i] != NULL) {
			struct block *block = bucket[i];

			bucket[i] = block->chain;
			free(block);
		}
	}
	pthread_mutex_unlock(&lock);
}
