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

/* Gives the events of a group their bits. None is beyond KTRX_EVENT_MAX, as there are not more events. */
static void number_group(struct masks *masks, uint32_t first, uint32_t end)
{
	uint8_t taken[KTRX_EVENT_MAX + 1] = { 0 };
	uint32_t next = 0;

	for (uint32_t n = first; n < end; n++)
		if (masks->type[n]->mask_bit)
			taken[masks->type[n]->mask_bit - 1] = 1;
	for (uint32_t n = first; n < end; n++) {
		if (masks->type[n]->mask_bit) {
			masks->bit[n] = masks->type[n]->mask_bit - 1u;
			continue;
		}
		while (next < KTRX_EVENT_MAX && taken[next])
			next++;
		masks->bit[n] = next++;
	}
}

int masks_open(struct masks *masks, const struct ktread *trace)
{
	masks->types = 0;
	masks->type = calloc(KTRX_EVENT_MAX + 1, sizeof(*masks->type));
	masks->bit = calloc(KTRX_EVENT_MAX + 1, sizeof(*masks->bit));
	if (!masks->type || !masks->bit) {
		masks_close(masks);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && *type->group)
			masks->type[masks->types++] = type;
	}
	qsort(masks->type, masks->types, sizeof(*masks->type), compare);
	for (uint32_t first = 0, end; first < masks->types; first = end) {
		end = masks_end(masks, first);
		number_group(masks, first, end);
	}
	return 0;
}

void masks_close(struct masks *masks)
{
	free(masks->type);
	free(masks->bit);
	masks->type = NULL;
	masks->bit = NULL;
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

int masks_have(const struct masks *masks, uint32_t n, uint32_t bit)
{
	for (uint32_t end = masks_end(masks, n); n < end; n++)
		if (masks->bit[n] == bit)
			return 1;
	return 0;
}

char *masks_put_enable(const struct masks *masks, uint32_t first, char *at)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t digits[KTRX_EVENT_MAX / 4 + 1] = { 0 };
	uint32_t end = masks_end(masks, first), count = 1;

	for (uint32_t n = first; n < end; n++) {
		uint32_t digit = masks->bit[n] / 4;

		if (masks->type[n]->wanted == KTRX_STATE_OFF || digit >= sizeof(digits))
			continue;
		digits[digit] |= (uint8_t)(1u << masks->bit[n] % 4);
		if (count < digit + 1)
			count = digit + 1;
	}
	*at++ = '0';
	*at++ = 'x';
	while (count-- > 0)
		*at++ = hex[digits[count]];
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
