/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* --where: the expression that selects events, and the messages about errors in it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"

#define SHOWN 72u /* maximum number of bytes of the expression that a message contains */

const struct option_row trace_where_options[] = {
	{ "where", 0, "EXPRESSION",
	  "select events for which EXPRESSION is true: 'event ~ \"sched.*\" and cpu == 1'; see "
	  "ktrace-filter(7)",
	  options_set_text, .to = offsetof(struct trace_args, where) },
	{ 0 },
};

/* Prints the expression, or the part of it around a column, and a caret under the column. */
static void print_place(const char *text, uint32_t column)
{
	const size_t length = strlen(text), at = column - 1;
	const size_t from = at > SHOWN - 8 ? at - (SHOWN - 8) : 0;
	const char *before = from ? "..." : "", *after = from + SHOWN < length ? "..." : "";

	fprintf(stderr, "  %s", before);
	for (size_t n = from; n < length && n < from + SHOWN; n++)
		fputc(isprint((unsigned char)text[n])	? text[n]
		      : isspace((unsigned char)text[n]) ? ' '
							: '?',
		      stderr);
	fprintf(stderr, "%s\n  %*s^\n", after, (int)(strlen(before) + at - from), "");
}

/* Reports an error in the expression. Returns the exit status. */
static int report(const char *name, const char *text, int status, const struct filter_error *error)
{
	char safe[BASE_ESCAPE_TEXT_GROWTH * sizeof(error->text)];

	if (status == KTREAD_E_MEMORY) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	*base_escape_text(safe, error->text, strlen(error->text), sizeof(safe) - 1) = '\0';
	command_message(name, "--where: column %u: %s", error->column, safe);
	print_place(text, error->column);
	return EXIT_USAGE;
}

int trace_where_parse(const char *name, const char *text, struct filter **filter)
{
	struct filter_error error;
	int status = filter_parse(filter, text, &error);

	return status ? report(name, text, status, &error) : 0;
}

int trace_where_open(struct trace_args *args)
{
	return args->where ? trace_where_parse(args->name, args->where, &args->filter) : 0;
}

int trace_where_follow(struct trace_args *args)
{
	int status = trace_where_open(args);

	if (status || !args->where || !filter_uses_time(args->filter))
		return status;
	command_message(args->name, "--where: the events of a running guest cannot be selected by time");
	trace_where_close(args);
	return command_usage(args->name);
}

void trace_where_close(struct trace_args *args)
{
	filter_free(args->filter);
	args->filter = NULL;
}

int trace_where_bind(const char *name, const char *text, struct filter *filter, struct ktread *trace)
{
	struct filter_error error;
	int status = filter_bind(filter, trace, &error);

	return status ? report(name, text, status, &error) : 0;
}

static int accept(void *context, const struct ktread_event *event)
{
	return filter_accepts(context, event);
}

/*
 * Computes the intersection of two bit maps. If the first bit map does not exist yet, copies the second bit
 * map.
 */
static const uint8_t *narrow(const uint8_t *given, uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t n = 0; n < bytes; n++)
		to[n] = given ? given[n] & from[n] : from[n];
	return to;
}

void trace_where_narrow(struct trace_args *args, struct ktread_filter *filter)
{
	struct filter_window window;

	filter_narrow(args->filter, &window);
	if (filter->since < window.since)
		filter->since = window.since;
	if (filter->until == 0 || filter->until > window.until)
		filter->until = window.until;
	/* `until` 1 matches no event; 0 cannot be used, because an `until` of 0 means that there is no end */
	if (filter->since > filter->until)
		filter->since = UINT64_MAX, filter->until = 1;
	if (window.only_time)
		return;
	filter->events = narrow(filter->events, args->event_map, window.events, sizeof(args->event_map));
	if (window.some_cpus) {
		filter->cpus = narrow(filter->cpus, args->cpus, window.cpus, sizeof(args->cpus));
		filter->cpu_count = TRACE_CPUS_MAX;
	}
	filter->accept = accept;
	filter->context = args->filter;
}
