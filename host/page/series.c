/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"

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

static int by_begin(const void *a, const void *b)
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
	qsort(gaps->gap, gaps->count, sizeof(*gaps->gap), by_begin);
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
