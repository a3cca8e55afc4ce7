/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "row.h"

#include <stddef.h>

static bool is_table(const struct ktrx_section *section)
{
	return section->type == KTRX_SECTION_EVENTS && section->where == KTRX_WHERE_VIRTUAL &&
	       section->extents == 1;
}

/* Do all strings that every row has end within it? */
static bool row_is_whole(const struct ktrx_event *row)
{
	const char *at = (const char *)(row + 1);
	const char *end = (const char *)row + row->size;
	uint32_t strings = 0;

	for (; at < end && strings < KTRACE_ROW_FIELDS; at++)
		strings += *at == '\0';
	return strings == KTRACE_ROW_FIELDS;
}

/* A row in the table, with its bytes and its magic; or 8 bytes that are no row, with magic 0. */
struct item {
	const unsigned char *at;
	uint32_t bytes;
	uint16_t magic;
};

static void look(struct item *item, const unsigned char *at, uint64_t left)
{
	/* Magic and size lie where those of a place do. */
	const struct ktrx_event *row = (const struct ktrx_event *)at;
	const uint32_t least = row->magic == KTRX_EVENT_MAGIC	? (uint32_t)sizeof(struct ktrx_event)
			       : row->magic == KTRX_PLACE_MAGIC ? (uint32_t)sizeof(struct ktrx_place)
								: 0;

	item->at = at;
	item->magic = 0;
	item->bytes = sizeof(uint64_t);
	if (least == 0 || row->size < least || row->size % 8 != 0 || row->size > left)
		return;
	item->magic = row->magic;
	item->bytes = row->size;
}

/* Calls `is_it` for each item of the table until that is true. Returns that row, or NULL. */
static const void *search(const struct ktrx_root *root, bool (*is_it)(const struct item *, uint32_t *),
			  uint32_t id)
{
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];
		const unsigned char *at = (const unsigned char *)(uintptr_t)section->address;
		uint64_t left = is_table(section) ? section->length : 0;
		struct item item;

		for (; left >= sizeof(struct ktrx_place); at += item.bytes, left -= item.bytes) {
			look(&item, at, left);
			if (is_it(&item, &id))
				return at;
		}
	}
	return NULL;
}

/* Counts events down. */
static bool is_event(const struct item *item, uint32_t *id)
{
	return item->magic == KTRX_EVENT_MAGIC && --*id == 0;
}

static bool is_place(const struct item *item, uint32_t *id)
{
	const struct ktrx_place *place = (const struct ktrx_place *)(const void *)item->at;

	return item->magic == KTRX_PLACE_MAGIC && place->id == *id && place->event != 0;
}

const struct ktrx_event *ktrace_row_find(const struct ktrx_root *root, uint32_t id)
{
	const struct ktrx_event *row = id ? search(root, is_event, id) : NULL;

	return row && row_is_whole(row) ? row : NULL;
}

const struct ktrx_event *ktrace_row_of(const struct ktrx_root *root, uint32_t id,
				       const struct ktrx_place **place)
{
	const struct ktrx_event *row = ktrace_row_find(root, id);

	*place = row || !id ? NULL : search(root, is_place, id);
	return *place ? ktrace_row_find(root, (*place)->event) : row;
}

const char *ktrace_row_file(const struct ktrx_event *row, const struct ktrx_place *place)
{
	const char *file = (const char *)(place + 1);

	if (!place)
		return ktrace_row_string(row, KTRACE_ROW_FILE);
	for (uint32_t i = 0; i < place->size - sizeof(*place); i++)
		if (file[i] == '\0')
			return file;
	return "";
}

const char *ktrace_row_string(const struct ktrx_event *row, uint32_t n)
{
	const char *start = (const char *)(row + 1);
	const char *end = (const char *)row + row->size;

	for (const char *at = start; at < end; at++) {
		if (*at)
			continue;
		if (n-- == 0)
			return start;
		start = at + 1;
	}
	return "";
}

uint32_t ktrace_field_bytes(uint8_t type)
{
	static const uint8_t bytes[] = {
		[KTRX_TYPE_U8] = 1,   [KTRX_TYPE_U16] = 2,  [KTRX_TYPE_U32] = 4,     [KTRX_TYPE_U64] = 8,
		[KTRX_TYPE_I8] = 1,   [KTRX_TYPE_I16] = 2,  [KTRX_TYPE_I32] = 4,     [KTRX_TYPE_I64] = 8,
		[KTRX_TYPE_BOOL] = 1, [KTRX_TYPE_CHAR] = 1, [KTRX_TYPE_POINTER] = 8,
	};

	return type < sizeof(bytes) ? bytes[type] : 0;
}

uint64_t ktrace_field_value(const uint8_t *from, uint8_t type)
{
	uint32_t bytes = ktrace_field_bytes(type);
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	if (type >= KTRX_TYPE_I8 && type < KTRX_TYPE_I64 && (from[bytes - 1] & 0x80u))
		value |= ~(uint64_t)0 << 8 * bytes;
	return value;
}
