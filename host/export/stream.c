/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace's own portable stream format, which contains the whole trace in compact form. */
#include "export/export.h"

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
