/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The heap: a contiguous sequence of blocks from its start to the current end of the data segment (brk). Each
 * block has a header. malloc() takes the first free block that is large enough. Adjacent free blocks are
 * merged when malloc() searches for memory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <thread.h>
#include <unistd.h>

struct block {
	size_t size; /* size of the block including this header, a multiple of the header's size */
	bool used;
};

#define UNIT sizeof(struct block)
#define MORE ((size_t)64 << 10) /* minimum number of bytes by which the heap is extended */

_Static_assert(sizeof(struct block) == 16, "what follows a header is aligned to 16");

static struct block *heap, *heap_end; /* the whole range [heap, heap_end) consists of blocks */

static struct block *next_block(struct block *block)
{
	return (struct block *)((uintptr_t)block + block->size);
}

/* Merges a free block with all free blocks that directly follow it. */
static void merge(struct block *block)
{
	while (next_block(block) < heap_end && !next_block(block)->used)
		block->size += next_block(block)->size;
}

static void split(struct block *block, size_t size)
{
	struct block *rest = (struct block *)((uintptr_t)block + size);

	if (block->size == size)
		return;
	*rest = (struct block){ block->size - size, false };
	block->size = size;
}

static bool grow(size_t size)
{
	uintptr_t end = (uintptr_t)heap_end;
	struct block *block;

	if (!heap)
		end = ((uintptr_t)brk(NULL) + UNIT - 1) & -UNIT;
	size = size < MORE ? MORE : size;
	if (brk((void *)(end + size)) != (int64_t)(end + size))
		return false;
	block = (struct block *)end;
	*block = (struct block){ size, false };
	heap = heap ? heap : block;
	heap_end = next_block(block);
	return true;
}

static void *take(size_t size)
{
	do {
		for (struct block *block = heap; block < heap_end; block = next_block(block)) {
			if (block->used)
				continue;
			merge(block);
			if (block->size < size)
				continue;
			split(block, size);
			block->used = true;
			return block + 1;
		}
	} while (grow(size));
	return NULL;
}

static struct mutex lock = MUTEX("heap");

void *malloc(size_t size)
{
	void *memory;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (thread_several)
		mutex_lock(&lock);
	memory = take((size + UNIT + UNIT - 1) & -UNIT);
	if (thread_several)
		mutex_unlock(&lock);
	return memory;
}

void free(void *memory)
{
	if (thread_several)
		mutex_lock(&lock);
	if (memory)
		((struct block *)memory - 1)->used = false;
	if (thread_several)
		mutex_unlock(&lock);
}
