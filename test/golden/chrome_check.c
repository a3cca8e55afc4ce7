/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * chrome-check [FILE]: succeeds if a trace in the Trace Event Format is balanced:
 *
 *	- On each track (pid, tid), times of begins and ends do not decrease in the order of the file. Every E
 *	  closes the newest open B and has its name. No B stays open.
 *	- No span (phase X) has a negative duration. Spans of a track are nested or do not overlap.
 *	- Each end of a flow has a begin event.
 *	- Strings contain nothing harmful (json_tree.h).
 *
 * Prints the number of events of each phase and category.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/json_tree.h"

#define TRACKS 65536u
#define DEPTH  256u
#define COUNTS 64u

struct track {
	long long pid, tid;
	const char *open[DEPTH];
	unsigned depth;
	double last;
	int used;
};

struct slice {
	long long pid, tid;
	double from, to;
	size_t order;
};

static struct track tracks[TRACKS];
static struct slice *slices;
static size_t slice_count;
static struct {
	char word[80];
	size_t count;
} counts[COUNTS];
static size_t bad;
static long long *flows;
static size_t flow_count;

static void complain(size_t n, const struct json *event, const char *what)
{
	if (bad++ < 10)
		printf("event %zu: ph %s, name %s: %s\n", n, json_text(event, "ph", "?"),
		       json_text(event, "name", "?"), what);
}

static double number(const struct json *event, const char *name)
{
	const struct json *member = json_member(event, name);

	return member && member->kind == JSON_NUMBER ? member->number : -1;
}

static struct track *track_of(long long pid, long long tid)
{
	unsigned long long at =
		((unsigned long long)pid * 1000003 + (unsigned long long)tid) * 0x9e3779b97f4a7c15;
	struct track *track = &tracks[(at >> 32) % TRACKS];

	while (track->used && (track->pid != pid || track->tid != tid))
		track = track + 1 == tracks + TRACKS ? tracks : track + 1;
	track->used = 1;
	track->pid = pid;
	track->tid = tid;
	return track;
}

static void count(const char *phase, const char *category)
{
	char word[80];
	size_t n = 0;

	snprintf(word, sizeof(word), "%s %.60s", phase, category);
	while (n < COUNTS && counts[n].count && strcmp(counts[n].word, word) != 0)
		n++;
	if (n == COUNTS)
		return;
	strcpy(counts[n].word, word);
	counts[n].count++;
}

static void check_span(size_t n, const struct json *event, struct track *track, const char *phase)
{
	const char *name = json_text(event, "name", NULL);
	double time = number(event, "ts");

	if (time < track->last)
		complain(n, event, "has a time before that of the previous event on its track");
	track->last = time;
	if (!name)
		complain(n, event, "has no name");
	else if (*phase == 'B' && track->depth == DEPTH)
		complain(n, event, "is nested too deeply");
	else if (*phase == 'B')
		track->open[track->depth++] = name;
	else if (track->depth == 0)
		complain(n, event, "closes no span");
	else if (strcmp(track->open[--track->depth], name) != 0)
		complain(n, event, "closes a span with another name");
}

static void check_event(size_t n, const struct json *event)
{
	const char *phase = json_text(event, "ph", "?");
	long long pid = (long long)number(event, "pid"), tid = (long long)number(event, "tid");
	double time = number(event, "ts");

	count(phase, json_text(event, "cat", "-"));
	if (strlen(phase) != 1 || !strchr("BEXisfMC", *phase))
		complain(n, event, "has an unknown phase");
	if (*phase != 'M' && (time < 0 || pid < 0 || tid < 0))
		complain(n, event, "has no time or no track");
	if (*phase == 'B' || *phase == 'E')
		check_span(n, event, track_of(pid, tid), phase);
	if (*phase == 'X') {
		if (number(event, "dur") < 0)
			complain(n, event, "has no duration");
		slices[slice_count++] = (struct slice){ pid, tid, time, time + number(event, "dur"), n };
	}
	if (*phase == 's')
		flows[flow_count++] = (long long)number(event, "id");
	if (*phase == 'f') {
		size_t i = 0;

		while (i < flow_count && flows[i] != (long long)number(event, "id"))
			i++;
		if (i == flow_count)
			complain(n, event, "ends a flow that did not begin");
	}
}

static int compare(const void *left, const void *right)
{
	const struct slice *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

/*
 * Checks that the spans of each track are nested or do not overlap. Compares each span, in the order of
 * their begin times, with the innermost open span. Times are rounded to 1 ns, so differences of up to 1.5
 * ns are allowed.
 */
static void check_slices(const struct json *events)
{
	double open[DEPTH];
	unsigned depth = 0;

	qsort(slices, slice_count, sizeof(*slices), compare);
	for (size_t i = 0; i < slice_count; i++) {
		const struct slice *slice = &slices[i];

		if (i == 0 || slice->pid != slice[-1].pid || slice->tid != slice[-1].tid)
			depth = 0;
		while (depth && open[depth - 1] <= slice->from + 0.0015)
			depth--;
		if (depth && slice->to > open[depth - 1] + 0.0015)
			complain(slice->order, &events->item[slice->order],
				 "extends beyond the end of the slice that contains its begin");
		if (depth < DEPTH)
			open[depth++] = slice->to;
	}
}

int main(int argc, char **argv)
{
	size_t size;
	char *text = json_slurp(argc > 1 ? argv[1] : NULL, &size);
	const char *at = text, *error;
	const struct json *events;
	struct json json;

	error = json_read(&at, &json);
	events = error ? NULL : json_member(&json, "traceEvents");
	if (!events || events->kind != JSON_ARRAY || (size_t)(at - text) != size) {
		printf("offset %zu: %s\n", (size_t)(at - text), error ? error : "no traceEvents");
		return EXIT_FAILURE;
	}
	slices = calloc(events->items + 1, sizeof(*slices));
	flows = calloc(events->items + 1, sizeof(*flows));
	for (size_t n = 0; n < events->items; n++)
		check_event(n, &events->item[n]);
	check_slices(events);
	for (size_t n = 0; n < TRACKS; n++)
		if (tracks[n].depth && bad++ < 10)
			printf("pid %lld tid %lld: %s never ends, and %u more\n", tracks[n].pid,
			       tracks[n].tid, tracks[n].open[tracks[n].depth - 1], tracks[n].depth - 1);
	for (size_t n = 0; n < COUNTS && counts[n].count; n++)
		printf("%s: %zu\n", counts[n].word, counts[n].count);
	printf("%zu events, %zu bad\n", events->items, bad);
	free(flows);
	free(slices);
	json_free(&json);
	free(text);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
