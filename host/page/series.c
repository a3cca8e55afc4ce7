/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The slices, arrows, counters and gaps of a page. */
#include "page/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"

/* ---- Slices ---- */

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

/* ---- Arrows ---- */

enum { ARROW_TIME, ARROW_FROM, ARROW_TO, ARROW_LENGTH, ARROW_RING, ARROW_SLOT, ARROW_KIND, ARROW_COLUMNS };

int page_arrows_add(struct page_arrows *arrows, const struct page_arrow *arrow)
{
	struct page_arrow *larger =
		base_grow(arrows->arrow, &arrows->room, (size_t)arrows->count + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	arrows->arrow = larger;
	larger[arrows->count++] = *arrow;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct page_arrow *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	if (left->ring != right->ring)
		return left->ring < right->ring ? -1 : 1;
	return left->slot < right->slot ? -1 : left->slot > right->slot;
}

void page_arrows_write(struct page_arrows *arrows, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL }, column[ARROW_COLUMNS] = { { .byte = NULL } };
	uint64_t time = 0, slot = 0;

	if (arrows->count == 0)
		return;
	qsort(arrows->arrow, arrows->count, sizeof(*arrows->arrow), by_time);
	for (uint32_t n = 0; n < arrows->count; n++) {
		const struct page_arrow *arrow = &arrows->arrow[n];

		page_put(&column[ARROW_TIME], arrow->time - time);
		page_put(&column[ARROW_FROM], arrow->from);
		page_put(&column[ARROW_TO], arrow->to);
		page_put(&column[ARROW_LENGTH], arrow->length);
		page_put(&column[ARROW_RING], arrow->ring);
		page_put_delta(&column[ARROW_SLOT], slot, arrow->slot);
		page_put(&column[ARROW_KIND], arrow->kind);
		time = arrow->time;
		slot = arrow->slot;
	}
	page_put(&head, arrows->count);
	page_block_section(block, PAGE_ARROWS, &head, column, ARROW_COLUMNS);
	page_bytes_free(&head);
	for (unsigned n = 0; n < ARROW_COLUMNS; n++)
		page_bytes_free(&column[n]);
	arrows->count = 0;
}

/* ---- Counters ---- */

/* Adds the counters of an event type, one for each field. Returns 0 or KTREAD_E_MEMORY. */
static int add_counters(struct page_counters *counters, struct page_strings *strings,
			struct page_lanes *lanes, const struct ktread_type *type)
{
	struct page_counter *larger = base_grow(counters->counter, &counters->room,
						(size_t)counters->count + type->fields + 1, sizeof(*larger));
	char name[256];

	if (!larger)
		return KTREAD_E_MEMORY;
	counters->counter = larger;
	counters->first[type->id] = counters->count + 1;
	for (uint32_t n = 0; n < type->fields; n++) {
		const struct ktread_field *field = &type->field[n];
		struct page_counter *counter = &larger[counters->count++];

		if (field->type == KTRX_TYPE_STRING)
			continue;
		snprintf(name, sizeof(name), "%.120s.%.120s", type->name, field->name);
		counter->lane = page_lane_add(lanes, PAGE_LANE_COUNTER, type->id,
					      page_string(strings, name, strlen(name)),
					      page_string(strings, field->unit, strlen(field->unit)), 0);
	}
	return 0;
}

int page_counters_add(struct page_counters *counters, struct page_strings *strings, struct page_lanes *lanes,
		      uint64_t time, const struct ktread_event *event)
{
	struct ktread_value value;
	struct page_counter *counter;

	if (event->id > KTRX_EVENT_MAX)
		return 0;
	if (counters->first[event->id] == 0 && add_counters(counters, strings, lanes, event->type) < 0)
		return KTREAD_E_MEMORY;
	counter = &counters->counter[counters->first[event->id] - 1];
	for (uint32_t n = 0; n < event->type->fields; n++, counter++) {
		if (ktread_value(event, n, &value) != 0 || value.type == KTRX_TYPE_STRING)
			continue;
		page_put(&counter->column[0], time > counter->time ? time - counter->time : 0);
		page_put_signed(&counter->column[1], (int64_t)value.number);
		counter->time = time > counter->time ? time : counter->time;
		counter->count++;
	}
	return 0;
}

void page_counters_write(struct page_counters *counters, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL };

	for (uint32_t n = 0; n < counters->count; n++) {
		struct page_counter *counter = &counters->counter[n];

		if (counter->count == 0)
			continue;
		head.size = 0;
		page_put(&head, counter->lane);
		page_put(&head, counter->count);
		page_block_section(block, PAGE_COUNTER, &head, counter->column, 2);
		counter->column[0].size = counter->column[1].size = 0;
		counter->count = 0;
		counter->time = 0;
	}
	page_bytes_free(&head);
}

void page_counters_free(struct page_counters *counters)
{
	for (uint32_t n = 0; n < counters->count; n++) {
		page_bytes_free(&counters->counter[n].column[0]);
		page_bytes_free(&counters->counter[n].column[1]);
	}
	free(counters->counter);
}

/* ---- Gaps ---- */

int page_gaps_add(struct page_gaps *gaps, const struct page_gap *gap)
{
	struct page_gap *larger = base_grow(gaps->gap, &gaps->room, (size_t)gaps->count + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	gaps->gap = larger;
	larger[gaps->count++] = *gap;
	return 0;
}

static int gap_by_begin(const void *a, const void *b)
{
	const struct page_gap *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

void page_gaps_write(struct page_gaps *gaps, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL }, column[4] = { { .byte = NULL } };
	uint64_t begin = 0;

	if (gaps->count == 0)
		return;
	qsort(gaps->gap, gaps->count, sizeof(*gaps->gap), gap_by_begin);
	for (uint32_t n = 0; n < gaps->count; n++) {
		const struct page_gap *gap = &gaps->gap[n];

		page_put(&column[0], gap->cpu == KTRX_NO_CPU ? 0 : gap->cpu + UINT64_C(1));
		page_put(&column[1], gap->begin - begin);
		page_put(&column[2], gap->end > gap->begin ? gap->end - gap->begin : 0);
		page_put(&column[3], gap->lost);
		begin = gap->begin;
	}
	page_put(&head, gaps->count);
	page_block_section(block, PAGE_GAPS, &head, column, 4);
	page_bytes_free(&head);
	for (unsigned n = 0; n < 4; n++)
		page_bytes_free(&column[n]);
	gaps->count = 0;
}
