/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "trace.h"

#define TABLE_LIMIT (UINT64_C(1) << 20) /* bytes of table that are looked at */
#define ROW_ALIGN   8u

static bool is_wide(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_U64 || row->kind == KTRX_SETTING_BIT64;
}

static bool is_bit(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_BIT32 || row->kind == KTRX_SETTING_BIT64;
}

/* Takes the row at `from` if there is one; returns how far it is to the next place where one may be. */
static uint64_t take_row(struct ktrx_setting *row, const char *from, uint64_t left, bool *taken)
{
	uint64_t size;

	memcpy(row, from, sizeof(*row));
	size = row->size;
	*taken = row->magic == KTRX_SETTING_MAGIC && size >= sizeof(*row) && size % ROW_ALIGN == 0 &&
		 size <= left && row->kind >= KTRX_SETTING_U32 && row->kind <= KTRX_SETTING_BIT64 &&
		 row->bit < (is_wide(row) ? 64 : 32);
	row->size = sizeof(*row);
	row->name[sizeof(row->name) - 1] = '\0';
	return *taken ? size : ROW_ALIGN;
}

/* What the word holds in memory; what cannot be read is 0. */
static uint64_t read_word(const struct ktread_layout *layout, const struct ktread_resolver *resolver,
			  const struct ktrx_setting *row)
{
	uint64_t physical, word = 0, bytes = is_wide(row) ? sizeof(uint64_t) : sizeof(uint32_t);

	if (resolver->resolve(resolver->context, KTRX_WHERE_VIRTUAL, row->address, bytes, 0, &physical) < 0 ||
	    ktread_memory_read(layout->memory, physical, &word, bytes) < 0)
		return 0;
	return is_bit(row) ? word >> row->bit & 1 : word;
}

int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver)
{
	const struct ktread_section *section = ktread_layout_section(layout, KTRX_SECTION_SETTINGS, 0);
	uint64_t size, at = 0;
	char *bytes;
	int status = section ? ktread_region_copy(&section->region, TABLE_LIMIT, &bytes, &size) : 0;

	if (!section || status < 0)
		return status;
	layout->setting = calloc(size / sizeof(*layout->setting) + 1, sizeof(*layout->setting));
	if (!layout->setting) {
		free(bytes);
		return ktread_fail_memory();
	}
	while (size - at >= sizeof(*layout->setting)) {
		struct ktrx_setting *row = &layout->setting[layout->settings];
		bool taken;

		at += take_row(row, bytes + at, size - at, &taken);
		if (taken && !(layout->root.flags & (KTRX_FLAG_DUMP | KTRX_FLAG_KEPT)))
			row->value = read_word(layout, resolver, row);
		layout->settings += taken;
	}
	free(bytes);
	return 0;
}

int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting)
{
	const struct ktrx_setting *row;

	if (!trace->layout || n >= trace->layout->settings)
		return 0;
	row = &trace->layout->setting[n];
	setting->name = row->name;
	setting->value = row->value;
	setting->most = row->most;
	setting->kind = row->kind;
	setting->read_only = (row->flags & KTRX_SETTING_READ_ONLY) != 0;
	return 1;
}
