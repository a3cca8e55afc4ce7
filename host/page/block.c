/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/block.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/escape.h"
#include "base/grow.h"

/* ---- Bytes and blocks ---- */

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

static void page_bytes_put(struct page_bytes *bytes, const void *from, size_t size)
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

/* ---- Strings and lanes ---- */

/*
 * Maximum number, and maximum total size, of the strings that are remembered, so that an equal string gets
 * the same number. When a limit is reached, all strings are forgotten. Without limits, a trace with ever new
 * strings would need unlimited memory.
 */
#define STRINGS_MOST (UINT32_C(1) << 18)
#define TEXT_MOST    ((size_t)16 << 20)

#define LENGTH_MOST 4096u /* maximum number of bytes of a string; longer strings are truncated */

/* Appends the length of the string, and the string itself, which is escaped for viewers that show UTF-8. */
static void describe(struct page_bytes *to, const char *text, size_t length)
{
	char escaped[BASE_ESCAPE_TEXT_GROWTH * LENGTH_MOST];
	const size_t size = (size_t)(base_escape_utf8(escaped, text, length, sizeof(escaped)) - escaped);

	page_put(to, size);
	page_bytes_put(to, escaped, size);
}

static void forget(struct page_strings *strings)
{
	base_index_free(&strings->index);
	strings->count = 0;
	strings->size = 0;
}

/* Adds a string, which gets the next number. Returns false if memory runs out. */
static bool add(struct page_strings *strings, uint64_t hash, const char *text, size_t length)
{
	struct page_string *string;
	size_t room = strings->room ? strings->room : 4096;
	char *larger;

	if (strings->count == STRINGS_MOST || strings->size + length > TEXT_MOST)
		forget(strings);
	while (room - strings->size < length)
		room *= 2;
	larger = realloc(strings->text, room);
	if (!larger)
		return false;
	strings->text = larger;
	strings->room = room;
	string = base_grow(strings->string, &strings->string_room, (size_t)strings->count + 1,
			   sizeof(*string));
	if (!string)
		return false;
	strings->string = string;
	if (base_index_add(&strings->index, hash, strings->count) < 0)
		return false;
	strings->string[strings->count++] =
		(struct page_string){ strings->size, (uint32_t)length, ++strings->next };
	memcpy(strings->text + strings->size, text, length);
	strings->size += length;
	describe(&strings->new, text, length);
	strings->fresh++;
	return true;
}

uint32_t page_string(struct page_strings *strings, const char *text, size_t length)
{
	uint64_t hash;

	length = length < LENGTH_MOST ? length : base_utf8_cut(text, length, LENGTH_MOST);
	if (length == 0)
		return 0;
	hash = base_hash_bytes(0, text, length);
	for (uint32_t probe = 0, n; base_index_next(&strings->index, hash, &probe, &n);) {
		const struct page_string *string = &strings->string[n];

		if (string->length == length && memcmp(strings->text + string->at, text, length) == 0)
			return string->number;
	}
	if (strings->next == UINT32_MAX || !add(strings, hash, text, length)) {
		strings->new.failed = true;
		return 0;
	}
	return strings->next;
}

/*
 * Appends a section that contains the number of the new descriptions, and these descriptions. Then removes
 * them.
 */
static void write_new(struct page_block *block, enum page_section tag, uint32_t *fresh,
		      struct page_bytes *new)
{
	struct page_bytes head = { .byte = NULL };

	if (*fresh) {
		page_put(&head, *fresh);
		page_block_section(block, tag, &head, new, 1);
		page_bytes_free(&head);
		*fresh = 0;
		new->size = 0;
	}
}

void page_strings_write(struct page_strings *strings, struct page_block *block)
{
	write_new(block, PAGE_STRINGS, &strings->fresh, &strings->new);
}

void page_strings_free(struct page_strings *strings)
{
	free(strings->text);
	free(strings->string);
	base_index_free(&strings->index);
	page_bytes_free(&strings->new);
}

void page_lane_change(struct page_lanes *lanes, uint32_t lane, enum page_lane_kind kind, uint64_t number,
		      uint32_t name, uint32_t group, uint32_t flags)
{
	page_put(&lanes->new, lane);
	page_put(&lanes->new, kind);
	page_put(&lanes->new, number);
	page_put(&lanes->new, name);
	page_put(&lanes->new, group);
	page_put(&lanes->new, flags);
	lanes->fresh++;
}

uint32_t page_lane_add(struct page_lanes *lanes, enum page_lane_kind kind, uint64_t number, uint32_t name,
		       uint32_t group, uint32_t flags)
{
	page_lane_change(lanes, lanes->count, kind, number, name, group, flags);
	return lanes->count++;
}

void page_lanes_write(struct page_lanes *lanes, struct page_block *block)
{
	write_new(block, PAGE_LANES, &lanes->fresh, &lanes->new);
}
