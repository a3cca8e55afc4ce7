/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Estimates times between timestamps, and reports how long functions took. */
#include "flow/views.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/histogram.h"
#include "base/grow.h"
#include "base/json.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

/*
 * Prefixes of the names of functions that record an event. After the prefix, the name has the group and the
 * name of the event. The first prefix is for functions that macros of ktrace define, the second for functions
 * of facts.h.
 */
#define MACRO_RECORDS "ktrace_event_"
#define FACT_RECORDS  "ktrace_fact_"

/* Removes `word` from the beginning of a name. Returns false if the name begins differently. */
static bool skip(const char **name, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*name, word, length) != 0)
		return false;
	*name += length;
	return true;
}

static bool is_recorder(const char *function)
{
	return skip(&function, MACRO_RECORDS) || skip(&function, FACT_RECORDS);
}

/*
 * Returns true if the function with this name records events of this type. Compilers may append a suffix that
 * begins with a dot to a function's name. One function of facts.h records both lock.acquire and lock.try.
 */
static bool records(const char *function, const struct ktread_type *type)
{
	const char *name;

	if (!type || !type->group || !type->name)
		return false;
	name = strcmp(type->group, "lock") == 0 && strcmp(type->name, "try") == 0 ? "acquire" : type->name;
	if (skip(&function, FACT_RECORDS))
		return skip(&function, type->group) && skip(&function, "_") && skip(&function, name) &&
		       (*function == 0 || *function == '.');
	return skip(&function, MACRO_RECORDS) && skip(&function, type->group) && skip(&function, "_") &&
	       skip(&function, type->name) && skip(&function, "_record");
}

/* Returns by how many ticks the unit's clock may be wrong. */
static uint64_t slack(const struct ktread *trace)
{
	return ktread_info(trace)->frequency / 10000;
}

/*
 * Returns by how many ticks a timestamp is before the beginning or after the end of a piece; 0 if the
 * timestamp is in the piece. If the end of the piece is unknown, returns the distance of the timestamp from
 * the beginning of the piece.
 */
static uint64_t distance(const struct flow_piece *piece, uint64_t stamp)
{
	if (stamp < piece->from)
		return piece->from - stamp;
	if (piece->to == UINT64_MAX)
		return stamp - piece->from;
	return stamp < piece->to ? 0 : stamp - piece->to;
}

enum flow_anchor flow_spread_anchor(const struct flow_spread *spread, const char *function,
				    const struct flow_piece *piece, uint64_t matched, uint64_t *stamp)
{
	uint64_t nearest = slack(spread->trace);
	uint64_t after = piece->from > nearest ? piece->from - nearest - 1 : 0;
	const struct flow_kernel_event *event, *end;
	enum flow_anchor found = FLOW_RECORDER_ALONE;

	if (!function || !is_recorder(function))
		return FLOW_NO_RECORDER;
	if (after < piece->early)
		after = piece->early;
	if (after < matched)
		after = matched;
	event = flow_kernel_after(spread->kernel, spread->cpu, after, &end);
	for (; event && event < end; event++) {
		const uint64_t off = distance(piece, event->stamp);

		if (off > nearest)
			break;
		if (!records(function, ktread_type(spread->trace, event->type)))
			continue;
		*stamp = event->stamp;
		nearest = off;
		found = FLOW_ANCHOR;
		if (event->stamp >= piece->from)
			break;
	}
	return found;
}

uint64_t flow_spread_doubt(const struct flow_spread *spread, const struct flow_piece *piece)
{
	return (piece->to == UINT64_MAX ? piece->from : piece->to) +
	       ktread_info(spread->trace)->frequency / 1000;
}

uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run)
{
	const uint64_t all = spread->run_to - spread->run_from;

	if (spread->to == UINT64_MAX || all == 0 || spread->to <= spread->from)
		return spread->from;
	return spread->from +
	       (uint64_t)((unsigned __int128)(spread->to - spread->from) * (run - spread->run_from) / all);
}

int flow_spread_is_about(const struct flow_spread *spread)
{
	const struct flow_kernel_event *end, *event;

	if (spread->cpu == KTRX_NO_CPU)
		return spread->to > spread->from;
	event = flow_kernel_after(spread->kernel, spread->cpu, spread->from, &end);
	return event && event->stamp < spread->to;
}

struct totals {
	uint64_t calls;
	/* sums of durations in ticks: with and without the functions that were called */
	uint64_t total, self;
	struct histogram times;
};

struct flow_durations {
	struct flow_call_view view;
	/* array of totals, indexed by the id of the function; NULL: the function was never called */
	struct totals **totals;
	uint32_t count;
};

static struct totals *totals_of(struct flow_durations *durations, const struct flow_function *function)
{
	const uint32_t id = function->parent_id;
	struct totals **totals =
		base_grow(durations->totals, &durations->count, (size_t)id + 1, sizeof(struct totals *));

	if (!totals)
		return NULL;
	durations->totals = totals;
	if (!durations->totals[id])
		durations->totals[id] = calloc(1, sizeof(struct totals));
	return durations->totals[id];
}

static int enter(void *to, struct flow_frame *frame, const struct flow_moment *moment)
{
	struct totals *totals = totals_of(to, frame->function);

	(void)moment;
	if (!totals)
		return KTREAD_E_MEMORY;
	/*
	 * A function that was already running when the stack began does not count as called, unless it runs
	 * from its first instruction.
	 */
	totals->calls += frame->how != FLOW_SEEN || frame->from_start;
	return 0;
}

/* Returns true if the call is recursive, directly or indirectly. */
static int is_within_itself(const struct flow_frame *frame, const struct flow_moment *moment)
{
	for (uint32_t n = moment->depth; n > 0; n--)
		if (flow_same_function(moment->stack[n - 1].function, frame->function))
			return 1;
	return 0;
}

static int leave(void *to, const struct flow_frame *frame, const struct flow_moment *moment)
{
	struct totals *totals = totals_of(to, frame->function);
	uint64_t ticks;

	if (!totals)
		return KTREAD_E_MEMORY;
	if (!flow_took(frame, moment->step, &ticks))
		return 0;
	if (!is_within_itself(frame, moment))
		totals->total += ticks;
	totals->self += ticks > frame->inside ? ticks - frame->inside : 0;
	return histogram_add(&totals->times, ticks);
}

static const struct flow_sink sink = { .enter = enter, .leave = leave };

static int begin(void *view, const struct hwt_stream *stream)
{
	struct flow_durations *durations = view;

	return flow_call_view_begin(&durations->view, stream, &sink, durations);
}

static int step(void *view, const struct hwt_step *step)
{
	struct flow_durations *durations = view;

	return flow_calls_step(durations->view.calls, step);
}

static int end(void *view)
{
	struct flow_durations *durations = view;

	flow_call_view_end(&durations->view);
	return 0;
}

const struct flow_view flow_durations = { .begin = begin, .step = step, .end = end };

/* ---- The table of durations ------------------------------------------------------------ */

struct entry {
	const struct flow_function *function;
	struct totals *totals;
};

static int by_total(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->totals->total != y->totals->total)
		return x->totals->total < y->totals->total ? 1 : -1;
	if (x->totals->calls != y->totals->calls)
		return x->totals->calls < y->totals->calls ? 1 : -1;
	return x->function->id < y->function->id ? -1 : 1;
}

static void put_cell(struct base_output *out, const struct flow *flow, int known, uint64_t ticks)
{
	char text[32] = "-";

	/* if `ticks` is 0, the duration is shorter than the unit's timestamps can show */
	if (known && ticks > 0)
		flow_put_span(text, flow, ticks);
	base_output_format(out, " %13s", text);
}

static void write_line(struct base_output *out, const struct flow *flow, const struct entry *entry)
{
	struct histogram *times = &entry->totals->times;
	const int known = times->count > 0;
	char name[FLOW_NAME_ROOM];
	const uint64_t cells[] = {
		entry->totals->total,
		entry->totals->self,
		times->least,
		known ? histogram_nth(times, histogram_rank(times->count, 50, 100)) : 0,
		known ? histogram_nth(times, histogram_rank(times->count, 99, 100)) : 0,
		times->greatest,
	};

	base_output_format(out, "%9llu %9llu", (unsigned long long)entry->totals->calls,
			   (unsigned long long)times->count);
	for (size_t n = 0; n < sizeof(cells) / sizeof(cells[0]); n++)
		put_cell(out, flow, known, cells[n]);
	flow_put_function(name, entry->function);
	base_output_format(out, "  %s\n", name);
}

static void write_object(struct base_output *out, const struct entry *entry)
{
	struct histogram *times = &entry->totals->times;
	char name[FLOW_NAME_ROOM];

	base_json_begin(out, NULL, '{');
	flow_put_function(name, entry->function);
	base_json_put_text(out, "function", name);
	if (entry->function->image) {
		flow_put_name(name, entry->function->image, "");
		base_json_put_text(out, "image", name);
	}
	base_json_put_number(out, "calls", entry->totals->calls);
	base_json_put_number(out, "timed", times->count);
	if (times->count) {
		base_json_put_number(out, "total", entry->totals->total);
		base_json_put_number(out, "self", entry->totals->self);
		base_json_put_number(out, "min", times->least);
		base_json_put_number(out, "p50", histogram_nth(times, histogram_rank(times->count, 50, 100)));
		base_json_put_number(out, "p99", histogram_nth(times, histogram_rank(times->count, 99, 100)));
		base_json_put_number(out, "max", times->greatest);
	}
	base_output_text(out, "}\n");
}

int flow_durations_write(struct flow_durations *durations, struct base_output *out, int json)
{
	const struct flow *flow = durations->view.flow;
	struct entry *entry = calloc((size_t)durations->count + 1, sizeof(*entry));
	uint32_t count = 0;

	if (!entry)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 0; id < durations->count; id++)
		if (durations->totals[id])
			entry[count++] = (struct entry){ flow_functions_get(flow->functions, id),
							 durations->totals[id] };
	qsort(entry, count, sizeof(*entry), by_total);
	if (!json)
		base_output_format(out, "%9s %9s %13s %13s %13s %13s %13s %13s  %s\n", "calls", "timed",
				   flow->frequency ? "total us" : "total ticks", "self", "min", "p50", "p99",
				   "max", "function");
	for (uint32_t n = 0; n < count && !out->error; n++) {
		if (json)
			write_object(out, &entry[n]);
		else
			write_line(out, flow, &entry[n]);
	}
	free(entry);
	return 0;
}

int flow_durations_new(struct flow_durations **durations, struct flow *flow)
{
	*durations = calloc(1, sizeof(**durations));
	if (!*durations)
		return KTREAD_E_MEMORY;
	(*durations)->view.flow = flow;
	return 0;
}

void flow_durations_free(struct flow_durations *durations)
{
	if (!durations)
		return;
	for (uint32_t id = 0; id < durations->count; id++) {
		if (durations->totals[id])
			histogram_free(&durations->totals[id]->times);
		free(durations->totals[id]);
	}
	free(durations->totals);
	free(durations);
}

const struct flow_doubts *flow_durations_doubts(const struct flow_durations *durations)
{
	return &durations->view.doubts;
}
