/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/slices.h"

#include <stdlib.h>

#include "base/grow.h"

enum column { BEGIN, DURATION, NAME, CLASS, DEPTH, RING, SLOT, OTHER, FLAGS, COLUMNS };

int page_slices_add(struct page_slices *slices, const struct page_slice *slice)
{
	struct page_slice *larger =
		base_grow(slices->slice, &slices->room, (size_t)slices->count + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	slices->slice = larger;
	larger[slices->count++] = *slice;
	return 0;
}

/* Orders slices by their beginnings. If slices begin at the same time, the outer slice comes first. */
static int by_begin(const void *a, const void *b)
{
	const struct page_slice *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	if (left->depth != right->depth)
		return left->depth < right->depth ? -1 : 1;
	return left < right ? -1 : left > right;
}

static bool are_in_order(const struct page_slice *slice, uint32_t count)
{
	for (uint32_t n = 1; n < count; n++)
		if (by_begin(&slice[n - 1], &slice[n]) > 0)
			return false;
	return true;
}

static void write_row(struct page_slice *slice, uint32_t count, struct page_bytes *column,
		      struct page_block *block)
{
	struct page_bytes head = { .byte = NULL };
	uint64_t begin = 0, slot = 0;

	if (!are_in_order(slice, count))
		qsort(slice, count, sizeof(*slice), by_begin);
	for (unsigned n = 0; n < COLUMNS; n++)
		column[n].size = 0;
	for (uint32_t n = 0; n < count; n++) {
		page_put(&column[BEGIN], slice[n].begin - begin);
		page_put(&column[DURATION], slice[n].duration);
		page_put(&column[NAME], slice[n].name);
		page_put(&column[CLASS], slice[n].class);
		page_put(&column[DEPTH], slice[n].depth);
		page_put(&column[RING], slice[n].ring);
		page_put_delta(&column[SLOT], slot, slice[n].slot);
		page_put(&column[OTHER], slice[n].other);
		page_put(&column[FLAGS], slice[n].flags);
		begin = slice[n].begin;
		slot = slice[n].slot;
	}
	page_put(&head, slice->lane);
	page_put(&head, slice->row);
	page_put(&head, count);
	page_block_section(block, PAGE_SLICES, &head, column, COLUMNS);
	page_bytes_free(&head);
}

static uint32_t row_of(const struct page_slice *slice)
{
	return slice->lane * PAGE_ROWS + slice->row;
}

/*
 * Copies the slices to `sorted`, row by row, in their order within a row. Stores in `end` where each row
 * ends.
 */
static void sort_by_row(const struct page_slices *slices, struct page_slice *sorted, uint32_t *end,
			uint32_t rows)
{
	uint32_t sum = 0;

	for (uint32_t n = 0; n < slices->count; n++)
		end[row_of(&slices->slice[n])]++;
	for (uint32_t row = 0; row < rows; row++) {
		const uint32_t count = end[row];

		end[row] = sum;
		sum += count;
	}
	for (uint32_t n = 0; n < slices->count; n++)
		sorted[end[row_of(&slices->slice[n])]++] = slices->slice[n];
}

int page_slices_write(struct page_slices *slices, uint32_t lanes, struct page_block *block)
{
	const uint32_t rows = lanes * PAGE_ROWS;
	struct page_slice *sorted = calloc((size_t)slices->count + 1, sizeof(*sorted));
	uint32_t *end = calloc((size_t)rows + 1, sizeof(*end));
	struct page_bytes column[COLUMNS] = { { .byte = NULL } };
	int status = sorted && end ? 0 : KTREAD_E_MEMORY;

	if (status == 0)
		sort_by_row(slices, sorted, end, rows);
	for (uint32_t row = 0, from = 0; status == 0 && row < rows; from = end[row++])
		if (end[row] > from)
			write_row(sorted + from, end[row] - from, column, block);
	for (unsigned n = 0; n < COLUMNS; n++)
		page_bytes_free(&column[n]);
	free(sorted);
	free(end);
	slices->count = 0;
	return status;
}

void page_slices_free(struct page_slices *slices)
{
	free(slices->slice);
}
