/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/budget_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* the FNV-1a hash, because it is the same in each process, unlike base_hash_bytes() */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t n = 0; n < length; n++)
		hash = (hash ^ (unsigned char)bytes[n]) * UINT64_C(0x100000001b3);
	return hash;
}

void page_init(struct page *page, struct base_output *out, size_t budget)
{
	*page = (struct page){ .budget = budget, .out = out, .hash = HASH_START, .skipped_hash = HASH_START };
}

bool page_set_cursor(struct page *page, const char *text)
{
	char again[PAGE_TRAILER];
	char *end;

	page->skipped = strtoull(text, &end, 10);
	page->skipped_hash = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
	snprintf(again, sizeof(again), "%" PRIu64 "-%016" PRIx64, page->skipped, page->skipped_hash);
	return page->skipped > 0 && strcmp(text, again) == 0;
}

void page_cursor(const struct page *page, char text[PAGE_TRAILER])
{
	snprintf(text, PAGE_TRAILER, "%" PRIu64 "-%016" PRIx64, page->pieces, page->hash);
}

/* Counts a piece that was printed on this page or on an earlier page. */
static void count(struct page *page, const char *piece, size_t length)
{
	page->hash = hash_bytes(page->hash, piece, length);
	page->pieces++;
	if (page->pieces == page->skipped && page->hash != page->skipped_hash)
		page->changed = true;
}

/*
 * Decides whether a piece that needs `size` bytes is printed on this page. Returns false if the piece was on
 * an earlier page, or if the page ends before it.
 */
static bool is_due(struct page *page, const char *piece, size_t length, size_t size)
{
	if (page->pieces < page->skipped) {
		count(page, piece, length);
		return false;
	}
	if (page->used + size + PAGE_TRAILER > page->budget) {
		page->full = true;
		if (page->pieces == page->skipped)
			page->large = page->used + size + PAGE_TRAILER;
		return false;
	}
	return true;
}

static void put(struct page *page, const char *text, size_t length)
{
	base_output_bytes(page->out, text, length);
	page->used += length;
}

bool page_line(struct page *page, const char *line, size_t length)
{
	if (is_due(page, line, length, length)) {
		put(page, line, length);
		count(page, line, length);
	}
	return !page->full && !page->changed;
}

/* ---- Dividing JSON documents into pieces ---- */

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (is_blank(*at) || *at == ','))
		at++;
	return at;
}

static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : NULL;
}

const char *page_value_end(const char *at, const char *end)
{
	size_t depth = 0;

	while (at && at < end) {
		if (*at == '"') {
			at = string_end(at, end);
		} else if (*at == '{' || *at == '[') {
			depth++;
			at++;
		} else if (*at == '}' || *at == ']') {
			if (depth == 0)
				return at;
			depth--;
			at++;
		} else if (depth == 0 && (*at == ',' || is_blank(*at))) {
			return at;
		} else {
			at++;
			continue;
		}
		if (at && depth == 0)
			return at;
	}
	return NULL;
}

static bool is_key(const struct page *page, const char *name)
{
	return page->key_length == strlen(name) && memcmp(page->key, name, page->key_length) == 0;
}

static void close_array(struct page *page)
{
	if (page->array)
		put(page, "]", 1);
	page->array = false;
}

/* Processes a value: a member of the document, or an element of the member that is an array. */
static bool take_value(struct page *page, const char *value, size_t length, bool element, bool first)
{
	const bool joins = element && page->array && !first;
	const size_t size = joins ? 1 + length : page->key_length + length + 5;

	if (is_due(page, value, length, size)) {
		if (!joins) {
			close_array(page);
			if (page->used > 1)
				put(page, ",", 1);
			put(page, page->key, page->key_length);
			put(page, element ? ":[" : ":", element ? 2 : 1);
			page->array = element;
		} else {
			put(page, ",", 1);
		}
		put(page, value, length);
		count(page, value, length);
	}
	return !page->full && !page->changed;
}

/* Processes the elements of an array. Returns the end of the array; NULL if the page ends earlier. */
static const char *take_array(struct page *page, const char *at, const char *end)
{
	bool first = true;

	for (at = skip_blanks(at + 1, end); at < end && *at != ']'; at = skip_blanks(at, end)) {
		const char *value = at;

		at = page_value_end(value, end);
		if (!at || !take_value(page, value, (size_t)(at - value), true, first))
			return NULL;
		first = false;
	}
	return at < end ? at + 1 : NULL;
}

static bool is_empty_array(const char *at, const char *end)
{
	at = skip_blanks(at + 1, end);
	return at < end && *at == ']';
}

/* Processes a member. Returns the end of the member; NULL if the page ends earlier. */
static const char *take_member(struct page *page, const char *at, const char *end)
{
	const char *value = string_end(at, end), *rest;

	if (!value)
		return NULL;
	page->key = at;
	page->key_length = (size_t)(value - at);
	value = skip_blanks(value, end);
	value = value < end && *value == ':' ? skip_blanks(value + 1, end) : end;
	if (value < end && *value == '[' && !is_empty_array(value, end))
		return take_array(page, value, end);
	rest = page_value_end(value, end);
	if (!rest)
		return NULL;
	/* every page contains these members */
	if (is_key(page, "\"schema\"") || is_key(page, "\"strings\"")) {
		if (page->used > 1)
			put(page, ",", 1);
		put(page, at, (size_t)(rest - at));
		return rest;
	}
	return take_value(page, value, (size_t)(rest - value), false, true) ? rest : NULL;
}

void page_document(struct page *page, const char *text, size_t length)
{
	const char *end = text + length, *at = skip_blanks(text + 1, end);
	char cursor[PAGE_TRAILER];

	if (length <= page->budget && page->skipped == 0) {
		put(page, text, length);
		return;
	}
	put(page, "{", 1);
	while (at && at < end && *at == '"') {
		at = take_member(page, at, end);
		at = at ? skip_blanks(at, end) : NULL;
	}
	close_array(page);
	if (page->full && !page->large) {
		page_cursor(page, cursor);
		base_output_format(page->out, ",\"cursor\":\"%s\"", cursor);
	}
	put(page, "}\n", 2);
	page_end(page);
}

void page_end(struct page *page)
{
	if (page->pieces < page->skipped)
		page->changed = true;
}
