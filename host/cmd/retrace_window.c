/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: finds the events at which recording begins and ends. */
#include <inttypes.h>
#include <stdio.h>

#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/retrace.h"
#include "cmd/trace_args.h"

/* An event that is being looked for: the beginning or the end of the window. */
struct edge {
	const char *option, *word; /* value of the option; NULL: the option was not given */
	bool by_time;
	uint64_t stamp, ring, index;
	bool found;
	struct retrace_place *place;
};

static int parse(const char *name, struct edge *edge, const struct ktread *trace)
{
	const uint64_t frequency = ktread_info(trace)->frequency;
	const char *rest;

	if (!edge->word)
		return 0;
	if (edge->by_time) {
		if (trace_parse_ticks(edge->word, frequency, TRACE_MOMENT, &edge->stamp) != 0)
			return trace_bad_time(name, edge->option, edge->word, frequency);
		/* `word` is a time relative to the first event, because commands print times in this way */
		edge->stamp += ktread_first_stamp(trace);
		return 0;
	}
	rest = trace_read_number(edge->word, &edge->ring);
	if (!rest || *rest != '.' || trace_parse_number(rest + 1, UINT64_MAX, &edge->index) != 0)
		return command_bad_value(name, edge->option, edge->word, "RING.SLOT, such as 2.71681");
	return 0;
}

static bool matches(const struct edge *edge, const struct ktread_event *event)
{
	if (edge->by_time)
		return event->stamp >= edge->stamp;
	return event->ring == edge->ring && event->index == edge->index;
}

static int find(const char *name, const struct capture_recipe *recipe, struct ktread *trace,
		struct edge edges[2])
{
	const struct ktread_event *event;
	int more;

	while ((more = ktread_next(trace, &event)) > 0)
		for (unsigned n = 0; n < 2; n++) {
			struct edge *edge = &edges[n];

			if (!edge->word || edge->found || !matches(edge, event))
				continue;
			edge->found = true;
			edge->place->stamp = event->stamp;
			if (capture_recipe_slot(recipe, trace, event, &edge->place->position,
						&edge->place->word) != 0) {
				command_message(name, "%s", capture_message());
				return EXIT_BAD_INPUT;
			}
		}
	if (more < 0) {
		command_message(name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	for (unsigned n = 0; n < 2; n++)
		if (edges[n].word && !edges[n].found) {
			command_message(name, "%s %s: %s has no event %s", edges[n].option, edges[n].word,
					recipe->path,
					edges[n].by_time ? "at or after this time" : "with this id");
			return EXIT_BAD_INPUT;
		}
	if (edges[0].word && edges[1].word && edges[1].place->stamp < edges[0].place->stamp) {
		command_message(name, "%s %s: the event is before that of %s", edges[1].option, edges[1].word,
				edges[0].option);
		return EXIT_BAD_INPUT;
	}
	return 0;
}

int retrace_window_find(struct retrace_window *window, const char *name, const struct capture_recipe *recipe)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct edge edges[2] = {
		{ .option = window->since ? "--since" : "--since-event",
		  .word = window->since ? window->since : window->since_event,
		  .by_time = window->since != NULL,
		  .place = &window->begin },
		{ .option = window->until ? "--until" : "--until-event",
		  .word = window->until ? window->until : window->until_event,
		  .by_time = window->until != NULL,
		  .place = &window->end },
	};
	struct ktread *trace = NULL;
	int status;

	if (!edges[0].word && !edges[1].word)
		return 0;
	if (ktread_open(&trace, recipe->path, &raw) != 0) {
		command_message(name, "%s", ktread_message(trace));
		ktread_close(trace);
		return EXIT_BAD_INPUT;
	}
	status = parse(name, &edges[0], trace);
	if (!status)
		status = parse(name, &edges[1], trace);
	if (!status)
		status = find(name, recipe, trace, edges);
	ktread_close(trace);
	return status;
}
