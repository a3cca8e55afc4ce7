/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The output formats of this build, and the format `stream`. formats.list is generated from EXPORT_FORMATS,
 * in order of name.
 */
#include "export/export.h"

#include <string.h>

#define FORMAT(name) extern const struct export_format export_##name;
#include "formats.list"
#undef FORMAT

static const struct export_format *const formats[] = {
#define FORMAT(name) &export_##name,
#include "formats.list"
#undef FORMAT
};

const struct export_format *export_format_at(unsigned n)
{
	return n < sizeof(formats) / sizeof(formats[0]) ? formats[n] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	const struct export_format *format;

	for (unsigned n = 0; (format = export_format_at(n)); n++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

/* ---- ktrace's own portable stream format, which contains the whole trace in compact form ---- */

#define BRIEFS 512u

/* Counts the events that will be shown by a reader of the stream. */
static int count_events(struct ktread *trace, uint64_t *events)
{
	struct ktread_brief brief[BRIEFS];
	int count;

	while ((count = ktread_next_briefs(trace, brief, BRIEFS)) > 0)
		*events += (unsigned)count;
	return count;
}

static int write_stream(struct ktread *trace, int fd, struct export_report *report)
{
	int status = ktread_write_stream(trace, fd, &report->output_error);

	return status < 0 ? status : count_events(trace, &report->events);
}

const struct export_format export_stream = {
	.name = "stream",
	.purpose = "the whole trace, compact; every ktrace command reads it",
	.refuses = "pid cpu event since until where with machine raw-clock align calls",
	.why_refused = "a stream contains the whole trace as it was recorded: "
		       "use this option when you read the stream",
	.write = write_stream,
};
