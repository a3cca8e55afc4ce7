/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Slots as columns: what both directions need. */
#include <stdlib.h>

#include "columns.h"

struct ktread_columns *ktread_columns_create(void)
{
	return calloc(1, sizeof(struct ktread_columns));
}

void ktread_columns_free(struct ktread_columns *columns)
{
	free(columns);
}

enum ktread_columns_shape ktread_columns_shape_of(uint32_t coding, uint32_t key)
{
	if (key == KTRX_STREAM_KEY_EMPTY)
		return KTREAD_SHAPE_EMPTY;
	if (key == KTRX_STREAM_KEY_ODD)
		return KTREAD_SHAPE_ODD;
	if (coding != KTRX_STREAM_SLOTS_V1 && key >= KTRX_STREAM_KEY_MORE)
		return KTREAD_SHAPE_MORE;
	return KTREAD_SHAPE_FIRST;
}

void ktread_columns_order(struct ktread_columns *columns, uint32_t slots)
{
	uint32_t start = 0;

	for (uint32_t g = 0; g < columns->groups; g++) {
		columns->group[g].end = start;
		start += columns->group[g].slots;
	}
	for (uint32_t n = 0; n < slots; n++)
		columns->order[columns->group[columns->member[n]].end++] = n;
}
