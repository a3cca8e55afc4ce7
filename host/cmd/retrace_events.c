/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds events of the first run for ktrace retrace: those at which recording begins and ends, and one from
 * which the times of branches are computed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/retrace.h"
#include "cmd/trace_args.h"
#include "ktrx/hwt_unit.h"

/* ---- The events at which recording begins and ends ---- */

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

/* ---- The clock for the times of branches ---- */

#define SECOND UINT64_C(1000000000)
/*
 * maximum time in ns from the guest's reading of its clock to the recording of the event with this timestamp
 */
#define LATE 5000u

/* Counts the events before the first event that is later than the timestamp `until`. */
static uint64_t count_events(struct ktread *trace, uint64_t until)
{
	const struct ktread_event *event;
	uint64_t count = 0;

	while (ktread_next(trace, &event) > 0 && event->stamp <= until)
		count++;
	return count;
}

static int read_events(struct retrace_branches *branches, const char *name,
		       const struct capture_recipe *recipe, uint64_t first, uint64_t *count)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct ktread *trace = NULL;
	const struct ktread_event *event;

	if (ktread_open(&trace, recipe->path, &raw) != 0) {
		command_message(name, "%s", ktread_message(trace));
		ktread_close(trace);
		return EXIT_BAD_INPUT;
	}
	branches->frequency = ktread_info(trace)->frequency;
	branches->nonce = ktread_info(trace)->nonce;
	if (count)
		*count = count_events(trace, branches->until);
	for (uint64_t n = 0; !count && ktread_next(trace, &event) > 0; n++)
		if (n >= first && capture_recipe_slot(recipe, trace, event, &branches->mark.position,
						      &branches->mark.word) == 0) {
			branches->stamp = event->stamp;
			break;
		}
	ktread_close(trace);
	return 0;
}

/*
 * Chooses an event near the end. Times are most accurate near the chosen event, because the frequency that
 * the kernel has recorded may be inexact. The last events are not chosen, because the repeated run may end
 * before them.
 */
int retrace_branches_prepare(struct retrace_branches *branches, const char *name,
			     const struct capture_recipe *recipe, const struct retrace_place *end)
{
	uint64_t count;
	int status;

	branches->until = end->word ? end->stamp : UINT64_MAX;
	status = read_events(branches, name, recipe, 0, &count);
	return status ? status : read_events(branches, name, recipe, count - count / 10 - (count > 0), NULL);
}

/*
 * Returns the value of the guest's clock at `time`, the virtual time of the mark. Usually this clock counts
 * virtual time from the start of the machine. If the event's timestamp confirms this, computes the exact
 * value from `time`. Otherwise returns the timestamp.
 */
static uint64_t clock_at(const struct retrace_branches *branches, uint64_t time)
{
	const uint64_t frequency = branches->frequency;
	const uint64_t exact = time / SECOND * frequency + time % SECOND * frequency / SECOND;

	return exact >= branches->stamp && exact - branches->stamp <= frequency / (SECOND / LATE) + 1
		       ? exact
		       : branches->stamp;
}

int retrace_branches_finish(const struct retrace_branches *branches, const char *name, const char *path)
{
	struct ktrx_hwt_rings head;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool done = fd >= 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		    memcmp(head.magic, "KTRU", sizeof(head.magic)) == 0;

	if (!done) {
		command_message(name, "%s: the branches were not written: %s", path,
				fd < 0 ? strerror(errno) : "not a file of the trace unit");
	} else if (head.frequency == 0 && branches->mark.time && branches->frequency) {
		head.unit_time = branches->mark.time;
		head.stamp = clock_at(branches, branches->mark.time);
		head.frequency = branches->frequency;
		head.nonce = branches->nonce;
		done = pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head);
		if (!done)
			command_message(name, "%s: %s", path, strerror(errno));
	} else if (head.frequency == 0) {
		command_message(name, "%s: has no times of the trace's clock: no event of the trace was seen",
				path);
	}
	if (fd >= 0)
		close(fd);
	return done ? 0 : EXIT_BAD_INPUT;
}
