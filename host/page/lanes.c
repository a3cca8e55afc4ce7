/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"

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
