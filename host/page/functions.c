/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the functions of a hardware trace as nested slices on separate lanes. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"
#include "page/pass.h"

/* maximum number of open functions that are stored; functions nested more deeply get no slice */
#define DEPTH_MOST 4096u

static uint64_t add_lane(void *context, const char *name, uint64_t time)
{
	struct page_pass *pass = context;
	struct page_functions *functions = &pass->functions;
	struct page_track *larger =
		base_grow(functions->track, &functions->room, (size_t)functions->tracks + 1, sizeof(*larger));

	(void)time;
	if (!larger) {
		pass->error = KTREAD_E_MEMORY;
		return UINT64_MAX;
	}
	functions->track = larger;
	larger[functions->tracks].lane = page_lane_add(&pass->lanes, PAGE_LANE_FUNCTIONS, functions->tracks,
						       page_string(&pass->strings, name, strlen(name)), 0, 0);
	return functions->tracks++;
}

static void begin_function(struct page_pass *pass, struct page_track *track, const struct ktread_event *event)
{
	struct page_begun *larger = NULL;
	struct ktread_value value;

	if (track->depth < DEPTH_MOST)
		larger = base_grow(track->open, &track->room, (size_t)track->depth + 1, sizeof(*larger));
	track->depth++;
	if (!larger)
		return;
	track->open = larger;
	larger[track->depth - 1] = (struct page_begun){
		.begin = event->stamp, .slot = event->index, .ring = event->ring, .class = PAGE_CLASS_FUNCTION
	};
	if (ktread_value(event, 0, &value) == 0 && value.type == KTRX_TYPE_STRING)
		larger[track->depth - 1].name = page_string(&pass->strings, value.string, value.length);
}

/* Ends the innermost function. `flags`: PAGE_SLICE_END_UNKNOWN if the trace ends before the function. */
static void end_function(struct page_pass *pass, struct page_track *track, uint64_t end, unsigned flags)
{
	if (track->depth == 0)
		return;
	track->depth--;
	if (track->depth < track->room)
		page_slice_end(pass, &track->open[track->depth], track->lane, PAGE_ROW_NEST, track->depth,
			       end, flags);
}

static void draw(void *context, uint64_t number, enum functions_mark mark, const struct ktread_event *event,
		 uint64_t time)
{
	struct page_pass *pass = context;

	if (number >= pass->functions.tracks)
		return;
	if (mark == FUNCTIONS_BEGIN)
		begin_function(pass, &pass->functions.track[number], event);
	else if (mark == FUNCTIONS_END)
		end_function(pass, &pass->functions.track[number], time, pass->functions.flags);
}

/* Returns whether the event reports that a part of the hardware trace is missing. */
static bool is_loss(const struct ktread_event *event)
{
	return strcmp(event->type->name, "lost") == 0;
}

int page_functions_event(struct page_pass *pass, const struct ktread_event *event)
{
	const struct functions_sink sink = { add_lane, draw, pass };

	/* functions that were open when data was lost may have ended in the lost data */
	pass->functions.flags = is_loss(event) ? PAGE_SLICE_END_UNKNOWN : 0;
	return functions_event(&pass->functions.model, &sink, event, event->stamp);
}

void page_functions_end(struct page_pass *pass)
{
	const struct functions_sink sink = { add_lane, draw, pass };

	pass->functions.flags = PAGE_SLICE_END_UNKNOWN;
	functions_close(&pass->functions.model, &sink, pass->last);
}

void page_functions_free(struct page_pass *pass)
{
	for (uint32_t n = 0; n < pass->functions.tracks; n++)
		free(pass->functions.track[n].open);
	free(pass->functions.track);
	functions_free(&pass->functions.model);
}
