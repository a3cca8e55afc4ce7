/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/block.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Compression level of zlib. Higher levels save a few percent of space, but take twice as much time. */
#define LEVEL	    1
#define OUTPUT_STEP ((size_t)256 << 10)

struct page_block {
	page_take *take;
	void *context;
	struct page_bytes out; /* the compressed block */
	z_stream zlib;
	bool open; /* true if the current block contains at least one section */
	bool failed;
};

bool page_bytes_reserve(struct page_bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : 256;
	unsigned char *larger;

	while (room - bytes->size < more && room <= SIZE_MAX / 2)
		room *= 2;
	larger = bytes->failed ? NULL : realloc(bytes->byte, room);
	if (!larger) {
		bytes->failed = true;
		return false;
	}
	bytes->byte = larger;
	bytes->room = room;
	return true;
}

void page_bytes_put(struct page_bytes *bytes, const void *from, size_t size)
{
	if (bytes->room - bytes->size < size && !page_bytes_reserve(bytes, size))
		return;
	if (size)
		memcpy(bytes->byte + bytes->size, from, size);
	bytes->size += size;
}

void page_bytes_free(struct page_bytes *bytes)
{
	free(bytes->byte);
	*bytes = (struct page_bytes){ .byte = NULL };
}

struct page_block *page_block_create(page_take *take, void *context)
{
	struct page_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->take = take;
	block->context = context;
	if (deflateInit(&block->zlib, LEVEL) != Z_OK) {
		free(block);
		return NULL;
	}
	return block;
}

void page_block_free(struct page_block *block)
{
	if (!block)
		return;
	deflateEnd(&block->zlib);
	page_bytes_free(&block->out);
	free(block);
}

/* Compresses bytes. `flush`: with Z_FINISH, also ends the stream. */
static void compress_bytes(struct page_block *block, const unsigned char *bytes, size_t size, int flush)
{
	z_stream *zlib = &block->zlib;
	int status = Z_OK;

	while (!block->failed && (size > 0 || flush == Z_FINISH) && status != Z_STREAM_END) {
		const size_t step = size < OUTPUT_STEP ? size : OUTPUT_STEP;

		if (!page_bytes_reserve(&block->out, OUTPUT_STEP)) {
			block->failed = true;
			return;
		}
		zlib->next_in = (unsigned char *)bytes;
		zlib->avail_in = (unsigned)step;
		zlib->next_out = block->out.byte + block->out.size;
		zlib->avail_out = (unsigned)OUTPUT_STEP;
		status = deflate(zlib, step == size ? flush : Z_NO_FLUSH);
		block->failed = status == Z_STREAM_ERROR;
		bytes += step - zlib->avail_in;
		size -= step - zlib->avail_in;
		block->out.size += OUTPUT_STEP - zlib->avail_out;
	}
}

static void put_piece(struct page_block *block, const struct page_bytes *piece)
{
	block->failed |= piece->failed;
	compress_bytes(block, piece->byte, piece->size, Z_NO_FLUSH);
}

void page_block_section(struct page_block *block, enum page_section tag, const struct page_bytes *head,
			const struct page_bytes *columns, unsigned count)
{
	struct page_bytes start = { .byte = NULL };
	size_t size = head->size;

	for (unsigned n = 0; n < count; n++)
		size += columns[n].size;
	page_put(&start, tag);
	page_put(&start, size);
	put_piece(block, &start);
	put_piece(block, head);
	for (unsigned n = 0; n < count; n++)
		put_piece(block, &columns[n]);
	page_bytes_free(&start);
	block->open = true;
}

int page_block_end(struct page_block *block)
{
	int status = 0;

	if (!block->open)
		return block->failed ? KTREAD_E_MEMORY : 0;
	compress_bytes(block, NULL, 0, Z_FINISH);
	if (block->failed || deflateReset(&block->zlib) != Z_OK)
		return KTREAD_E_MEMORY;
	status = block->take(block->context, block->out.byte, block->out.size);
	block->out.size = 0;
	block->open = false;
	return status;
}
