/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The events of a page, and the names of the addresses in them. */
#include "page/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

/* ---- Events ---- */

static struct page_event_list *add_list(struct page_events *events, uint32_t ring, uint32_t cpu,
					uint64_t hash)
{
	struct page_event_list *larger =
		base_grow(events->list, &events->room, (size_t)events->lists + 1, sizeof(*larger));

	if (!larger)
		return NULL;
	events->list = larger;
	if (base_index_add(&events->index, hash, events->lists) < 0)
		return NULL;
	events->last = events->lists++;
	larger[events->last].ring = ring;
	larger[events->last].cpu = cpu;
	return &larger[events->last];
}

static struct page_event_list *find_list(struct page_events *events, uint32_t ring, uint32_t cpu)
{
	struct page_event_list *list = events->list;
	uint64_t hash;

	if (events->lists && list[events->last].ring == ring && list[events->last].cpu == cpu)
		return &list[events->last];
	hash = base_hash(base_hash(0, ring), cpu);
	for (uint32_t probe = 0, n; base_index_next(&events->index, hash, &probe, &n);) {
		if (list[n].ring != ring || list[n].cpu != cpu)
			continue;
		events->last = n;
		return &list[n];
	}
	return add_list(events, ring, cpu, hash);
}

static void put_value(struct page_bytes *values, struct page_strings *strings,
		      const struct ktread_value *value)
{
	switch (value->type) {
	case KTRX_TYPE_STRING:
		page_put(values, page_string(strings, value->string, value->length));
		break;
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		page_put_signed(values, (int64_t)value->number);
		break;
	default:
		page_put(values, value->number);
		break;
	}
}

static void put_callers(struct page_event_list *list, const struct ktread_event *event)
{
	const uint32_t count = (event->site != 0) + (event->callers < 2 ? event->callers : 2);

	if (count == 0)
		return;
	page_put(&list->callers[0], event->index - list->caller_slot);
	page_put(&list->callers[1], count);
	if (event->site)
		page_put(&list->callers[1], event->site);
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		page_put(&list->callers[1], event->caller[n]);
	list->caller_slot = event->index;
	list->caller_count++;
}

int page_events_add(struct page_events *events, struct page_strings *strings, uint64_t time, uint32_t lane,
		    const struct ktread_event *event, bool redact)
{
	struct page_event_list *list = find_list(events, event->ring, event->cpu);
	struct ktread_value value;
	uint64_t present = 0;

	if (!list)
		return KTREAD_E_MEMORY;
	page_put_delta(&list->column[PAGE_EVENT_TIME], list->time, time);
	page_put(&list->column[PAGE_EVENT_TYPE], event->id);
	page_put(&list->column[PAGE_EVENT_LANE], lane);
	page_put(&list->column[PAGE_EVENT_CONTEXT], event->context);
	page_put(&list->column[PAGE_EVENT_SLOT], event->index - list->slot);
	for (uint32_t n = 0; n < event->type->fields && n < 64; n++) {
		if (ktread_value(event, n, &value) != 0 || (redact && value.type == KTRX_TYPE_STRING) ||
		    timeline_is_unknown(&event->type->field[n], &value))
			continue;
		present |= UINT64_C(1) << n;
		put_value(&list->column[PAGE_EVENT_VALUES], strings, &value);
	}
	page_put(&list->column[PAGE_EVENT_PRESENT], present);
	put_callers(list, event);
	list->time = time;
	list->slot = event->index;
	list->count++;
	return 0;
}

static void write_list(struct page_event_list *list, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL };

	page_put(&head, list->ring);
	page_put(&head, list->cpu == KTRX_NO_CPU ? 0 : list->cpu + UINT64_C(1));
	page_put(&head, list->count);
	page_block_section(block, PAGE_EVENTS, &head, list->column, PAGE_EVENT_COLUMNS);
	if (list->caller_count) {
		head.size = 0;
		page_put(&head, list->ring);
		page_put(&head, list->caller_count);
		page_block_section(block, PAGE_STACKS, &head, list->callers, 2);
	}
	page_bytes_free(&head);
	for (unsigned n = 0; n < PAGE_EVENT_COLUMNS; n++)
		list->column[n].size = 0;
	list->callers[0].size = list->callers[1].size = 0;
	list->time = list->slot = list->caller_slot = list->count = list->caller_count = 0;
}

void page_events_write(struct page_events *events, struct page_block *block)
{
	for (uint32_t n = 0; n < events->lists; n++)
		if (events->list[n].count)
			write_list(&events->list[n], block);
}

void page_events_free(struct page_events *events)
{
	for (uint32_t n = 0; n < events->lists; n++) {
		for (unsigned column = 0; column < PAGE_EVENT_COLUMNS; column++)
			page_bytes_free(&events->list[n].column[column]);
		page_bytes_free(&events->list[n].callers[0]);
		page_bytes_free(&events->list[n].callers[1]);
	}
	free(events->list);
	base_index_free(&events->index);
}

/* ---- Names of addresses ---- */

/* Returns the number of the string that names an address; 0 if the address has no name. */
static uint32_t name_address(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
			     enum page_symbol_kind kind)
{
	struct symbol symbol;
	char text[1024];
	int length;

	if ((kind == PAGE_SYMBOL_RETURN ? symbols_find_call(symbols->from, address, &symbol)
					: symbols_find_any(symbols->from, address, &symbol)) != 0)
		return 0;
	length = symbol.offset
			 ? snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, symbol.function, symbol.offset)
			 : snprintf(text, sizeof(text), "%.400s", symbol.function);
	if (symbol.file && !symbols->redact)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " (%.400s:%" PRIu32 ")",
				   symbol.file, symbol.line);
	return page_string(strings, text, (size_t)length);
}

uint32_t page_symbol(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
		     enum page_symbol_kind kind)
{
	const uint64_t hash = base_hash(0, address);
	struct page_symbol *larger;

	if (!symbols->from || address == 0)
		return 0;
	for (uint32_t probe = 0, n; base_index_next(&symbols->index, hash, &probe, &n);)
		if (symbols->symbol[n].address == address)
			return symbols->symbol[n].name;
	if (symbols->count == PAGE_SYMBOLS_MOST)
		return 0;
	larger = base_grow(symbols->symbol, &symbols->room, (size_t)symbols->count + 1, sizeof(*larger));
	if (!larger)
		return 0;
	symbols->symbol = larger;
	larger += symbols->count;
	*larger = (struct page_symbol){ address, name_address(symbols, strings, address, kind) };
	if (base_index_add(&symbols->index, hash, symbols->count) == 0)
		symbols->count++;
	return larger->name;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t left = ((const struct page_symbol *)a)->address;
	const uint64_t right = ((const struct page_symbol *)b)->address;

	return left < right ? -1 : left > right;
}

void page_symbols_write(struct page_symbols *symbols, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL }, column[2] = { { .byte = NULL } };
	const size_t fresh = symbols->count - symbols->written;
	struct page_symbol *sorted = fresh ? malloc(fresh * sizeof(*sorted)) : NULL;
	uint64_t address = 0;
	uint32_t named = 0;

	if (!sorted)
		return;
	memcpy(sorted, symbols->symbol + symbols->written, fresh * sizeof(*sorted));
	qsort(sorted, fresh, sizeof(*sorted), by_address);
	for (size_t n = 0; n < fresh; n++) {
		if (sorted[n].name == 0)
			continue;
		page_put(&column[0], sorted[n].address - address);
		page_put(&column[1], sorted[n].name);
		address = sorted[n].address;
		named++;
	}
	page_put(&head, named);
	if (named)
		page_block_section(block, PAGE_SYMBOLS, &head, column, 2);
	page_bytes_free(&head);
	page_bytes_free(&column[0]);
	page_bytes_free(&column[1]);
	free(sorted);
	symbols->written = symbols->count;
}

void page_symbols_free(struct page_symbols *symbols)
{
	free(symbols->symbol);
	base_index_free(&symbols->index);
}
