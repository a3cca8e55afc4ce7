/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "analyze/event_name.h"
#include "base/json.h"
#include "export/json.h"
#include "export/settings.h"

#define NAME_MOST 200u

/* How a change is written: as a line, or as a member of an array. */
struct writer {
	struct base_output *out;
	uint32_t changes; /* so far */
	int json;
};

static char *put_text_name(char *at, const char *name)
{
	return base_escape_text(at, name, strnlen(name, NAME_MOST), 4 * NAME_MOST);
}

/* Room for the name of what changed. */
static char *begin_change(const struct writer *writer)
{
	if (writer->json)
		base_output_text(writer->out, writer->changes ? ",\n{\"name\":" : "{\"name\":");
	return base_output_line(writer->out);
}

static void write_change(struct writer *writer, const char *before, const char *after)
{
	base_output_format(writer->out,
			   writer->json ? ",\"before\":\"%s\",\"after\":\"%s\"}" : ": %s -> %s\n", before,
			   after);
	writer->changes++;
}

static void write_event(struct writer *writer, const struct ktread_type *before,
			const struct ktread_type *after)
{
	char from[SETTINGS_STATE], to[SETTINGS_STATE];
	char *at = begin_change(writer);

	settings_state_text(before->wanted, before->flags, from);
	settings_state_text(after->wanted, after->flags, to);
	base_output_done(writer->out,
			 writer->json ? json_put_event_name(at, after) : analyze_event_name_put(at, after));
	write_change(writer, from, to);
}

static void write_events(struct writer *writer, const struct ktread *before, const struct ktread *after)
{
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *old = ktread_type(before, id), *new = ktread_type(after, id);

		if (old && new && (old->wanted != new->wanted || old->flags != new->flags))
			write_event(writer, old, new);
	}
}

static void write_setting(struct writer *writer, const char *name, uint64_t before, uint64_t after)
{
	char from[24], to[24], *at = begin_change(writer);

	snprintf(from, sizeof(from), "%" PRIu64, before);
	snprintf(to, sizeof(to), "%" PRIu64, after);
	base_output_done(writer->out, writer->json ? base_json_name(at, name) : put_text_name(at, name));
	write_change(writer, from, to);
}

/* What can only be read is the kernel's own count of something. */
static void write_settings(struct writer *writer, const struct ktread *before, const struct ktread *after)
{
	struct ktread_setting old, new;

	for (uint32_t n = 0; ktread_setting(before, n, &old) && ktread_setting(after, n, &new); n++)
		if (!new.read_only && old.value != new.value &&strcmp(old.name, new.name) == 0)
			write_setting(writer, new.name, old.value, new.value);
}

static uint32_t count_results(const struct requests *requests, uint32_t result)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < requests->count; n++)
		count += requests->request[n].result == result;
	return count;
}

/* Left in the mailbox without an answer: a guest that goes on after all carries them out then. */
static uint32_t count_waiting(const struct requests *requests)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < requests->count; n++)
		count += requests->request[n].result == KTRX_RESULT_NONE && requests->request[n].sequence;
	return count;
}

static int was_cleared(const struct requests *requests)
{
	for (uint32_t n = 0; n < requests->count; n++)
		if (requests->request[n].op == KTRX_REQUEST_CLEAR &&
		    requests->request[n].result == KTRX_RESULT_DONE)
			return 1;
	return 0;
}

void changes_write(const struct ktread *before, const struct ktread *after, const struct requests *requests,
		   struct base_output *out, int json)
{
	struct writer writer = { .out = out, .json = json };
	const int cleared = was_cleared(requests);
	const uint32_t waiting = count_waiting(requests);
	int was = !ktread_info(before)->stopped, is = !ktread_info(after)->stopped;

	if (json)
		base_output_format(out,
				   "{\"requests\":%" PRIu32 ",\"done\":%" PRIu32 ",\"unanswered\":%" PRIu32
				   ",\"waiting\":%" PRIu32 ",\"recording\":%s,\"cleared\":%s,\"changes\":[",
				   requests->count, count_results(requests, KTRX_RESULT_DONE),
				   count_results(requests, KTRX_RESULT_NONE), waiting, is ? "true" : "false",
				   cleared ? "true" : "false");
	else if (was != is)
		base_output_format(out, "recording: %s\n", is ? "started" : "stopped");
	if (!json && cleared)
		base_output_text(out, "recorded so far: forgotten\n");
	write_events(&writer, before, after);
	write_settings(&writer, before, after);
	if (json)
		base_output_text(out, "]}\n");
	else if (!writer.changes && was == is && !cleared)
		base_output_text(out, waiting ? "nothing changed so far\n" : "nothing changed\n");
	if (!json && waiting)
		base_output_format(
			out, "waiting: %" PRIu32 " request%s, carried out as soon as the guest goes on\n",
			waiting, waiting == 1 ? "" : "s");
}
