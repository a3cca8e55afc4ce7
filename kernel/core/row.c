/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "row.h"

#include <stddef.h>

static bool is_table(const struct ktrx_section *section)
{
	return section->type == KTRX_SECTION_EVENTS && section->where == KTRX_WHERE_VIRTUAL &&
	       section->extents == 1;
}

/* Do all strings that every row has end within it? */
static bool is_whole(const struct ktrx_event *row)
{
	const char *at = (const char *)(row + 1);
	const char *end = (const char *)row + row->size;
	uint32_t strings = 0;

	for (; at < end && strings < KTRACE_ROW_FIELDS; at++)
		strings += *at == '\0';
	return strings == KTRACE_ROW_FIELDS;
}

const struct ktrx_event *ktrace_row_find(const struct ktrx_root *root, uint32_t id)
{
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];
		const unsigned char *at = (const unsigned char *)(uintptr_t)section->address;
		uint64_t left = is_table(section) ? section->length : 0;

		while (left >= sizeof(struct ktrx_event)) {
			const struct ktrx_event *row = (const struct ktrx_event *)at;
			bool is_row = row->magic == KTRX_EVENT_MAGIC && row->size >= sizeof(*row) &&
				      row->size % 8 == 0 && row->size <= left;
			uint32_t step = is_row ? row->size : (uint32_t)sizeof(uint64_t);

			if (is_row && --id == 0)
				return is_whole(row) ? row : NULL;
			at += step;
			left -= step;
		}
	}
	return NULL;
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
