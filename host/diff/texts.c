/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "diff/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/wellknown.h"
#include "base/escape.h"
#include "base/grow.h"
#include "base/output.h"
#include "diff/strace.h"
#include "export/timeline.h"
#include "ktrx/slot.h"

#define OPEN_CALLS 64u	/* maximum number of calls in progress whose return is searched for */
#define LINE_MOST  400u /* maximum number of bytes of a line of strace that are shown */

bool texts_want(struct texts *texts, const struct diff_event *event)
{
	struct text *grown;

	if (!event->known)
		return true;
	grown = base_grow(texts->text, &texts->room, (size_t)texts->count + 1, sizeof(*grown));
	if (!grown)
		return false;
	texts->text = grown;
	texts->text[texts->count++] = (struct text){ .event = *event };
	return true;
}

static int by_event(const void *a, const void *b)
{
	const struct diff_event *first = &((const struct text *)a)->event,
				*second = &((const struct text *)b)->event;

	if (first->ring != second->ring)
		return first->ring < second->ring ? -1 : 1;
	return first->slot < second->slot ? -1 : first->slot > second->slot;
}

static struct text *find(const struct texts *texts, uint32_t ring, uint64_t slot)
{
	const struct text key = { .event = { true, ring, slot } };

	return texts->count ? bsearch(&key, texts->text, texts->count, sizeof(key), by_event) : NULL;
}

const char *texts_of(const struct texts *texts, const struct diff_event *event)
{
	const struct text *text = event->known ? find(texts, event->ring, event->slot) : NULL;

	return text && text->line ? text->line : "?";
}

const char *texts_end_of(const struct texts *texts, const struct diff_event *event)
{
	const struct text *text = event->known ? find(texts, event->ring, event->slot) : NULL;

	return text ? text->end : NULL;
}

const char *texts_before(const struct texts *texts, uint32_t n)
{
	const uint32_t first = texts->next > DIFF_CONTEXT ? texts->next - DIFF_CONTEXT : 0;

	return first + n < texts->next ? texts->before[(first + n) % DIFF_CONTEXT] : NULL;
}

void texts_free(struct texts *texts)
{
	for (uint32_t n = 0; n < texts->count; n++)
		free(texts->text[n].line);
	for (uint32_t n = 0; n < texts->count; n++)
		free(texts->text[n].end);
	for (uint32_t n = 0; n < DIFF_CONTEXT; n++)
		free(texts->before[n]);
	free(texts->text);
}

/*
 * The state of a search for texts of events: the requested events, and the events before the first
 * difference.
 */
struct place {
	struct texts *texts;
	bool reached; /* true if the first difference was reached */
	struct wellknown_table known;
	struct text *open[OPEN_CALLS]; /* calls that were requested and have not returned so far */
};

static bool is_context(struct place *place, uint32_t thread, uint32_t ring, uint64_t slot)
{
	const struct diff_event *end = &place->texts->before_of;

	place->reached |= !end->known || (end->ring == ring && end->slot == slot);
	return !place->reached && thread != DIFF_NONE && thread == place->texts->thread;
}

/*
 * Processes an event that may begin or end a system call. `text`: the text for the event if it was requested,
 * or NULL. Returns the text of the requested call that returns with this event; NULL if there is none.
 */
static struct text *see_call(struct place *place, const struct ktread_event *event, struct text *text)
{
	const enum wellknown_kind kind = wellknown_of(&place->known, event)->kind;
	struct text *ended = NULL;
	unsigned n = 0;

	/* the return of a call may be missing, and the next return then belongs to another call */
	if (event->lost)
		memset(place->open, 0, sizeof(place->open));
	if (kind != WELLKNOWN_SYSCALL_ENTER && kind != WELLKNOWN_SYSCALL_EXIT)
		return NULL;
	while (n < OPEN_CALLS && !(place->open[n] && place->open[n]->thread == event->thread))
		n++;
	if (n < OPEN_CALLS) {
		ended = kind == WELLKNOWN_SYSCALL_EXIT ? place->open[n] : NULL;
		place->open[n] = NULL;
	}
	if (!text || kind != WELLKNOWN_SYSCALL_ENTER)
		return ended;
	text->thread = event->thread;
	for (n = 0; n < OPEN_CALLS; n++)
		if (!place->open[n]) {
			place->open[n] = text;
			break;
		}
	return NULL;
}

static int keep(struct place *place, struct text *text, bool context, const char *line, size_t length)
{
	struct texts *texts = place->texts;

	if (context) {
		char **before = &texts->before[texts->next++ % DIFF_CONTEXT];

		free(*before);
		*before = strndup(line, length);
		if (!*before)
			return KTREAD_E_MEMORY;
	}
	if (text && !text->line) {
		text->line = strndup(line, length);
		if (!text->line)
			return KTREAD_E_MEMORY;
	}
	return 0;
}

static int read_events(struct place *place, const struct diff_trace *trace, struct timeline_writer *writer,
		       struct base_output *out)
{
	const struct ktread_event *event;
	int more;

	while ((more = ktread_next(trace->trace, &event)) > 0) {
		const bool interrupts =
			event->context == KTRX_CONTEXT_INTERRUPT || event->context == KTRX_CONTEXT_NMI;
		const bool context =
			is_context(place, interrupts ? DIFF_NONE : event->thread, event->ring, event->index);
		struct text *text = find(place->texts, event->ring, event->index),
			    *ended = see_call(place, event, text);

		if (!context && !text && !ended)
			continue;
		out->at = out->buffer;
		timeline_writer_event(writer, event);
		more = keep(place, text, context, out->buffer, (size_t)(out->at - out->buffer) - 1);
		if (more >= 0 && ended) {
			ended->end = strndup(out->buffer, (size_t)(out->at - out->buffer) - 1);
			more = ended->end ? 0 : KTREAD_E_MEMORY;
		}
		if (more < 0)
			break;
	}
	return more;
}

static int read_trace(struct place *place, const struct diff_trace *trace)
{
	struct base_output out;
	struct timeline timeline = { .trace = trace->trace, .out = &out, .ids = true };
	struct timeline_writer *writer;
	int status = ktread_rewind(trace->trace);

	if (status < 0)
		return status;
	/* Only the buffer of `out` is used: nothing is written to a file. */
	if (base_output_open(&out, -1) < 0)
		return KTREAD_E_MEMORY;
	timeline_begin(&timeline);
	writer = timeline_writer_open(&timeline);
	status = writer ? read_events(place, trace, writer, &out) : KTREAD_E_MEMORY;
	if (writer)
		timeline_writer_close(writer);
	out.at = out.buffer;
	base_output_close(&out);
	return status;
}

static int read_lines(struct place *place, const struct diff_trace *trace)
{
	struct strace_line *line = malloc(sizeof(*line));
	FILE *file = line ? fopen(trace->path, "re") : NULL;
	char text[4 * LINE_MOST + 32];
	uint64_t number = 0;
	int status = line ? 0 : KTREAD_E_MEMORY;

	if (line && !file)
		status = KTREAD_E_SYSTEM;
	while (status == 0 && strace_line_read(line, file)) {
		struct text *wanted = find(place->texts, 0, ++number);
		const uint32_t process = strace_line_process(line->text);
		const bool context = is_context(place, process ? process : STRACE_ONLY_PROCESS, 0, number);
		size_t begin;

		if (!context && !wanted)
			continue;
		begin = (size_t)snprintf(text, sizeof(text), "line %llu: ", (unsigned long long)number);
		*base_escape_text(text + begin, line->text,
				  line->length < LINE_MOST ? line->length : LINE_MOST,
				  sizeof(text) - begin - 1) = '\0';
		status = keep(place, wanted, context, text, strlen(text));
	}
	if (status == 0 && ferror(file))
		status = KTREAD_E_SYSTEM;
	free(line);
	if (file)
		fclose(file);
	return status;
}

int texts_read(struct texts *texts, const struct diff_trace *trace)
{
	struct place *place;
	uint32_t kept = 0;
	int status;

	if (texts->count == 0)
		return 0;
	qsort(texts->text, texts->count, sizeof(*texts->text), by_event);
	for (uint32_t n = 1; n < texts->count; n++)
		if (by_event(&texts->text[n], &texts->text[kept]) != 0)
			texts->text[++kept] = texts->text[n];
	texts->count = kept + 1;
	place = calloc(1, sizeof(*place));
	if (!place)
		return KTREAD_E_MEMORY;
	place->texts = texts;
	status = trace->trace ? read_trace(place, trace) : read_lines(place, trace);
	free(place);
	return status;
}
