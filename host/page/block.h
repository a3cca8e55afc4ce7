/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Blocks of a page: columns of numbers are collected as bytes, then written as sections of a zlib stream.
 * spec/page.md describes the format.
 */
#ifndef PAGE_BLOCK_H
#define PAGE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page/page.h"

#define PAGE_VARINT_MOST 10u /* maximum number of bytes that encode a number */

/* A growing buffer of bytes. If memory runs out, `failed` is set, and later bytes are discarded. */
struct page_bytes {
	unsigned char *byte;
	size_t size, room;
	bool failed;
};

/* Makes room for `more` bytes. Returns false if memory runs out. */
bool page_bytes_reserve(struct page_bytes *bytes, size_t more);
void page_bytes_put(struct page_bytes *bytes, const void *from, size_t size);
void page_bytes_free(struct page_bytes *bytes);

/* Appends a number of 7 bits in each byte, the lowest bits first. */
static inline void page_put(struct page_bytes *bytes, uint64_t number)
{
	unsigned char *at;

	if (bytes->room - bytes->size < PAGE_VARINT_MOST && !page_bytes_reserve(bytes, PAGE_VARINT_MOST))
		return;
	at = bytes->byte + bytes->size;
	for (; number > 0x7f; number >>= 7)
		*at++ = (unsigned char)(number | 0x80);
	*at++ = (unsigned char)number;
	bytes->size = (size_t)(at - bytes->byte);
}

/* Appends a signed number: 0, -1, 1, -2, … are encoded as 0, 1, 2, 3, … */
static inline void page_put_signed(struct page_bytes *bytes, int64_t number)
{
	page_put(bytes, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

/* Appends the difference of two numbers, modulo 2^64, as a signed number. */
static inline void page_put_delta(struct page_bytes *bytes, uint64_t from, uint64_t to)
{
	page_put_signed(bytes, (int64_t)(to - from));
}

enum page_section {
	PAGE_STRINGS = 1,
	PAGE_LANES,
	PAGE_SLICES,
	PAGE_ARROWS,
	PAGE_COUNTER,
	PAGE_GAPS,
	PAGE_EVENTS,
	PAGE_DENSITY,
	PAGE_SYMBOLS,
	PAGE_STACKS,
};

struct page_block;

/*
 * Creates the writer of blocks. Returns NULL if memory runs out. `take` gets each block that page_block_end()
 * completes.
 */
struct page_block *page_block_create(page_take *take, void *context);
void page_block_free(struct page_block *block);
/* Appends a section: the bytes of `head`, then the bytes of the `count` columns. */
void page_block_section(struct page_block *block, enum page_section tag, const struct page_bytes *head,
			const struct page_bytes *columns, unsigned count);
/* Ends the block if it contains a section, and passes it to `take`. Returns 0 or a negative KTREAD_E_*. */
int page_block_end(struct page_block *block);

#endif
