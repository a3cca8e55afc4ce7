/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/masks.h"

#include <stdlib.h>
#include <string.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

static int compare(const void *left, const void *right)
{
	const struct ktread_type *a = *(const struct ktread_type *const *)left;
	const struct ktread_type *b = *(const struct ktread_type *const *)right;
	int order = strcmp(a->group, b->group);

	if (!order)
		order = strcmp(a->file, b->file);
	if (!order && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	return order ? order : (int)a->id - (int)b->id;
}

int masks_open(struct masks *masks, const struct ktread *trace)
{
	masks->types = 0;
	masks->type = calloc(KTRX_EVENT_MAX + 1, sizeof(*masks->type));
	if (!masks->type)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && *type->group)
			masks->type[masks->types++] = type;
	}
	qsort(masks->type, masks->types, sizeof(*masks->type), compare);
	return 0;
}

void masks_close(struct masks *masks)
{
	free(masks->type);
	masks->type = NULL;
	masks->types = 0;
}

uint32_t masks_end(const struct masks *masks, uint32_t n)
{
	const char *group = masks->type[n]->group;

	while (n < masks->types && strcmp(masks->type[n]->group, group) == 0)
		n++;
	return n;
}

uint32_t masks_group(const struct masks *masks, const char *group, size_t length)
{
	uint32_t n = 0;

	while (n < masks->types &&
	       (strlen(masks->type[n]->group) != length || memcmp(masks->type[n]->group, group, length) != 0))
		n++;
	return n;
}

/* Events of the four bits of a digit that are wanted. */
static uint32_t wanted_digit(const struct masks *masks, uint32_t first, uint32_t end, uint32_t digit)
{
	uint32_t value = 0;

	for (uint32_t bit = 0; bit < 4; bit++) {
		uint32_t n = first + digit * 4 + bit;

		if (n < end && masks->type[n]->wanted != KTRX_STATE_OFF)
			value |= UINT32_C(1) << bit;
	}
	return value;
}

char *masks_put_enable(const struct masks *masks, uint32_t first, char *at)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t end = masks_end(masks, first), digit = (end - first + 3) / 4;

	*at++ = '0';
	*at++ = 'x';
	while (digit > 1 && wanted_digit(masks, first, end, digit - 1) == 0)
		digit--;
	while (digit-- > 0)
		*at++ = hex[wanted_digit(masks, first, end, digit)];
	return at;
}

char *masks_put_bit(uint32_t bit, char *at)
{
	*at++ = '0';
	*at++ = 'x';
	*at++ = "1248"[bit % 4];
	memset(at, '0', bit / 4);
	return at + bit / 4;
}
