/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show --id: finds events by their ids, and the events around them. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "cmd/command.h"
#include "cmd/show.h"

int show_chosen_parse(struct show_chosen *chosen, const char *list)
{
	const char *at = list;

	do {
		struct timeline_id *id = &chosen->id[chosen->count];
		uint64_t ring;

		if (chosen->count == SHOW_IDS) {
			command_message(chosen->name, "--id: at most %u events", SHOW_IDS);
			return command_usage(chosen->name);
		}
		at += chosen->count != 0;
		at = trace_read_number(at, &ring);
		at = at && *at == '.' && ring <= UINT32_MAX ? trace_read_number(at + 1, &id->index) : NULL;
		if (!at || (*at && *at != ','))
			return command_bad_value(chosen->name, "--id", list,
						 "a list of RING.SLOT, such as 2.71681,3.204");
		id->ring = (uint32_t)ring;
		chosen->count++;
	} while (*at);
	return 0;
}

/* ---- The events to show ---- */

static int compare(const void *left, const void *right)
{
	const struct timeline_id *a = left, *b = right;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int accept(void *context, const struct ktread_event *event)
{
	const struct show_chosen *chosen = context;
	const struct timeline_id id = { event->ring, event->index };

	return bsearch(&id, chosen->shown, chosen->shown_count, sizeof(id), compare) != NULL;
}

/* Adds an event to the list. Returns 0 or KTREAD_E_MEMORY. */
static int add(struct show_chosen *chosen, struct timeline_id id)
{
	struct timeline_id *larger =
		base_grow(chosen->shown, &chosen->room, (uint64_t)chosen->shown_count + 1, sizeof(id));

	if (!larger)
		return KTREAD_E_MEMORY;
	chosen->shown = larger;
	larger[chosen->shown_count++] = id;
	return 0;
}

/*
 * The newest events that are not shown yet, in a circular buffer: `count` events have been added, and the
 * last `held` of them are stored, event number n at index n modulo `room`.
 */
struct newest {
	struct timeline_id *id;
	uint64_t count, held, room;
};

static void hold(struct newest *newest, struct timeline_id id)
{
	if (newest->room == 0)
		return;
	newest->id[newest->count++ % newest->room] = id;
	newest->held += newest->held < newest->room;
}

static int add_newest(struct show_chosen *chosen, struct newest *newest)
{
	int status = 0;

	for (; newest->held && !status; newest->held--)
		status = add(chosen, newest->id[(newest->count - newest->held) % newest->room]);
	return status;
}

/*
 * Returns whether the event is chosen. Records the oldest and the newest event of each chosen event's ring.
 */
static bool is_chosen(struct show_chosen *chosen, struct timeline_id id)
{
	bool found = false;

	for (uint32_t n = 0; n < chosen->count; n++) {
		struct show_extent *extent = &chosen->extent[n];

		if (chosen->id[n].ring != id.ring)
			continue;
		found |= chosen->id[n].index == id.index;
		extent->oldest = extent->is_known && extent->oldest < id.index ? extent->oldest : id.index;
		extent->newest = extent->newest > id.index ? extent->newest : id.index;
		extent->is_known = true;
	}
	return found;
}

/* Collects the events in chosen->shown. Returns 0, or an error of the reader. */
static int collect(struct show_chosen *chosen, struct ktread *trace, struct newest *newest)
{
	const struct ktread_event *event;
	uint64_t after = 0; /* number of events to show after the last chosen event */
	int status = 0, more;

	while (!status && (more = ktread_next(trace, &event)) != 0) {
		const struct timeline_id id = { more > 0 ? event->ring : 0, more > 0 ? event->index : 0 };

		if (more < 0)
			return more;
		if (is_chosen(chosen, id)) {
			status = add_newest(chosen, newest);
			after = chosen->around + 1;
		}
		if (after == 0)
			hold(newest, id);
		else if (!status)
			status = add(chosen, id);
		after -= after != 0;
	}
	return status;
}

/* ---- Messages about ids without an event ---- */

/* Prints why the trace has no event with the id chosen->id[number]. */
static void report_absent(const struct show_chosen *chosen, const struct ktread *trace, uint32_t number)
{
	const struct timeline_id *id = &chosen->id[number];
	const struct show_extent *extent = &chosen->extent[number];
	const struct ktread_ring *ring = ktread_ring(trace, id->ring);
	char why[128] = "no event begins in this slot, or it is unreadable";

	if (!ring)
		snprintf(why, sizeof(why), "the trace has no such ring");
	else if (!extent->is_known)
		snprintf(why, sizeof(why), "the ring has no events");
	else if (id->index < extent->oldest)
		snprintf(why, sizeof(why), "the oldest event of the ring is %" PRIu32 ".%" PRIu64 "%s",
			 id->ring, extent->oldest, ring->overwritten ? "; older ones were overwritten" : "");
	else if (id->index > extent->newest)
		snprintf(why, sizeof(why), "the newest event of the ring is %" PRIu32 ".%" PRIu64, id->ring,
			 extent->newest);
	command_message(chosen->name, "no event %" PRIu32 ".%" PRIu64 ": %s", id->ring, id->index, why);
}

/*
 * Checks that there is an event for each id. Returns 0, or EXIT_BAD_INPUT after a message for each id without
 * one.
 */
static int check_found(const struct show_chosen *chosen, const struct ktread *trace)
{
	int status = 0;

	for (uint32_t n = 0; n < chosen->count; n++)
		if (!chosen->shown_count || !bsearch(&chosen->id[n], chosen->shown, chosen->shown_count,
						     sizeof(chosen->id[n]), compare)) {
			report_absent(chosen, trace, n);
			status = EXIT_BAD_INPUT;
		}
	return status;
}

int show_chosen_find(struct show_chosen *chosen, struct ktread *trace)
{
	const struct ktread_filter filter = {
		.size = sizeof(filter), .thread = -1, .accept = accept, .context = chosen
	};
	struct newest newest = { .room = chosen->around };
	int status = 0, result;

	newest.id = calloc(chosen->around + 1, sizeof(*newest.id));
	result = newest.id ? collect(chosen, trace, &newest) : KTREAD_E_MEMORY;
	free(newest.id);
	if (result == 0) {
		if (chosen->shown_count)
			qsort(chosen->shown, chosen->shown_count, sizeof(*chosen->shown), compare);
		status = check_found(chosen, trace);
		result = ktread_set_filter(trace, &filter);
	}
	if (result == 0)
		result = ktread_rewind(trace);
	if (result == 0)
		return status;
	chosen->shown_count = 0;
	command_message(chosen->name, "%s",
			result == KTREAD_E_MEMORY ? "out of memory" : ktread_message(trace));
	return EXIT_BAD_INPUT;
}

void show_chosen_free(struct show_chosen *chosen)
{
	free(chosen->shown);
	chosen->shown = NULL;
	chosen->shown_count = chosen->room = 0;
}
