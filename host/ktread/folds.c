/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Repetitions that the kernel was counting when the trace was taken. Rows are read one at a time; one that its CPU was
 * changing just then, or that cannot be, is passed over.
 */
#include <string.h>

#include "message.h"
#include "v2.h"

#define ROWS_MOST    (KTRX_MAX_RINGS * 64u)
#define STABLE_TRIES 10u

static int read_once(const struct ktread_section *section, uint64_t at, struct ktrx_fold *fold)
{
	uint64_t after;
	int status = ktread_region_read(&section->region, at, fold, sizeof(*fold));

	if (status == 0)
		status = ktread_region_read(&section->region, at, &after, sizeof(after));
	if (status < 0)
		return status;
	return !(after & 1) && after == fold->sequence;
}

static uint64_t row_bytes(const struct ktread_section *section)
{
	return section->row.entry_size ? section->row.entry_size : sizeof(struct ktrx_fold);
}

/* Row `n`: 1; 0 if there are not so many; or an error. `whole`: nobody changed it meanwhile. */
static int read_row(const struct ktread *trace, uint32_t n, struct ktrx_fold *fold, bool *whole)
{
	const struct ktread_section *section =
		trace->layout ? ktread_layout_section(trace->layout, KTRX_SECTION_FOLDS, 0) : NULL;
	int status = 0;

	if (!section || row_bytes(section) < sizeof(*fold) || n >= ROWS_MOST ||
	    n >= section->region.length / row_bytes(section))
		return 0;
	for (unsigned i = 0; i < STABLE_TRIES && status == 0; i++)
		status = read_once(section, n * row_bytes(section), fold);
	*whole = status > 0;
	return status < 0 ? status : 1;
}

/* Can the row be what a kernel writes? An empty one can. */
static bool is_sound(const struct ktrx_fold *fold)
{
	return fold->event <= KTRX_EVENT_MAX && fold->bytes <= KTRX_RECORD_MAX_PAYLOAD &&
	       (fold->count == 0 || (int64_t)(fold->last - fold->first) >= 0);
}

/* Is there a place with that id, and is it one of the event's? */
static bool is_of(const struct ktread *trace, uint32_t id, uint32_t event)
{
	const struct ktread_place *place =
		id <= KTRX_EVENT_MAX ? ktread_types_place(&trace->types, id) : NULL;

	return place && place->event == event;
}

static void describe(struct ktread *trace, struct ktread_fold *fold)
{
	const struct ktrx_fold *row = &trace->fold;
	struct ktread_event *event = &fold->event;

	memset(event, 0, sizeof(*event));
	event->cpu = row->cpu;
	event->ring = row->ring;
	event->thread = KTRX_W1_THREAD(row->second);
	event->context = KTRX_W1_CONTEXT(row->second);
	event->payload = row->payload;
	event->payload_size = row->bytes;
	ktread_types_identify(&trace->types, event,
			      is_of(trace, row->place, row->event) ? row->place : row->event);
	if (KTRX_W1_EXTENDED(row->second) && row->bytes >= sizeof(struct ktrx_extension))
		ktread_v2_take_extension(event);
	fold->count = row->count;
	fold->first = ktread_corrected(trace, row->cpu, row->first);
	fold->last = ktread_corrected(trace, row->cpu, row->last);
	event->stamp = fold->last;
}

static bool is_wanted(const struct ktread *trace, const struct ktread_fold *fold)
{
	const struct ktread_selection *want = &trace->selection;
	uint64_t stamp = fold->last > want->until && fold->first <= want->until ? want->until : fold->last;

	return !want->active ||
	       ktread_selected(want, stamp, fold->event.cpu, fold->event.thread, fold->event.id);
}

int ktread_fold(struct ktread *trace, uint32_t *row, struct ktread_fold *fold)
{
	bool whole;
	int status;

	while ((status = read_row(trace, *row, &trace->fold, &whole)) > 0) {
		++*row;
		if (!whole || !is_sound(&trace->fold) || trace->fold.event == 0 || trace->fold.count == 0)
			continue;
		describe(trace, fold);
		if (is_wanted(trace, fold))
			return 1;
	}
	return status < 0 ? ktread_keep_message(trace, status) : 0;
}

int ktread_folds_check(struct ktread *trace)
{
	uint32_t damaged = 0, torn = 0, n = 0;
	bool whole;
	int status;

	while ((status = read_row(trace, n++, &trace->fold, &whole)) > 0) {
		torn += !whole;
		damaged += whole && !is_sound(&trace->fold);
	}
	if (damaged)
		ktread_warn(trace, "%s: rows of repetitions that are damaged: %u", trace->memory->name,
			    damaged);
	if (torn)
		ktread_warn(trace,
			    "%s: rows of repetitions that were being changed, so that their count is not "
			    "known: %u",
			    trace->memory->name, torn);
	return status;
}
